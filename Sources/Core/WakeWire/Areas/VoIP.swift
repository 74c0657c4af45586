/// What an app asks of the system for its calls.
package enum WireVoIPRequest: Equatable, Sendable {
    /// Watch a socket, of which a duplicate travels with the packet, while the app is suspended; answered by a reply with
    /// `granted`. The number is the app's own.
    case watch(id: UInt64, socket: UInt32)
    /// Watch it no more.
    case unwatch(socket: UInt32)
    /// Call the app's handler once in each period, in seconds; answered by a reply with `granted`.
    case setKeepAlive(id: UInt64, period: Double)
    /// Call it no more.
    case clearKeepAlive
}

/// What an app is told of its calls.
package enum WireVoIPEvent: Equatable, Sendable {
    /// A socket has something to read.
    case data(socket: UInt32)
    /// A socket has reached its end, or failed.
    case closed(socket: UInt32)
    /// The period of the keep-alive handler is over.
    case keepAlive
    /// The app was started for being a VoIP app: after the start of the phone, or after its own failure.
    case started
}

// MARK: Coding

extension WireVoIPRequest: AreaMessage {
    static let area = "voip"
    static let blanks: [Self] = [
        .watch(id: 0, socket: 0), .unwatch(socket: 0), .setKeepAlive(id: 0, period: 0), .clearKeepAlive,
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .watch(let id, let socket):
            self = try .watch(id: coder.field("id", id, .whole), socket: coder.field("socket", socket, .socket))
        case .unwatch(let socket):
            self = try .unwatch(socket: coder.field("socket", socket, .socket))
        case .setKeepAlive(let id, let period):
            self = try .setKeepAlive(
                id: coder.field("id", id, .whole),
                period: coder.field("period", period, .measure(in: 0...WireLimits.largestDistance))
            )
        case .clearKeepAlive:
            break
        }
    }
}

extension WireVoIPEvent: AreaMessage {
    static let area = "voip"
    static let blanks: [Self] = [.data(socket: 0), .closed(socket: 0), .keepAlive, .started]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .data(let socket): self = try .data(socket: coder.field("socket", socket, .socket))
        case .closed(let socket): self = try .closed(socket: coder.field("socket", socket, .socket))
        case .keepAlive, .started: break
        }
    }
}

extension FieldShape where Value == UInt32 {
    /// The number of a VoIP socket.
    fileprivate static var socket: FieldShape {
        .whole(in: 1...Int64(UInt32.max))
    }
}

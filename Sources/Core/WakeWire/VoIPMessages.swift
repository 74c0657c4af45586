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

extension WireVoIPRequest {
    /// Reads the request of that type; nil for a type that is none of these.
    init?(type: String, fields: Fields) throws(WireError) {
        switch type {
        case "voip.watch":
            self = .watch(id: try fields.serial("id"), socket: try fields.socket())
        case "voip.unwatch":
            self = .unwatch(socket: try fields.socket())
        case "voip.setKeepAlive":
            self = .setKeepAlive(
                id: try fields.serial("id"),
                period: try fields.measure("period", in: 0...WireLimits.largestDistance)
            )
        case "voip.clearKeepAlive":
            self = .clearKeepAlive
        default:
            return nil
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .watch(let id, let socket):
            writer.field("type", "voip.watch")
            writer.field("id", id)
            writer.field("socket", socket)
        case .unwatch(let socket):
            writer.field("type", "voip.unwatch")
            writer.field("socket", socket)
        case .setKeepAlive(let id, let period):
            writer.field("type", "voip.setKeepAlive")
            writer.field("id", id)
            writer.field("period", period)
        case .clearKeepAlive:
            writer.field("type", "voip.clearKeepAlive")
        }
    }
}

extension WireVoIPEvent {
    /// Reads the event of that kind; nil for a kind that is none of these.
    init?(kind: String, fields: Fields) throws(WireError) {
        switch kind {
        case "voip.data":
            self = .data(socket: try fields.socket())
        case "voip.closed":
            self = .closed(socket: try fields.socket())
        case "voip.keepAlive":
            self = .keepAlive
        case "voip.started":
            self = .started
        default:
            return nil
        }
    }

    var kind: String {
        switch self {
        case .data: "voip.data"
        case .closed: "voip.closed"
        case .keepAlive: "voip.keepAlive"
        case .started: "voip.started"
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .data(let socket), .closed(let socket):
            writer.field("socket", socket)
        case .keepAlive, .started:
            break
        }
    }
}

extension Fields {
    fileprivate func socket() throws(WireError) -> UInt32 {
        UInt32(try integer("socket", in: 1...Int64(UInt32.max)))
    }
}

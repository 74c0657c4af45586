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

extension Fields {
    /// The number of a VoIP socket.
    func socket() throws(WireError) -> UInt32 {
        UInt32(try integer("socket", in: 1...Int64(UInt32.max)))
    }
}

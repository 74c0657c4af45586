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

import WakeModel
import WakeWire

/// Bounds what one app may bring into the table of names, which keeps each of them to the end of the run.
struct NameGate {
    /// Why names of an app are not taken.
    enum Refusal: Hashable, Sendable, CustomStringConvertible {
        case tooLong(bytes: Int)
        case tooMany

        /// One line for the app's log and the errors that it is told.
        var description: String {
            switch self {
            case .tooLong(let bytes): "a name of \(bytes) bytes; at most \(NameGate.longest) are allowed"
            case .tooMany: "more than \(NameBound.ofApp) different names in one run"
            }
        }
    }

    /// The longest name, in bytes: the wire's bound for the identifier of a region.
    static let longest = WireLimits.regionIdentifierBytes
    private var bounds: [AppID: NameBound] = [:]

    /// Why an app may not bring these names, or nil, and then those that are new are counted.
    mutating func refusal(of words: [String], from app: AppID, into names: NameTable) -> Refusal? {
        if words.isEmpty { return nil }
        if let long = words.first(where: { $0.utf8.count > Self.longest }) { return .tooLong(bytes: long.utf8.count) }
        return bounds[app, default: NameBound(most: NameBound.ofApp)].admits(words, into: names) ? nil : .tooMany
    }
}

extension ProcessAppHost {
    /// Whether a message brings names that the app may not bring. It is told so where the frameworks have a word for it:
    /// a region is not monitored, a service not added, a session not opened, and a manager is of no use.
    func refusesNames(of message: AppMessage, from app: AppID) -> Bool {
        for area in Areas.rows {
            let words = area.names(in: message)
            guard let refusal = gate.refusal(of: words, from: app, into: translation.names) else { continue }
            fault("brings \(refusal)", app)
            area.refuse(message, because: "The app brings \(refusal).", to: app, by: self)
            return true
        }
        return false
    }
}

import WakeDevices
import WakeModel

extension InboxItem {
    /// What came with the event that a decision is about, in hexadecimal; nil for nothing, and for a decision about another
    /// event.
    func value(for decision: Decision) -> String? {
        input.event?.id == decision.event ? payload.valueText : nil
    }
}

extension EventPayload {
    /// The bytes that there are to read, in hexadecimal; nil for none. Those of several writes have spaces between them.
    var valueText: String? {
        switch self {
        case .value(let bytes): return bytes.isEmpty ? nil : bytes.hexadecimal
        case .writeRequests(let writes):
            let texts = writes.map(\.value.hexadecimal).filter { !$0.isEmpty }
            return texts.isEmpty ? nil : texts.joined(separator: " ")
        default: return nil
        }
    }
}

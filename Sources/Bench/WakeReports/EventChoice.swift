/// Which events a question is about, in the words of records: kinds, what they happened to, or both.
package struct EventChoice: Hashable, Sendable {
    /// The words of the kinds, such as `characteristic-notified`; empty for any.
    package var kinds: [String]
    /// What they happened to, such as `belt/2A37`; `belt` for all that is the belt's, and `2A37` for that of any device. Nil for
    /// anything.
    package var subject: String?

    package init(kinds: [String] = [], subject: String? = nil) {
        self.kinds = kinds
        self.subject = subject
    }

    /// Whether it is about an event of a kind that happened to a subject; capital letters are as small ones.
    package func matches(kind: String, subject: String) -> Bool {
        if !kinds.isEmpty, !kinds.contains(kind) { return false }
        guard let wanted = self.subject?.lowercased() else { return true }
        let own = subject.lowercased()
        return own == wanted || own.hasPrefix(wanted + "/") || own.hasSuffix("/" + wanted)
    }

    /// As records have it: `characteristic-notified belt/2A37`; of several kinds `region-entered or region-exited home`.
    package var text: String {
        let kind = kinds.isEmpty ? [] : [kinds.joined(separator: " or ")]
        return (kind + [subject].compactMap(\.self)).joined(separator: " ")
    }
}

import WakeModel

extension BluetoothAnswers {
    /// Lines of a file that say what the characteristic at a position of the table answers, each so many levels deep; none for a
    /// characteristic that answers nothing.
    ///
    /// Only rules about just these bytes are written, whose actions send bytes or an error: those that imports make.
    ///
    /// - Parameter uuids: of all characteristics, by position.
    func lines(of position: Int, _ uuids: [String]) -> [(level: Int, text: String)] {
        guard rules.indices.contains(position) else { return [] }
        let written = rules[position].compactMap { $0.lines(position, uuids) }
        if written.isEmpty { return [] }
        return [(level: 0, text: "answers:")] + written.joined()
    }
}

extension BluetoothAnswers.Rule {
    /// The rule as lines; nil where it is another than imports make.
    fileprivate func lines(_ own: Int, _ uuids: [String]) -> [(level: Int, text: String)]? {
        guard conditions.isEmpty, case .write(let pattern) = trigger, !pattern.isOpen,
            pattern.mask.allSatisfy({ $0 == 0xff })
        else { return nil }
        let done = actions.compactMap { $0.text(own, uuids) }
        guard done.count == actions.count else { return nil }
        let head = [(level: 1, text: "- write: \(YAMLText.quoted(pattern.bytes))"), (level: 2, text: "do:")]
        return head + done.map { (level: 3, text: "- {\($0)}") }
    }
}

extension BluetoothAnswers.Action {
    /// What stands between the braces; nil for another thing than imports make.
    fileprivate func text(_ own: Int, _ uuids: [String]) -> String? {
        guard conditions.isEmpty else { return nil }
        switch deed {
        case .fail(let code): return after == .zero ? "error: 0x\(code.hexadecimal)" : nil
        case .send(let sending, let parts):
            guard !sending.inFragments, sending.every == .zero, parts.count == 1, case .bytes(let bytes) = parts[0],
                uuids.indices.contains(sending.characteristic)
            else { return nil }
            var text = "\(sending.isIndication ? "indicate" : "notify"): \(YAMLText.quoted(bytes))"
            if sending.characteristic != own { text += ", on: \(YAMLText.quoted(uuids[sending.characteristic]))" }
            if after != .zero { text += ", after: \(DurationText.text(after))" }
            return text
        default: return nil
        }
    }
}

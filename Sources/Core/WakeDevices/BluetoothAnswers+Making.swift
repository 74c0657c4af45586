import WakeModel

// Answers that are made by the program, and not read.

extension BluetoothAnswers.Rule {
    /// The most things that a rule does.
    package static let actionLimit = 64

    /// What is done when just these bytes are written: 1 to 512 of them.
    package init(to value: [UInt8], _ actions: [BluetoothAnswers.Action]) {
        let mask = [UInt8](repeating: 0xff, count: value.count)
        let pattern = BluetoothAnswers.Pattern(bytes: value, mask: mask, isOpen: false)
        self.init(trigger: .write(pattern), conditions: [], actions: actions, line: 0)
    }
}

extension BluetoothAnswers.Action {
    /// Sends bytes to whoever is subscribed.
    ///
    /// - Parameter position: of the characteristic that sends them, in the table.
    package init(after: Instant.Span, send value: [UInt8], on position: Int, isIndication: Bool) {
        let sending = BluetoothAnswers.Sending(
            characteristic: position,
            isIndication: isIndication,
            inFragments: false,
            every: .zero
        )
        self.init(after: after, conditions: [], deed: .send(sending, [.bytes(value)]))
    }

    /// Lets the request fail with a code of ATT.
    package init(error: UInt8) { self.init(after: .zero, conditions: [], deed: .fail(error)) }
}

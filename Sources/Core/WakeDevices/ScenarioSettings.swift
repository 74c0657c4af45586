import WakeModel

/// Which backend a source uses.
package struct BackendChoice: Hashable, Sendable {
    package var source: Source
    /// A word of ``words(for:)``.
    package var word: String
    package var line: Int

    package init(source: Source, word: String, line: Int = 0) {
        self.source = source
        self.word = word
        self.line = line
    }

    /// The sources whose events may come from elsewhere.
    package static let sources = table.map(\.key)

    /// The backends that a source can have, the simulated one first.
    package static func words(for source: Source) -> [String] {
        table.first { $0.key == source }?.value ?? ["simulated"]
    }
}

/// How the phone is when the run begins, with what of it is switched on.
@dynamicMemberLookup
package struct PhoneStart: Hashable, Sendable {
    package var passcode = true
    package var unlocked = true
    var switches = AreaSwitches()
    package var conditions = PhoneConditions.usual
    /// The date for its apps in virtual time; nil for the usual one.
    package var date: RunDate?

    package init() {}

    package subscript<Value>(dynamicMember path: KeyPath<AreaSwitches, Value>) -> Value { switches[keyPath: path] }
}

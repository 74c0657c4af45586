/// What becomes of the phone's clock.
package enum ClockSetting: Hashable, Sendable {
    /// Seconds that it is ahead of Greenwich.
    case timeZone(Int32)
    /// What it shows.
    case date(RunDate)

    /// Reads how far a time zone is ahead of Greenwich, in seconds.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    static func timeZone(_ node: YAMLNode) throws(FileError) -> Int32 {
        let expected = "a time zone such as +02:00 or -09:30"
        let text = try node.text(expecting: expected)
        let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard text.utf8.count == 6, parts.count == 2, let hours = Int32(parts[0]), let minutes = Int32(parts[1]),
            (0...14).contains(hours), (0...59).contains(minutes), text.hasPrefix("+") || text.hasPrefix("-")
        else { throw node.error(expected: expected) }
        return (text.hasPrefix("-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }
}

extension RunDate {
    /// Reads a date.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode) throws(FileError) {
        guard let date = RunDate(try node.text(expecting: Self.expected)) else {
            throw node.error(expected: Self.expected)
        }
        self = date
    }
}

import Foundation

/// The date at which a run begins, for apps in virtual time: a whole second.
package struct RunDate: Hashable, Sendable, CustomStringConvertible {
    /// Since 1970.
    package let seconds: Int64

    /// What a run begins at when nothing is said, so that runs are alike.
    package static let usual = RunDate(seconds: 1_767_225_600)

    /// The years that a date may be of.
    private static let years = 2001...2100

    private init(seconds: Int64) { self.seconds = seconds }

    /// Reads a date such as `2026-01-01T00:00:00Z`, in UTC; nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.count == 20, let date = try? Self.style.parse(text), date.formatted(Self.style) == text,
            let year = Int(text.prefix(4)), Self.years.contains(year)
        else { return nil }
        seconds = Int64(date.timeIntervalSince1970)
    }

    package var nanoseconds: Int64 { seconds * 1_000_000_000 }

    package var description: String { Date(timeIntervalSince1970: Double(seconds)).formatted(Self.style) }

    /// For messages.
    package static let expected = "a date such as \(usual), of the years \(years.lowerBound) to \(years.upperBound)"

    private static var style: Date.ISO8601FormatStyle { Date.ISO8601FormatStyle(timeZone: .gmt) }
}

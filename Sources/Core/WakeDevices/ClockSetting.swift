import Foundation
import WakeModel

/// What becomes of the phone's clock.
package enum ClockSetting: Hashable, Sendable {
    case timeZone(ZoneSetting)
    /// What it shows.
    case date(RunDate)
}

/// A time zone as a file says it.
package enum ZoneSetting: Hashable, Sendable {
    /// Seconds ahead of Greenwich, all the year.
    case offset(Int32)
    /// A name of the tz database, with its daylight saving time.
    case name(String)

    private static let expected = "a time zone such as +02:00, -09:30 or Europe/Berlin"

    /// Reads a time zone.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode) throws(FileError) {
        let text = try node.text(expecting: Self.expected)
        if let offset = Self.seconds(text) {
            self = .offset(offset)
        } else if Self.isName(text) {
            self = .name(text)
        } else {
            throw node.error(expected: Self.expected)
        }
    }

    package init(_ zone: PhoneZone) { self = zone.name.isEmpty ? .offset(zone.offset) : .name(zone.name) }

    /// Names without a region, such as EST, are the same as others, or abbreviations that mean several zones.
    private static func isName(_ text: String) -> Bool {
        guard text.contains("/") || text == "UTC" || text == "GMT", text.utf8.count <= 64 else { return false }
        return TimeZone(identifier: text) != nil
    }

    /// Seconds of `+02:00` or `-09:30`, of up to fifteen hours.
    private static func seconds(_ text: String) -> Int32? {
        let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard text.utf8.count == 6, parts.count == 2, let hours = Int32(parts[0]), let minutes = Int32(parts[1]),
            (0...14).contains(hours), (0...59).contains(minutes), parts.allSatisfy({ $0.allSatisfy(\.isWholeNumber) }),
            text.hasPrefix("+") || text.hasPrefix("-")
        else { return nil }
        return (text.hasPrefix("-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }

    /// The zone as it is in the years around a second since 1970. One whose name is not known any more is Greenwich's.
    package func zone(around second: Int64) -> PhoneZone {
        switch self {
        case .offset(let offset): return PhoneZone(offset: offset)
        case .name(let name):
            let zone = TimeZone(identifier: name)
            return PhoneZone(name: name, around: second) { at in
                zone?.secondsFromGMT(for: Date(timeIntervalSince1970: Double(at))) ?? 0
            }
        }
    }

    /// What tells a process of it. The C library reads offsets in POSIX's form, with the sign turned round; Foundation does not
    /// know that form, and takes a name from TZFILE before TZ.
    package var variables: [String] {
        switch self {
        case .name(let name): return ["TZ=\(name)"]
        case .offset(0): return ["TZ=UTC"]
        case .offset(let offset):
            let minutes = abs(offset) / 60
            let (ahead, behind) = offset < 0 ? ("-", "+") : ("+", "-")
            let (hour, rest) = (Self.twoDigits(minutes / 60), Self.twoDigits(minutes % 60))
            return ["TZ=<\(ahead)\(hour)\(rest)>\(behind)\(hour):\(rest)", "TZFILE=GMT\(ahead)\(hour)\(rest)"]
        }
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
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

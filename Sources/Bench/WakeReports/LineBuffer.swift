import Glibc
import WakeModel

/// Bytes of JSON lines in the making.
struct LineBuffer {
    private(set) var bytes: [UInt8] = []
    /// The last second of the day that was written, and its text.
    private var wallSecond = Int64.min
    private var wallText: [UInt8] = []

    var text: String { String(decoding: bytes, as: UTF8.self) }
    var count: Int { bytes.count }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func removeFirst(_ count: Int) { bytes.removeFirst(count) }

    mutating func append(_ text: StaticString) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(_ fragment: [UInt8]) {
        bytes.append(contentsOf: fragment)
    }

    mutating func append(raw text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append(byte: UInt8) { bytes.append(byte) }

    mutating func append(_ value: Bool) {
        append(value ? "true" as StaticString : "false")
    }

    mutating func append(_ value: UInt64) {
        append(value, width: 1)
    }

    mutating func append(_ value: Int64) {
        if value < 0 { bytes.append(0x2d) }
        append(value.magnitude, width: 1)
    }

    /// Appends at least `width` digits.
    mutating func append(_ value: UInt64, width: Int) {
        var digits: InlineArray<20, UInt8> = .init(repeating: 0x30)
        var rest = value
        var used = 0
        while rest > 0 || used < width {
            digits[19 - used] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            used += 1
        }
        unsafe digits.span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0[(20 - used)...]) }
    }

    /// Appends `T+02:14:07.250`.
    mutating func append(_ instant: Instant) {
        let nanoseconds = UInt64(max(0, instant.nanoseconds))
        let seconds = nanoseconds / 1_000_000_000
        var fraction = nanoseconds % 1_000_000_000
        var text: InlineArray<18, UInt8> = .init(repeating: 0x3a)
        // The hours go first, in as many digits as they have.
        append("T+")
        append(seconds / 3600, width: 2)
        Self.put(seconds / 60 % 60, digits: 2, at: 1, into: &text)
        Self.put(seconds % 60, digits: 2, at: 4, into: &text)
        text[6] = 0x2e
        var digits = 9
        while digits > 3, fraction % 1000 == 0 {
            fraction /= 1000
            digits -= 3
        }
        Self.put(fraction, digits: digits, at: 7, into: &text)
        unsafe text.span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0[..<(7 + digits)]) }
    }

    private static func put(_ value: UInt64, digits: Int, at start: Int, into text: inout InlineArray<18, UInt8>) {
        var rest = value
        var position = start + digits
        while position > start {
            position -= 1
            text[position] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Appends a distance from 0 m, to the tenth.
    mutating func append(metres: Double) {
        let tenths = UInt64(min(max(0, metres) * 10, 1e15).rounded())
        append(tenths / 10)
        guard tenths % 10 != 0 else { return }
        bytes.append(0x2e)
        append(tenths % 10)
    }

    /// Appends an instant in quotes.
    mutating func append(quoted instant: Instant) {
        bytes.append(0x22)
        append(instant)
        bytes.append(0x22)
    }

    /// Appends the machine's time of day, in nanoseconds since 1970: `2026-11-21T04:00:11.120Z`.
    mutating func append(wall nanoseconds: Int64) {
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let seconds = rest < 0 ? whole - 1 : whole
        let milliseconds = UInt64((rest < 0 ? rest + 1_000_000_000 : rest) / 1_000_000)
        if seconds != wallSecond {
            wallText.removeAll(keepingCapacity: true)
            wallSecond = seconds
            let start = bytes.count
            append(wallSecond: seconds)
            wallText.append(contentsOf: bytes[start...])
        } else {
            bytes.append(contentsOf: wallText)
        }
        append(milliseconds, width: 3)
        bytes.append(0x5a)
    }

    private mutating func append(wallSecond seconds: Int64) {
        var time = time_t(seconds)
        var date = unsafe tm()
        unsafe gmtime_r(&time, &date)
        let parts: [(number: Int32, width: Int, end: UInt8)] = unsafe [
            (date.tm_year + 1900, 4, 0x2d), (date.tm_mon + 1, 2, 0x2d), (date.tm_mday, 2, 0x54),
            (date.tm_hour, 2, 0x3a), (date.tm_min, 2, 0x3a), (date.tm_sec, 2, 0x2e),
        ]
        for part in parts {
            append(UInt64(max(0, part.number)), width: part.width)
            bytes.append(part.end)
        }
    }

    /// Appends an event id in quotes, or null.
    mutating func append(_ event: EventID) {
        guard event != .none else { return append("null") }
        append("\"e-")
        append(event.number, width: 6)
        bytes.append(0x22)
    }

    /// Appends a decision id in quotes, or null.
    mutating func append(_ decision: DecisionID) {
        guard decision != .none else { return append("null") }
        append("\"d-")
        append(decision.number, width: 6)
        bytes.append(0x22)
    }

    /// Appends the id of the record of an exit in quotes, such as `"x-17"`; null for 0.
    mutating func append(exit number: UInt64) {
        guard number != 0 else { return append("null") }
        append("\"x-")
        append(number)
        bytes.append(0x22)
    }

    /// Appends text in quotes, escaped as JSON asks, and what a terminal would obey instead of showing too: logs are printed.
    mutating func append(quoted text: String) {
        bytes.append(0x22)
        let isPlain = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
            guard unsafe utf8.allSatisfy({ (0x20..<0x7f).contains($0) && $0 != 0x22 && $0 != 0x5c }) else {
                return false
            }
            unsafe bytes.append(contentsOf: utf8)
            return true
        }
        if isPlain != true { appendEscaped(text) }
        bytes.append(0x22)
    }

    private mutating func appendEscaped(_ text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case _ where TerminalText.isObeyed(scalar):
                for unit in scalar.utf16 { append(escape: unit) }
            default: bytes.append(contentsOf: scalar.utf8)
            }
        }
    }

    /// Appends `\u009b`.
    private mutating func append(escape unit: UInt16) {
        append("\\u")
        for shift in [12, 8, 4, 0] as [UInt16] { bytes.append(Self.digit(UInt8(unit >> shift & 15))) }
    }

    /// Appends text in quotes, or null.
    mutating func append(quoted text: String?) {
        if let text { append(quoted: text) } else { append("null") }
    }

    /// Appends a list of texts.
    mutating func append(list: [String]) {
        bytes.append(0x5b)
        for (position, text) in list.enumerated() {
            if position > 0 { bytes.append(0x2c) }
            append(quoted: text)
        }
        bytes.append(0x5d)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}

/// A line of a log, and what loggers and multiplexers put in front of it.
package enum LogLine {
    /// The most bytes in front of a line: a time and a few TAG blocks.
    private static let frontLimit = 160
    /// What times are written with besides the names of days and months.
    private static let ofTimes = Set("0123456789.,; \t[]()-+/TZ_|:".utf8)
    /// What no time has: sentences and comments begin with these, checksums with the star.
    private static let ofLines = Set("$!{#*".utf8)
    private static let backslash = UInt8(ascii: "\\")

    /// A line from its (last) `$`, `!` or `{` on when nothing, a time or TAG blocks stand before that; else the whole line.
    package static func body(_ line: some Collection<UInt8>) -> ArraySlice<UInt8> {
        let bytes = Array(line)[...]
        let start = bytes.firstIndex { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "!") || $0 == UInt8(ascii: "{") }
        guard let start, isFront(bytes[..<start]) else { return bytes }
        // Some receivers say the `$` of a sentence twice.
        return bytes[start...].starts(with: Array("$$".utf8)) ? bytes[(start + 1)...] : bytes[start...]
    }

    /// Whether a text is what may stand before a line: nothing, a time in any form, and TAG blocks of NMEA 0183 version 4 such as
    /// `\s:GP0001,c:1623752500*29\`.
    package static func isFront(_ text: ArraySlice<UInt8>) -> Bool {
        if text.isEmpty { return true }
        guard text.count <= frontLimit else { return false }
        let parts = text.split(separator: backslash, omittingEmptySubsequences: false)
        // Each block stands between two backslashes.
        guard !parts.count.isMultiple(of: 2) else { return false }
        let outside = parts.indices.filter { $0.isMultiple(of: 2) }.flatMap { parts[$0] }
        return outside.allSatisfy { $0 == 0x20 || $0 == 0x09 } || isTime(outside)
    }

    /// Whether a text has hours and minutes with a colon, or is a number such as seconds since 1970.
    private static func isTime(_ text: [UInt8]) -> Bool {
        guard text.allSatisfy({ (0x20...0x7e).contains($0) || $0 == 0x09 }), !text.contains(where: ofLines.contains)
        else { return false }
        let isDigit = text.map { (0x30...0x39).contains($0) }
        let clock = text.indices.dropFirst().dropLast(2).contains { place in
            text[place] == UInt8(ascii: ":") && isDigit[place - 1] && isDigit[place + 1] && isDigit[place + 2]
        }
        let digits = isDigit.count { $0 }
        // Numbers with more commas are the rest of a sentence.
        return clock || digits >= 6 && text.allSatisfy(ofTimes.contains) && text.count { $0 == UInt8(ascii: ",") } <= 2
    }
}

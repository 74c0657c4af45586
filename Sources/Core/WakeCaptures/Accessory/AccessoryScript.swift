import WakeDevices
import WakeModel

/// A script of umockdev's: what a program read of a serial port or hidraw device, and wrote to it.
package struct AccessoryScript: Sendable {
    /// One thing that the program did.
    package struct Operation: Hashable, Sendable {
        /// Whether the device said it; otherwise it was told it.
        package var isRead: Bool
        /// From the moment the device was opened.
        package var time: Instant.Span
        package var bytes: [UInt8]
    }

    /// A line of such a file.
    enum Line: Equatable {
        case device(String)
        case read(milliseconds: Int64, [UInt8])
        case write(milliseconds: Int64, [UInt8])
        /// How many of a hundred bytes that are written may differ.
        case fuzz(Int64)
        case quit
    }

    /// Longer pauses are no pauses of a recording.
    private static let longestPause: Int64 = 30 * 24 * 3600 * 1000
    private static let unreadable = "lines that are none of a script's"

    package let file: String
    /// The device's file, such as `/dev/ttyACM0`; nil when the script does not say it.
    package private(set) var device: String?
    package private(set) var operations: [Operation] = []
    /// By the number of the line.
    package private(set) var leftOut = LeftOut()
    /// The most bytes of a hundred that the recording lets differ in what is written.
    package private(set) var fuzz: Int64 = 0

    /// When the last operation was.
    package var length: Instant.Span { operations.last?.time ?? .zero }

    /// Reads a script; lines that make no sense are left out and counted.
    package init(_ bytes: [UInt8], file: String) {
        self.file = file
        var now: Int64 = 0
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if text.isEmpty || text.first == UInt8(ascii: "#") { continue }
            let line = Line(text)
            switch line {
            case .device(let path):
                if device == nil { device = path }
            case .read(let pause, _), .write(let pause, _):
                // A line has at most 15 digits.
                now += pause
                guard now <= Self.longestPause else {
                    leftOut.add("operations later than 30 days", at: index + 1)
                    return
                }
                add(line, now)
            case .fuzz(let percent): fuzz = max(fuzz, percent)
            case .quit: return
            case nil: leftOut.add(Self.unreadable, at: index + 1)
            }
        }
    }

    private mutating func add(_ line: Line?, _ now: Int64) {
        let (isRead, bytes): (Bool, [UInt8])
        switch line {
        case .read(_, let said): (isRead, bytes) = (true, said)
        case .write(_, let said): (isRead, bytes) = (false, said)
        case .device, .fuzz, .quit, nil: return
        }
        if bytes.isEmpty { return }
        operations.append(Operation(isRead: isRead, time: .milliseconds(now), bytes: bytes))
    }
}

extension AccessoryScript.Line {
    /// Reads a line: a letter, a number, and data in which bytes below 32 are `^` and a letter, and `^` is itself `` ^` ``.
    init?(_ line: ArraySlice<UInt8>) {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard let letter = words.first, letter.count == 1, let kind = letter.first else { return nil }
        if kind == UInt8(ascii: "Q") {
            self = .quit
            return
        }
        guard words.count > 1, (1...15).contains(words[1].count),
            words[1].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(String(decoding: words[1], as: UTF8.self))
        else { return nil }
        let data = words.count > 2 ? words[2] : []
        switch kind {
        case UInt8(ascii: "d"):
            guard !data.isEmpty else { return nil }
            self = .device(String(decoding: data, as: UTF8.self))
        case UInt8(ascii: "f"): self = .fuzz(min(number, 100))
        case UInt8(ascii: "r"), UInt8(ascii: "w"):
            guard let bytes = Self.bytes(data) else { return nil }
            self =
                kind == UInt8(ascii: "r")
                ? .read(milliseconds: number, bytes) : .write(milliseconds: number, bytes)
        default: return nil
        }
    }

    /// The bytes that data stands for; nil where an escape stands for none.
    private static func bytes(_ data: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count)
        var isEscaped = false
        for byte in data {
            if isEscaped {
                switch byte {
                case UInt8(ascii: "`"): bytes.append(UInt8(ascii: "^"))
                case 64...95: bytes.append(byte - 64)
                default: return nil
                }
                isEscaped = false
            } else if byte == UInt8(ascii: "^") {
                isEscaped = true
            } else {
                bytes.append(byte)
            }
        }
        return isEscaped ? nil : bytes
    }
}

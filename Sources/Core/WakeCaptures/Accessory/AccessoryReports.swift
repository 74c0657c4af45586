/// The reports of a HID interface, by its descriptor (Device Class Definition for HID 1.11, section 6.2.2).
struct AccessoryReports: Equatable {
    /// The numbers of reports; empty when they have none.
    private(set) var numbers: [UInt8] = []
    /// The bytes of a report of each number, without it, from the device and to it; number 0 where they have none.
    private(set) var input: [UInt8: Int] = [:]
    private(set) var output: [UInt8: Int] = [:]

    private static let longestReport = 1024
    private static let deepest = 16

    private struct Globals {
        var size = 0
        var count = 0
        var number: UInt8 = 0
    }

    init(_ descriptor: [UInt8]) {
        var bits: (input: [UInt8: Int], output: [UInt8: Int]) = ([:], [:])
        var globals = Globals()
        var kept: [Globals] = []
        var place = 0
        while place < descriptor.count {
            let prefix = descriptor[place]
            // A long item, of which none is defined: its length, then a tag.
            if prefix == 0xfe {
                place += 3 + (place + 1 < descriptor.count ? Int(descriptor[place + 1]) : 0)
                continue
            }
            let length = [0, 1, 2, 4][Int(prefix & 3)]
            guard place + length < descriptor.count else { break }
            let value = (0..<length).reduce(0) { $0 | Int(descriptor[place + 1 + $1]) << (8 * $1) }
            place += 1 + length
            let sum = min(globals.size * globals.count, 8 * Self.longestReport)
            switch prefix & 0xfc {
            case 0x74: globals.size = min(value, 8 * Self.longestReport)
            case 0x94: globals.count = min(value, 8 * Self.longestReport)
            case 0x84:
                globals.number = UInt8(truncatingIfNeeded: value)
                if !numbers.contains(globals.number) { numbers.append(globals.number) }
            case 0xa4: if kept.count < Self.deepest { kept.append(globals) }
            case 0xb4: globals = kept.popLast() ?? globals
            case 0x80: bits.input[globals.number, default: 0] += sum
            case 0x90: bits.output[globals.number, default: 0] += sum
            default: break
            }
        }
        input = bits.input.mapValues(Self.bytes)
        output = bits.output.mapValues(Self.bytes)
    }

    private static func bytes(_ bits: Int) -> Int { min(max((bits + 7) / 8, 1), longestReport) }

    /// The reports that stand one behind the other in what was read or written at once, without their numbers; nil from where
    /// on they make no sense.
    ///
    /// What was read has no number where the reports have none; what was written has 0 then (hidraw of the kernel).
    func split(_ bytes: [UInt8], isRead: Bool) -> [(number: UInt8, data: [UInt8])?] {
        let sizes = isRead ? input : output
        var reports: [(number: UInt8, data: [UInt8])?] = []
        var rest = bytes[...]
        while let first = rest.first {
            let isNumbered = !numbers.isEmpty
            let number = isNumbered ? first : 0
            if isNumbered || !isRead { rest = rest.dropFirst() }
            guard let size = sizes[number] ?? (isNumbered ? nil : max(rest.count, 1)), !rest.isEmpty else {
                return reports + [nil]
            }
            reports.append((number, Array(rest.prefix(size))))
            rest = rest.dropFirst(size)
        }
        return reports
    }
}

import Glibc

/// The reports of a HID device, as its report descriptor says (USB HID 1.11, section 6.2.2).
package struct HIDReports: Hashable, Sendable {
    /// One kind of report.
    package struct Report: Hashable, Sendable {
        /// 0 in a device that does not number its reports.
        package var number: UInt8
        /// The size without the number.
        package var size: Int

        package init(number: UInt8, size: Int) {
            self.number = number
            self.size = size
        }
    }

    /// From the device, in order of their numbers.
    package var inputs: [Report] = []
    /// To the device, in order of their numbers.
    package var outputs: [Report] = []

    /// The kernel's bound of a report descriptor.
    package static let longestDescriptor = 4_096
    /// The kernel's bound of a report.
    private static let longestReport = 16_384

    /// Reads a report descriptor.
    ///
    /// Nil for bytes that are none: cut off in an item, or with sizes beyond the kernel's bounds.
    package init?(descriptor: [UInt8]) {
        guard descriptor.count <= Self.longestDescriptor else { return nil }
        var parser = Parser()
        guard parser.read(descriptor), let inputs = Self.reports(parser.inputBits),
            let outputs = Self.reports(parser.outputBits)
        else { return nil }
        (self.inputs, self.outputs) = (inputs, outputs)
    }

    /// Reports of sizes that are known otherwise.
    package init(inputs: [Report], outputs: [Report]) {
        (self.inputs, self.outputs) = (inputs, outputs)
    }

    private static func reports(_ bits: [UInt8: Int]) -> [Report]? {
        let reports = bits.map { Report(number: $0.key, size: ($0.value + 7) / 8) }.sorted { $0.number < $1.number }
        return reports.allSatisfy { $0.size <= longestReport } ? reports : nil
    }

    /// Whether each report begins with its number.
    package var areNumbered: Bool { (inputs + outputs).contains { $0.number != 0 } }

    /// The size of the longest report that is read, with its number.
    package var longestInput: Int { (inputs.map(\.size).max() ?? 0) + (areNumbered ? 1 : 0) }

    /// The first report of bytes that are to be written, filled up with zeros.
    ///
    /// Where reports are numbered, the first byte is the number. The kernel wants one in any case.
    ///
    /// - Returns: the report and how many of the bytes it holds; nil when there is no such report.
    package func frame(_ bytes: [UInt8]) -> (report: [UInt8], taken: Int)? {
        guard let first = bytes.first,
            let report = outputs.first(where: { $0.number == (areNumbered ? first : 0) })
        else { return nil }
        let body = bytes.dropFirst(areNumbered ? 1 : 0).prefix(report.size)
        let padding = [UInt8](repeating: 0, count: report.size - body.count)
        return ([report.number] + body + padding, body.count + (areNumbered ? 1 : 0))
    }

    /// Goes through the items and adds up the bits of each report.
    private struct Parser {
        private struct Globals {
            var size = 0
            var count = 0
            var number: UInt8 = 0
        }

        var inputBits: [UInt8: Int] = [:]
        var outputBits: [UInt8: Int] = [:]
        private var globals = Globals()
        private var kept: [Globals] = []

        mutating func read(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while let head = rest.popFirst() {
                if head == 0xFE {
                    // A long item: its length, its tag, its data. None is defined.
                    guard let length = rest.popFirst(), rest.count > Int(length) else { return false }
                    rest = rest.dropFirst(Int(length) + 1)
                    continue
                }
                let length = [0, 1, 2, 4][Int(head & 3)]
                guard rest.count >= length else { return false }
                let value = rest.prefix(length).reversed().reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(length)
                guard take(head & 0xFC, value) else { return false }
            }
            return true
        }

        private mutating func take(_ item: UInt8, _ value: Int) -> Bool {
            switch item {
            // Input, Output.
            case 0x80: return add(to: \.inputBits)
            case 0x90: return add(to: \.outputBits)
            // Report Size, Report Count, Report ID.
            case 0x74: globals.size = value
            case 0x94: globals.count = value
            case 0x84:
                guard let number = UInt8(exactly: value), number != 0 else { return false }
                globals.number = number
            // Push, Pop.
            case 0xA4:
                guard kept.count < 16 else { return false }
                kept.append(globals)
            case 0xB4:
                guard let last = kept.popLast() else { return false }
                globals = last
            default: break
            }
            return true
        }

        private mutating func add(to bits: WritableKeyPath<Parser, [UInt8: Int]>) -> Bool {
            guard globals.size <= 256, globals.count <= 12_288 else { return false }
            self[keyPath: bits][globals.number, default: 0] += globals.size * globals.count
            return true
        }
    }
}

/// An open hidraw file: each read is one report, and each write becomes one.
///
/// The kernel keeps 64 reports for a reader and drops further ones without a word, so it is read all the time. A write
/// waits in the kernel until the device has taken the report, at most 5 s.
package final class ReportLine {
    package let path: String
    package let reports: HIDReports
    private let descriptor: Descriptor

    /// The descriptor, valid while this lives.
    package var number: Int32 { descriptor.number }

    /// Opens a hidraw file.
    package convenience init(path: String, reports: HIDReports) throws(SystemError) {
        try self.init(Descriptor.open(path, O_RDWR | O_NONBLOCK), path: path, reports: reports)
    }

    /// Takes over an open, non-blocking descriptor that keeps the bounds of messages.
    package init(_ opened: consuming Descriptor, path: String, reports: HIDReports) {
        self.path = path
        self.reports = reports
        descriptor = opened
    }

    /// Reads one report; of one that is longer than the buffer the rest is lost.
    ///
    /// - Returns: the number of bytes, 0 when the device has gone, nil when no report is there yet.
    package func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
        do throws(SystemError) {
            return try descriptor.read(into: &buffer)
        } catch  where error.code == EIO || error.code == ENODEV {
            return 0
        }
    }

    /// Writes the first report of the bytes, filled up with zeros.
    ///
    /// - Returns: how many of the bytes it held.
    /// - Throws: ``SystemError``: EINVAL when the device has no such report, ENODEV or EIO when it has gone.
    package func write(_ bytes: [UInt8]) throws(SystemError) -> Int? {
        guard !bytes.isEmpty else { return 0 }
        guard let (report, taken) = reports.frame(bytes) else {
            throw SystemError("write", code: EINVAL, subject: "\(path): a report that the device does not have")
        }
        return try descriptor.write(report) == nil ? nil : taken
    }

    /// The report descriptor of a device below /sys/class/hidraw.
    ///
    /// - Parameter systemPath: the device's, such as `/sys/devices/…/hidraw/hidraw0`.
    /// - Throws: ``SystemError``: EINVAL for a descriptor that is none.
    package static func reports(of systemPath: String) throws(SystemError) -> HIDReports {
        let path = systemPath + "/device/report_descriptor"
        let file = try Descriptor.open(path, O_RDONLY)
        var (bytes, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: HIDReports.longestDescriptor))
        while let count = try file.read(into: &buffer), count > 0, bytes.count <= HIDReports.longestDescriptor {
            bytes += buffer[..<count]
        }
        guard let reports = HIDReports(descriptor: bytes) else {
            throw SystemError("read", code: EINVAL, subject: path)
        }
        return reports
    }
}

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

    private static func reports(_ bits: [UInt8: Int]) -> [Report]? {
        let reports = bits.map { Report(number: $0.key, size: ($0.value + 7) / 8) }.sorted { $0.number < $1.number }
        return reports.allSatisfy { $0.size <= longestReport } ? reports : nil
    }

    /// Whether each report begins with its number.
    package var areNumbered: Bool { (inputs + outputs).contains { $0.number != 0 } }

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

/// An open hidraw file, of which the reports of one number are used: each read is the data of one report, and each write
/// becomes one.
///
/// The kernel keeps 64 reports for a reader and drops further ones without a word, so it is read all the time. It lets a
/// writer wait until the device has taken the report, at most 5 s: a report is on its way while others are not taken.
package final class ReportLine {
    package let path: String
    /// The reports that are written, and those that are read when they are numbered.
    package let report: HIDReports.Report
    private let descriptor: Descriptor
    private let writer: LaterWriter
    private var buffer: [UInt8]

    /// The descriptor, valid while this lives.
    package var number: Int32 { descriptor.number }

    /// A descriptor that is readable when the report that was on its way has left; valid while this lives.
    package var roomNumber: Int32 { writer.bellNumber }

    /// Opens a hidraw file.
    package convenience init(path: String, report: HIDReports.Report) throws(SystemError) {
        try self.init(try Descriptor.open(path, O_RDWR | O_NONBLOCK), path: path, report: report)
    }

    /// Takes over an open, non-blocking descriptor that keeps the bounds of messages.
    package init(_ opened: consuming Descriptor, path: String, report: HIDReports.Report) throws(SystemError) {
        self.path = path
        self.report = report
        descriptor = opened
        writer = try LaterWriter()
        // One more byte tells a longer report from one that fits.
        buffer = [UInt8](repeating: 0, count: report.size + 2)
    }

    /// Reads the data of one report, without its number; those of other numbers are passed over.
    ///
    /// - Returns: the data, empty when the device has gone, nil when no report is there yet.
    /// - Throws: ``SystemError``: EMSGSIZE for a report that is longer than its size.
    package func read() throws(SystemError) -> ArraySlice<UInt8>? {
        while true {
            let count: Int
            do throws(SystemError) {
                guard let read = try descriptor.read(into: &buffer) else { return nil }
                count = read
            } catch  where error.code == EIO || error.code == ENODEV || error.code == ENXIO {
                return []
            }
            guard count > 0 else { return [] }
            if report.number != 0, buffer[0] != report.number { continue }
            let data = buffer[(report.number == 0 ? 0 : 1)..<count]
            guard data.count <= report.size else { throw SystemError("read", code: EMSGSIZE, subject: path) }
            if !data.isEmpty { return data }
        }
    }

    /// Sends the first report of the bytes, filled up with zeros, on its way.
    ///
    /// - Returns: how many of the bytes it holds, nil while the report before is on its way.
    /// - Throws: ``SystemError`` of the report before: ENODEV or EIO when the device has gone, ETIMEDOUT when it takes
    ///   nothing.
    package func write(_ bytes: some Collection<UInt8>) throws(SystemError) -> Int? {
        let body = bytes.prefix(report.size)
        guard !body.isEmpty else { return 0 }
        // The kernel wants a number in any case.
        let padding = [UInt8](repeating: 0, count: report.size - body.count)
        guard try writer.hasRoom() else { return nil }
        try writer.write([report.number] + body + padding, to: descriptor.number)
        return body.count
    }

    /// The reports of a device below /sys/class/hidraw.
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

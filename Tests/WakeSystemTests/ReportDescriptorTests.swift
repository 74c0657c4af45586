import Testing
import WakeSystem

@Suite("HID report descriptors")
struct ReportDescriptorTests {
    private typealias Report = HIDReports.Report

    /// Reports of 32 bytes with the number 1 in both directions, on a page of the vendor's own.
    private static let vendors: [UInt8] = [
        0x06, 0x00, 0xff, 0x09, 0x01, 0xa1, 0x01, 0x85, 0x01, 0x15, 0x00, 0x26, 0xff, 0x00, 0x75, 0x08, 0x96, 0x20,
        0x00,
        0x09, 0x01, 0x81, 0x02, 0x96, 0x20, 0x00, 0x09, 0x01, 0x91, 0x02, 0xc0,
    ]

    /// The boot keyboard of HID 1.11, appendix B.1: 8 bytes from it, one byte for its lamps to it, without numbers.
    private static let keyboard: [UInt8] = [
        0x05, 0x01, 0x09, 0x06, 0xa1, 0x01, 0x05, 0x07, 0x19, 0xe0, 0x29, 0xe7, 0x15, 0x00, 0x25, 0x01, 0x75, 0x01,
        0x95,
        0x08, 0x81, 0x02, 0x95, 0x01, 0x75, 0x08, 0x81, 0x01, 0x95, 0x05, 0x75, 0x01, 0x05, 0x08, 0x19, 0x01, 0x29,
        0x05,
        0x91, 0x02, 0x95, 0x01, 0x75, 0x03, 0x91, 0x01, 0x95, 0x06, 0x75, 0x08, 0x15, 0x00, 0x25, 0x65, 0x05, 0x07,
        0x19,
        0x00, 0x29, 0x65, 0x81, 0x00, 0xc0,
    ]

    @Test("The sizes of reports are the sums of their fields")
    func sizes() throws {
        let own = try #require(HIDReports(descriptor: Self.vendors))
        #expect(own.inputs == [Report(number: 1, size: 32)])
        #expect(own.outputs == [Report(number: 1, size: 32)])
        #expect(own.areNumbered)
        let keyboard = try #require(HIDReports(descriptor: Self.keyboard))
        #expect(keyboard.inputs == [Report(number: 0, size: 8)])
        #expect(keyboard.outputs == [Report(number: 0, size: 1)])
        #expect(!keyboard.areNumbered)
    }

    @Test("Kept values come back, and long items are passed over")
    func keeps() throws {
        let bytes: [UInt8] = [0x75, 8, 0x95, 4, 0xA4, 0x95, 2, 0xFE, 2, 0x10, 0x81, 0x02, 0x81, 0x02, 0xB4, 0x91, 0x02]
        let reports = try #require(HIDReports(descriptor: bytes))
        #expect(reports.inputs == [Report(number: 0, size: 2)])
        #expect(reports.outputs == [Report(number: 0, size: 4)])
    }

    @Test("Bytes that are cut off, scrambled or beyond the kernel's bounds are refused and crash nothing")
    func nonsense() {
        // Each of its items has two bytes, but the last.
        for count in Self.keyboard.indices {
            let isRead = HIDReports(descriptor: Array(Self.keyboard[..<count])) != nil
            #expect(isRead == count.isMultiple(of: 2), "\(count) bytes")
        }
        for place in Self.keyboard.indices {
            for value in [0x00, 0x7F, 0xA4, 0xB4, 0xFE, 0xFF] as [UInt8] {
                var scrambled = Self.keyboard
                scrambled[place] = value
                _ = HIDReports(descriptor: scrambled)
            }
        }
        #expect(HIDReports(descriptor: [0x77, 255, 255, 255, 255, 0x97, 255, 255, 255, 255, 0x81, 2]) == nil)
        // What is refused, and the nearest that is not.
        for (refused, taken) in [
            ([0x26, 0xff], [0x26, 0xff, 0]), ([0xFE, 4, 1], [0xFE, 0, 1]), ([0xB4], [0xA4, 0xB4]),
            ([0x85, 0], [0x85, 1]), ([0x76, 0, 1, 0x96, 1, 2, 0x81, 2], [0x76, 0, 1, 0x96, 0, 2, 0x81, 2]),
            ([UInt8](repeating: 0xC0, count: 4_097), [UInt8](repeating: 0xC0, count: 4_096)),
        ] as [([UInt8], [UInt8])] {
            #expect(HIDReports(descriptor: refused) == nil)
            #expect(HIDReports(descriptor: taken) != nil)
        }
    }
}

import Testing

@testable import WakeCaptures

@Suite("Scripts and dumps of accessories, written")
struct AccessoryWritingTests {
    @Test("All bytes come back from a script as they were, with their times and directions")
    func script() {
        let all = Array(0...255) as [UInt8]
        var writer = AccessoryScriptWriter(at: 5_000_000_000)
        var file = AccessoryScriptWriter.head(of: "/dev/ttyACM0")
        file += writer.line(all, isRead: true, at: 5_001_900_000)
        // What is left of a millisecond is not lost: the moments are 1.9 ms and 3.8 ms.
        file += writer.line([0x5e, 0x20], isRead: false, at: 5_003_800_000)
        file += writer.line([0x0a], isRead: true, at: 5_003_800_000)
        let script = AccessoryScript(file, file: "a.script")
        #expect(RecordingForm.detect(file) == .script)
        #expect(script.device == "/dev/ttyACM0")
        #expect(script.operations.map(\.bytes) == [all, [0x5e, 0x20], [0x0a]])
        #expect(script.operations.map(\.isRead) == [true, false, true])
        #expect(script.operations.map(\.time.milliseconds) == [1, 3, 3])
        #expect(script.leftOut.entries.isEmpty)
    }

    @Test("A dump of a tty says on which USB device it is, and its words come back as they were")
    func dump() throws {
        let text = AccessoryDump.text(
            of: .init(
                systemPath: "/sys/devices/pci0000:00/usb1/1-1/1-1.2/1-1.2:1.0/tty/ttyACM0",
                node: "/dev/ttyACM0",
                subsystem: "tty",
                port: "1-1.2",
                attributes: [
                    ("idVendor", "1d6b"), ("idProduct", "0104"), ("manufacturer", "Back\\slash"),
                    ("product", "Dock\n2"),
                    ("serial", "A7"), ("bcdDevice", "0102"),
                ]
            )
        )
        let dump = AccessoryDump(Array(text.utf8), file: "a.umockdev")
        #expect(RecordingForm.detect(Array(text.utf8)) == .dump)
        let script = AccessoryScript(Array("d 0 /dev/ttyACM0\nr 0 hi\n".utf8), file: "a.script")
        let lift = try AccessoryLift(dump, [script], protocol: "com.example.dock")
        #expect(lift.accessory.transport == .usb(0x1d6b, 0x0104, serialNumber: "A7"))
        #expect(lift.accessory.manufacturer == "Back\\slash")
        #expect(lift.accessory.serialNumber == "A7")
        #expect(lift.notes.isEmpty)
        #expect(dump.usbDevice(of: try #require(dump.ends.first))?["product"] == "Dock\n2")
    }
}

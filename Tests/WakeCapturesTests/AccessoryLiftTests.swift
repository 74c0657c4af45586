import Foundation
import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

@Suite("Accessories of umockdev's recordings")
struct AccessoryLiftTests {
    private func script(_ text: String) -> AccessoryScript { AccessoryScript(Array(text.utf8), file: "a.script") }

    private func dump(_ name: String) throws -> AccessoryDump {
        let folder = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        let file = "\(folder)/WakeExternalAccessoryTests/Plugging/\(name).umockdev"
        return AccessoryDump(try [UInt8](Data(contentsOf: URL(filePath: file))), file: file)
    }

    // MARK: Scripts

    @Test("What is read before anything is written is sent of itself, and what is read then is the answer")
    func answers() throws {
        let script = script("d 0 /dev/ttyACM0\nr 100 up^J\nr 50 on^J\nw 10 LOG^J\nr 20 a^J\nr 15000 b^J\nw 5 BYE^J\n")
        let made = try AccessoryLift(nil, [script]).accessory.protocols[0].script
        #expect(made.timetable.values == [Array("up\n".utf8), Array("on\n".utf8)])
        #expect(made.timetable.pauses == [.milliseconds(100), .milliseconds(50)])
        #expect(made.answers.map(\.to) == [Array("LOG\n".utf8)])
        #expect(made.answers[0].timetable.pauses == [.milliseconds(20), .seconds(15)])
    }

    @Test("Each byte is the one that was recorded")
    func bytes() throws {
        let all = (0...255).map { UInt8($0) }
        var line = Array("r 0 ".utf8)
        for byte in all {
            switch byte {
            case 0..<32: line += [UInt8(ascii: "^"), byte + 64]
            case UInt8(ascii: "^"): line += Array("^`".utf8)
            default: line.append(byte)
            }
        }
        let script = AccessoryScript(line + Array("\nr 5 ^".utf8), file: "a.script")
        #expect(script.operations.map(\.bytes) == [all])
        #expect(script.leftOut.entries == [.init(why: "lines that are none of a script's", count: 1, first: 2)])
    }

    @Test("A script ends at Q, and comments and empty lines are none of its lines")
    func end() {
        let script = script("# a note\n\nr 1 a\nf 20 -\nQ 0 -\nwhatever\n")
        #expect(script.operations.count == 1)
        #expect(script.leftOut.entries.isEmpty)
        #expect(script.fuzz == 20)
    }

    @Test("A question that is asked again and answered otherwise keeps its first answer, and that is told")
    func again() throws {
        let lift = try AccessoryLift(nil, [script("w 0 T\nr 5 20\nw 1000 T\nr 5 21\nw 1000 T\nr 5 20\n")])
        #expect(lift.accessory.protocols[0].script.answers.map { $0.timetable.values } == [[Array("20".utf8)]])
        #expect(lift.notes.contains("1 answers beside the first to the same, or beyond 64"))
    }

    @Test("Times are cut, left out and played faster")
    func pace() throws {
        var pace = Pace()
        pace.from = .seconds(1)
        pace.to = .seconds(100)
        pace.gapLimit = .seconds(10)
        pace.speed = 2
        pace.loops = true
        let script = script("r 500 a\nr 1500 b\nr 60000 c\nr 60000 d\n")
        let made = try AccessoryLift(nil, [script], pace: pace).accessory.protocols[0].script.timetable
        #expect(made.values == [Array("b".utf8), Array("c".utf8)])
        #expect(made.pauses == [.milliseconds(500), .seconds(5)])
        #expect(made.repeats)
    }

    // MARK: Dumps

    @Test("A dump says who the device is, and on which interface")
    func identity() throws {
        let lift = try AccessoryLift(dump("serial-dock"), [script("d 0 /dev/ttyACM0\nw 0 LOG^J\nr 5 a\n")])
        #expect(lift.accessory.name == "Serial Dock" && lift.accessory.manufacturer == "Wakebench")
        #expect(lift.accessory.serialNumber == "D1-0001" && lift.accessory.firmwareRevision == "6.01")
        #expect(lift.accessory.transport == .usb(0x1d6b, 0x0104, serialNumber: "D1-0001"))
        #expect(lift.accessory.protocols.map(\.name) == ["com.example.serial-dock"])
        #expect(lift.accessory.protocols[0].link == .tty(interface: 0))
    }

    @Test("Reports lose their number and the zeros that fill them, and those read at once are parted")
    func reports() throws {
        let (one, two) = ("^A12^J" + String(repeating: "^@", count: 29), "^A3" + String(repeating: "^@", count: 31))
        let script = script(
            "d 0 /dev/hidraw0\nr 9 \(one)\(two)\nw 0 ^Aok\(String(repeating: "^@", count: 30))\nr 7 \(two)\n"
        )
        let made = try AccessoryLift(dump("hid-scanner"), [script]).accessory.protocols[0]
        #expect(made.link == .hid(.init(0, report: 1, size: 32)))
        #expect(made.script.timetable.values == [Array("12\n".utf8), Array("3".utf8)])
        #expect(made.script.answers.map(\.to) == [Array("ok".utf8)])
    }

    @Test("A dump without a serial port or hidraw device is refused, and a script of another device too")
    func refused() throws {
        let text = "P: /devices/virtual/input/input1\nN: input/event1\nE: SUBSYSTEM=input\n"
        let input = AccessoryDump(Array(text.utf8), file: "mouse.umockdev")
        var failure = #expect(throws: AccessoryLift.Failure.self) { _ = try AccessoryLift(input, []) }
        #expect(failure?.found == "mouse.umockdev: no serial port and no hidraw device")
        let scripts = [script("d 0 /dev/ttyS1\nr 0 a\n"), script("d 0 /dev/ttyACM0\nr 0 a\n")]
        failure = #expect(throws: AccessoryLift.Failure.self) { _ = try AccessoryLift(dump("serial-dock"), scripts) }
        #expect(failure?.found == "a.script: a script of /dev/ttyS1")
        #expect(failure?.remedy == "the dump has ttyACM0")
    }

    @Test(
        "Recordings are told apart by how they begin",
        arguments: [
            ("P: /devices/virtual/tty/tty1\nN: tty1\n", RecordingForm.dump),
            ("# note\nd 0 /dev/ttyS0\nr 0 a\n", .script),
            ("w 10 AT^M\n", .script), ("@DEV /dev/bus/usb/001/002\n", .ioctl), ("# EVEMU 1.2\nN: Mouse\n", .evemu),
            ("E: 0.000000 0000 0000 0000\n", .evemu),
        ]
    )
    func forms(text: String, form: RecordingForm) {
        #expect(RecordingForm.detect(Array(text.utf8)) == form)
    }

    @Test(
        "What is no recording is none",
        arguments: ["", "\n", "$GPRMC,1\n", "device: beacon\n", "read 5 a\n", "r x a\n"]
    )
    func otherForms(text: String) {
        #expect(RecordingForm.detect(Array(text.utf8)) == nil)
    }

    @Test("Of several ports of a dump each with its script has a protocol of its own")
    func ports() throws {
        let text =
            (0...1).map { number in
                """
                P: /devices/usb1/1-1/1-1:1.\(number)/ttyUSB\(number)/tty/ttyUSB\(number)
                N: ttyUSB\(number)
                E: SUBSYSTEM=tty

                P: /devices/usb1/1-1/1-1:1.\(number)
                A: bInterfaceNumber=0\(number)\\n


                """
            }.joined() + "P: /devices/usb1/1-1\nA: idVendor=12d1\\n\nA: idProduct=1003\\n\nA: product=Stick\\n\n"
        let scripts = [1, 0].map { script("d 0 /dev/ttyUSB\($0)\nr 0 a\n") }
        let lift = try AccessoryLift(
            AccessoryDump(Array(text.utf8), file: "stick"),
            scripts,
            protocol: "com.example.at"
        )
        #expect(lift.accessory.protocols.map(\.name) == ["com.example.at.ttyusb1", "com.example.at.ttyusb0"])
        #expect(lift.accessory.protocols.map(\.link) == [.tty(interface: 1), .tty(interface: 0)])
    }
}

import WakeBundles
import WakeDevices
import WakeLocation
import WakeModel

/// The files that users give, and what receivers say.
enum Files {
    static func scenario(_ bytes: [UInt8]) {
        // The shipped devices, as the shipped scenarios name them; bytes of a fuzzer choose no other file of this machine.
        let place = "Devices/Scenarios/../"
        var files = ScenarioFiles(searchFolders: ["Devices/Scenarios"])
        files.isFile = { $0.hasPrefix(place) && !$0.dropFirst(place.count).contains("..") }
        files.isFolder = { $0.hasSuffix(".app") }
        check { () throws(FileError) in _ = try Scenario.parse(bytes, file: "fuzz.yaml", files: files) }
    }

    static func device(_ bytes: [UInt8]) {
        check { () throws(FileError) in
            if case .peripheral(let peripheral) = try DeviceFile.parse(bytes, file: "/nowhere/fuzz.yaml") {
                ask(peripheral)
            }
        }
    }

    /// A device that answers is asked by each of its rules, and does all that comes of it.
    private static func ask(_ peripheral: BluetoothPeripheral) {
        var machine = BluetoothAnswerMachine(peripheral.answers, mtu: peripheral.mtu)
        var now = Instant.zero
        for (place, rules) in peripheral.answers.rules.enumerated() {
            for rule in rules {
                var request = BluetoothAnswerMachine.Request.read
                if case .write(let pattern) = rule.trigger {
                    request = .write(pattern.bytes + (pattern.isOpen ? [1] : []))
                }
                var effects = machine.answer(request, of: place, at: now) { _ in true }.effects
                for _ in 0..<8 {
                    guard let due = machine.nextDue else { break }
                    now = due
                    effects += machine.advance(to: now) { $0 % 2 == 0 }
                }
                for case .send(_, let value, _, _) in effects {
                    precondition(value.count <= 512, "a value of \(value.count) bytes")
                }
            }
        }
    }

    static func push(_ bytes: [UInt8]) {
        check { () throws(FileError) in _ = try PushFile.parse(bytes, file: "fuzz.apns") }
    }

    static func plist(_ bytes: [UInt8]) {
        do { _ = try InfoPlist.parse(bytes, of: "Fuzz.app") } catch { checkLine(error.description) }
    }

    static func gpx(_ bytes: [UInt8]) {
        check { () throws(FileError) in _ = try GPXFile.parse(bytes, file: "fuzz.gpx") }
    }

    static func nmea(_ bytes: [UInt8]) {
        var reader = NMEAReader()
        var points = 0
        reader.read(bytes) { moment in if moment.point != nil { points += 1 } }
        if reader.finish()?.point != nil { points += 1 }
        precondition(points <= reader.counts.sentences, "\(points) places in \(reader.counts)")
    }

    static func gpsd(_ bytes: [UInt8]) {
        for line in bytes.split(separator: 0x0a, omittingEmptySubsequences: false) { _ = GPSDLine(Array(line)) }
    }

    /// What is refused is refused in a line.
    private static func check(_ read: () throws(FileError) -> Void) {
        do { try read() } catch { checkLine(error.description) }
    }

    private static func checkLine(_ text: String) {
        precondition(!text.contains(where: \.isNewline), "more than a line: \(text)")
    }
}

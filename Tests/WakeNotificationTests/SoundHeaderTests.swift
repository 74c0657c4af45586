import Foundation
import Testing
import WakeModel
import WakeNotification
import WakePorts

@Suite("What sound files say of themselves")
struct SoundHeaderTests {
    private static func big(_ number: UInt64, _ length: Int) -> [UInt8] {
        (0..<length).reversed().map { UInt8(truncatingIfNeeded: number >> (UInt64($0) * 8)) }
    }

    private static func little(_ number: UInt64, _ length: Int) -> [UInt8] { big(number, length).reversed() }

    private static func wave(tag: UInt64, bytesPerSecond: UInt64, dataBytes: UInt64) -> [UInt8] {
        let format =
            little(tag, 2) + little(1, 2) + little(8_000, 4) + little(bytesPerSecond, 4) + little(2, 2) + little(16, 2)
        return Array("RIFF".utf8) + little(36 + dataBytes, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
            + Array("data".utf8) + little(dataBytes, 4)
    }

    private static func aiff(code: String?, frames: UInt64) -> [UInt8] {
        // 8000 as a number of 80 bits: 2 to the 12th times 1.953125.
        let rate = big(16_383 + 12, 2) + big(8_000 << 51, 8)
        let common = big(1, 2) + big(frames, 4) + big(16, 2) + rate + (code.map { Array($0.utf8) + [0, 0] } ?? [])
        return Array("FORM".utf8) + big(UInt64(common.count + 12), 4) + Array((code == nil ? "AIFF" : "AIFC").utf8)
            + Array("COMM".utf8) + big(UInt64(common.count), 4) + common
    }

    private static func core(code: String, packetBytes: UInt64, packetFrames: UInt64, dataBytes: UInt64) -> [UInt8] {
        let description =
            big(8_000.0.bitPattern, 8) + Array(code.utf8) + big(0, 4) + big(packetBytes, 4) + big(packetFrames, 4)
            + big(1, 4) + big(16, 4)
        return Array("caff".utf8) + big(1, 2) + big(0, 2) + Array("desc".utf8) + big(32, 8) + description
            + Array("data".utf8) + big(dataBytes + 4, 8) + big(0, 4)
    }

    private static func file(_ format: SoundFormat, _ seconds: Int64) -> SoundFile {
        SoundFile(format: format, length: .seconds(seconds))
    }

    @Test(
        "NOTE-5: a WAV file says its format and its length",
        arguments: [(1, .linearPCM), (3, .linearPCM), (6, .alaw), (7, .ulaw), (0x11, .ima4), (0x55, .other)]
            as [(UInt64, SoundFormat)]
    )
    func wave(tag: UInt64, format: SoundFormat) {
        let bytes = Self.wave(tag: tag, bytesPerSecond: 16_000, dataBytes: 32_000)
        #expect(SoundHeader.read(bytes, size: bytes.count + 32_000) == Self.file(format, 2))
        // What the header promises and the file does not have is not heard.
        #expect(SoundHeader.read(bytes, size: bytes.count + 16_000) == Self.file(format, 1))
    }

    @Test(
        "NOTE-5: an AIFF file says its format and its length",
        arguments: [
            (nil, 24_000, .linearPCM, 3), ("sowt", 24_000, .linearPCM, 3), ("ulaw", 8_000, .ulaw, 1),
            ("alaw", 8_000, .alaw, 1), ("ima4", 125, .ima4, 1), ("MAC3", 8_000, .other, 1),
        ] as [(String?, UInt64, SoundFormat, Int64)]
    )
    func aiff(code: String?, frames: UInt64, format: SoundFormat, seconds: Int64) {
        let bytes = Self.aiff(code: code, frames: frames)
        #expect(SoundHeader.read(bytes, size: 100_000) == Self.file(format, seconds))
    }

    @Test(
        "NOTE-5: a Core Audio file says its format and its length",
        arguments: [
            ("lpcm", 2, 1, 64_000, .linearPCM, 4), ("ima4", 34, 64, 34 * 250, .ima4, 2),
            ("ulaw", 1, 1, 8_000, .ulaw, 1),
        ] as [(String, UInt64, UInt64, UInt64, SoundFormat, Int64)]
    )
    func core(
        code: String,
        packetBytes: UInt64,
        packetFrames: UInt64,
        data: UInt64,
        format: SoundFormat,
        seconds: Int64
    ) {
        let bytes = Self.core(code: code, packetBytes: packetBytes, packetFrames: packetFrames, dataBytes: data)
        #expect(SoundHeader.read(bytes, size: bytes.count + Int(data)) == Self.file(format, seconds))
    }

    @Test("NOTE-5: AAC in a Core Audio file is in another format")
    func compressed() {
        let bytes = Self.core(code: "aac ", packetBytes: 0, packetFrames: 1_024, dataBytes: 1_000)
        #expect(SoundHeader.read(bytes, size: 2_000)?.format == .other)
    }

    @Test("Cut anywhere or changed anywhere a header is read without harm")
    func damaged() {
        let files = [
            Self.wave(tag: 1, bytesPerSecond: 16_000, dataBytes: 32_000), Self.aiff(code: "ima4", frames: 125),
            Self.core(code: "lpcm", packetBytes: 2, packetFrames: 1, dataBytes: 64_000),
        ]
        for bytes in files {
            for place in bytes.indices {
                _ = SoundHeader.read(Array(bytes[..<place]), size: bytes.count)
                for value in [0, 0x7f, 0xff] as [UInt8] {
                    var changed = bytes
                    changed[place] = value
                    _ = SoundHeader.read(changed, size: .max)
                }
            }
        }
        #expect(SoundHeader.read([], size: 0) == nil)
        #expect(SoundHeader.read(Array("no sound at all, but some text".utf8), size: 30) == nil)
    }

    @Test("NOTE-5: a sound is a file of the bundle, and of nothing else")
    func ofTheBundle() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sounds-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bytes = Self.wave(tag: 1, bytesPerSecond: 16_000, dataBytes: 16_000)
        try Data(bytes + [UInt8](repeating: 0, count: 16_000)).write(to: folder.appending(path: "chime.wav"))
        #expect(SoundFiles.sound("chime.wav", of: folder.path) == Self.file(.linearPCM, 1))
        for name in ["", "other.wav", "../chime.wav", "..", folder.appending(path: "chime.wav").path] {
            #expect(SoundFiles.sound(name, of: folder.path) == nil)
        }
    }
}

@Suite("The simulated screen")
struct SimulatedNotificationsTests {
    @Test("NOTE-6: the user taps what he sees, and nothing else")
    func tap() throws {
        let names = NameTable()
        let screen = SimulatedNotifications(names: names)
        var reports: [SourceReport] = []
        screen.report = { reports.append($0) }
        let app = AppID(3)
        let tea = names.intern("tea")
        var content = NotificationContent()
        content.body = "It is ready."
        screen.carryOut(
            .notification(.show(app, .init(identifier: tea, content: content, sound: .none, at: .zero))),
            at: .zero
        )
        func unseen(_ what: String) -> SourceFailure {
            SourceFailure(.wrongState, "the user sees no notification " + what)
        }
        #expect(throws: unseen("'coffee' of cook; the screen shows of it: tea")) {
            try screen.tap("coffee", of: app, called: "cook", .none)
        }
        #expect(throws: unseen("'tea' of other; the screen shows of it: none")) {
            try screen.tap("tea", of: AppID(4), called: "other", .none)
        }
        try screen.tap("tea", of: app, called: "cook", .none)
        #expect(reports.map(\.event.kind) == [.notificationTapped])
        #expect(reports.map(\.payload) == [.notification(content)])
        screen.carryOut(.notification(.withdraw(app, tea)), at: .zero)
        #expect(throws: unseen("'tea' of cook; the screen shows of it: none")) {
            try screen.tap("tea", of: app, called: "cook", .none)
        }
    }

    @Test("A screen read from a snapshot shows the same")
    func snapshot() throws {
        let names = NameTable()
        let screen = SimulatedNotifications(names: names)
        let tea = names.intern("tea")
        let shown = ShownNotification(identifier: tea, content: NotificationContent(), sound: .own, at: .zero)
        screen.carryOut(.notification(.show(AppID(1), shown)), at: .zero)
        var writer = SnapshotCoder()
        try screen.code(with: &writer)
        var reader = SnapshotCoder(reading: writer.bytes, names: UInt32(names.count))
        let other = SimulatedNotifications(names: names)
        try other.code(with: &reader)
        #expect(other.shown(of: AppID(1)) == [shown])
    }
}

import Foundation
import Testing
import WakeModel
import WakePorts
import WakeSystem

@testable import WakeBench

/// A bridge whose program is a script of the shell. The script has `ready`, which says that it is ready, `go`, which waits
/// for the stage's word, and `stay`, which ends by a signal alone; it writes its words into the file `starts` each time.
private final class Stage {
    let loop: EventLoop
    let folder: URL
    private(set) var notes: [String] = []
    private let bridges: RadioBridges

    init(_ script: String) throws {
        loop = try EventLoop()
        folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-bridge-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let head = """
            #!/bin/sh
            ready() { echo >&3; }
            go() { until [ -e '\(folder.path)/go' ]; do sleep 0.02; done; }
            stay() { sleep 1000; }
            echo "$*" >>'\(folder.path)/starts'

            """
        try Data((head + script + "\n").utf8).write(to: folder.appending(path: "program"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path + "/program")
        bridges = RadioBridges(keys: folder.path + "/keys", loop: loop)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The words of the program's starts.
    var starts: [String] {
        let text = (try? String(contentsOf: folder.appending(path: "starts"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    func share(_ transports: String...) throws -> BluetoothBridgeShare {
        let share = try bridges.share(transports, program: folder.path + "/program") { _ in }
        share.note = { [weak self] in self?.notes.append($0) }
        return share
    }

    /// A share that has started; its program goes on.
    func begin() throws -> BluetoothBridgeShare {
        let share = try share("usb:0")
        try share.start(at: .zero)
        try Data().write(to: folder.appending(path: "go"))
        return share
    }

    /// Serves until something is so; at most 20 seconds.
    func turn(until condition: () -> Bool) throws {
        let deadline = MonotonicClock.now() + 20_000_000_000
        while !condition(), MonotonicClock.now() < deadline {
            // Of a file nothing tells the loop.
            try loop.runOnce(timeout: 20_000_000)
        }
        #expect(condition(), "\(notes)")
    }
}

@Suite("The radio's program of a run")
struct BluetoothBridgeTests {
    @Test("A start waits until the program is ready, and gives it a bus, the keys' folder and the transports")
    func begins() throws {
        let stage = try Stage("ready; stay")
        let share = try stage.share("usb:0", "pty:")
        try share.start(at: .zero)
        let words = try #require(stage.starts.first)
        #expect(words.hasSuffix(" --ready 3 --parent 4 --keys \(stage.folder.path)/keys --hci usb:0 --hci pty:"))
        let folder = try #require(words.split(separator: " ").dropFirst().first)
        #expect("\(share.address)".contains("unix:path=\(folder)/bus"))
        share.stop()
    }

    @Test("A program that ends before it is ready refuses the start with its last words")
    func refuses() throws {
        let last = "usb:0: cannot be opened: no such dongle; plug it in"
        let stage = try Stage("echo 'radio: first'; echo 'radio: \(last)' >&2; exit 12")
        let share = try stage.share("usb:0")
        let refusal = SourceFailure(.environment, "bluetooth=hci: \(last)")
        #expect(throws: refusal) { try share.start(at: .zero) }
        #expect(stage.notes == [])
    }

    @Test("What the program says once it is ready is noted, each line without its own name, and nothing of before")
    func says() throws {
        let lines = "echo 'radio: pairing failed'; printf 'half'; echo ' a line' >&2"
        let stage = try Stage("echo 'radio: begins'; ready; go; \(lines); stay")
        let share = try stage.begin()
        try stage.turn { stage.notes.count == 2 }
        #expect(stage.notes == ["bluetooth=hci: pairing failed", "bluetooth=hci: half a line"])
        share.stop()
    }

    @Test("A long line is noted as far as 2000 bytes, and of many lines the first hundred")
    func saysMuch() throws {
        let stage = try Stage("ready; go; printf '%05000d\\n' 7; seq 200; echo; : >\"$0.over\"; stay")
        let share = try stage.begin()
        try stage.turn { FileManager.default.fileExists(atPath: stage.folder.path + "/program.over") }
        while try stage.loop.runOnce(timeout: 0) {}
        #expect(stage.notes.count == 100)
        #expect(stage.notes[0] == "bluetooth=hci: " + String(repeating: "0", count: 2_000))
        #expect(stage.notes[1] == "bluetooth=hci: 1")
        #expect(stage.notes[99] == "bluetooth=hci: 99; no more of what it says is noted")
        share.stop()
    }

    @Test("A program that ends time after time is started again; its end, what it said and its return are noted once")
    func startsAgain() throws {
        let stage = try Stage("ready; go; echo 'radio: the bus is gone'; exit 3")
        let share = try stage.begin()
        let again = "bluetooth=hci: the radio's program is there again"
        try stage.turn { stage.starts.count >= 3 && stage.notes.contains(again) }
        let said = ["the bus is gone", "the radio's program ended with 3; it is started again each time"]
        #expect(stage.notes == said.map { "bluetooth=hci: \($0)" } + [again])
        share.stop()
    }

    @Test("An end without a word is noted as that")
    func endsSilently() throws {
        let stage = try Stage("ready; go; kill -9 $$")
        let share = try stage.begin()
        try stage.turn { !stage.notes.isEmpty }
        let said = "the radio's program was ended by signal 9: it has said nothing; it is started again each time"
        #expect(stage.notes == ["bluetooth=hci: \(said)"])
        share.stop()
    }

    @Test("Runs that name the same transports share one program, which ends with the last of them")
    func isShared() throws {
        let stage = try Stage("trap \"echo >>'$(dirname \"$0\")/ended'; exit\" TERM; ready; stay & wait")
        let first = try stage.share("usb:0")
        let second = try stage.share("usb:0")
        let other = try stage.share("usb:1")
        for each in [first, second, other] { try each.start(at: .zero) }
        #expect(stage.starts.count == 2)
        #expect("\(first.address)" == "\(second.address)" && "\(first.address)" != "\(other.address)")
        let ended = stage.folder.path + "/ended"
        other.stop()
        try FileManager.default.removeItem(atPath: ended)
        first.stop()
        #expect(!FileManager.default.fileExists(atPath: ended))
        second.stop()
        #expect(FileManager.default.fileExists(atPath: ended))
    }
}

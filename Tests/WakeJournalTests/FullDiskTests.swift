import Foundation
import Glibc
import Testing
import WakeJournal
import WakeModel
import WakePorts

/// A file system of its own with a few megabytes, unmounted with the value.
final class SmallDisk {
    let folder: URL

    /// Nil when this machine does not let us mount.
    ///
    /// - Parameter files: how many there can be, the folder included.
    init?(bytes: Int, files: Int? = nil) {
        folder = FileManager.default.temporaryDirectory.appending(path: "wake-disk-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let options = "size=\(bytes)" + (files.map { ",nr_inodes=\($0)" } ?? "")
        let mounted = unsafe options.withCString { unsafe mount("tmpfs", folder.path, "tmpfs", 0, $0) == 0 }
        if !mounted {
            try? FileManager.default.removeItem(at: folder)
            return nil
        }
    }

    deinit {
        unsafe umount2(folder.path, Int32(MNT_DETACH))
        try? FileManager.default.removeItem(at: folder)
    }

    /// Whether this machine lets us mount.
    static let possible = SmallDisk(bytes: 1 << 20) != nil
}

@Suite("A journal on a disk that is truly full")
struct FullDiskTests {
    @Test(
        "A disk that can have no more files is full, whatever space it has",
        .enabled(if: SmallDisk.possible, "mounting a small file system needs the right to do so")
    )
    func noMoreFiles() throws {
        // The folder, the lock and the journal; its log has no room.
        let disk = try #require(SmallDisk(bytes: 1 << 20, files: 3))
        let path = disk.folder.appending(path: "journal.sqlite").path
        #expect(throws: JournalError(.full, path: path)) {
            let journal = try SQLiteJournal(creating: path, meta: .example)
            try journal.turn(1, payload: .none)
        }
    }

    @Test(
        "The turn that does not fit is refused, and succeeds once there is space; no turn is lost",
        .enabled(if: SmallDisk.possible, "mounting a small file system needs the right to do so")
    )
    func fullAndFree() throws {
        let disk = try #require(SmallDisk(bytes: 3 << 20))
        let ballast = disk.folder.appending(path: "ballast")
        try Data(repeating: 1, count: 1 << 20).write(to: ballast)
        let path = disk.folder.appending(path: "journal.sqlite").path
        var journal: SQLiteJournal? = try SQLiteJournal(creating: path, meta: .example)
        var number: UInt64 = 0
        let value = EventPayload.value([UInt8](repeating: 7, count: 500))
        let fault = #expect(throws: JournalError.self) {
            while number < 100_000 {
                try journal?.turn(number + 1, payload: value)
                number += 1
            }
        }
        #expect(fault == JournalError(.full, path: path))
        #expect(number > 100)
        #expect(throws: JournalError(.full, path: path)) { try journal?.turn(number + 1, payload: value) }
        try FileManager.default.removeItem(at: ballast)
        for _ in 0..<100 {
            number += 1
            try journal?.turn(number, payload: value)
        }
        journal = nil
        #expect(try SQLiteJournal(opening: path).sequences() == Array(1...number))
    }
}

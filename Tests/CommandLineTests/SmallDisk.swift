import ChildProcess
import Foundation
import Glibc

/// A small disk in memory.
struct SmallDisk {
    private let path: String

    /// Whether one can be mounted here.
    static let canMount: Bool = {
        guard geteuid() == 0 else { return false }
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-mount-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        guard let disk = try? SmallDisk(folder) else { return false }
        disk.unmount()
        return true
    }()

    /// Makes the folder, and mounts the disk there.
    ///
    /// - Parameter size: in KiB.
    init(_ path: String, size: Int = 64) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard Self.call(["mount", "-t", "tmpfs", "-o", "size=\(size)k", "tmpfs", path]) else {
            throw CocoaError(.fileWriteNoPermission)
        }
    }

    /// Mounts a file on another instead.
    init(mounting file: String, on path: String) throws {
        self.path = path
        guard Self.call(["mount", "--bind", file, path]) else { throw CocoaError(.fileWriteNoPermission) }
    }

    func unmount() { _ = Self.call(["umount", "-l", path]) }

    /// Leaves no room on it.
    func fill() { _ = Self.call(["dd", "if=/dev/zero", "of=\(path)/fill", "bs=4096", "count=1000"]) }

    private static func call(_ words: [String]) -> Bool {
        let process = ChildProcess("/usr/bin/env", words)
        (process.standardOutput, process.standardError) = (.null, .null)
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

import Foundation
import Glibc

/// Whole folders of the bench's own.
package enum FolderTree {
    /// A folder could not be removed or copied.
    package struct Failure: Error, Hashable, Sendable {
        package var path: String
        package var reason: String
    }

    /// Removes a folder and all in it; one that is not there is none to remove. Links in it are not followed.
    package static func remove(_ path: String) throws(Failure) {
        do { try FileManager.default.removeItem(atPath: path) } catch CocoaError.fileNoSuchFile {} catch {
            throw Failure(path: path, reason: error.localizedDescription)
        }
    }

    /// Copies a folder and all in it. A pipe is made anew and not opened, which would wait for its other end; sockets and devices,
    /// which a copy would not be, are left out.
    package static func copy(_ path: String, to other: String) throws(Failure) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw failure(path) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: try copyFolder(path, to: other, mode: status.st_mode & 0o7777)
        case S_IFREG: try attempt(other) { try FileManager.default.copyItem(atPath: path, toPath: other) }
        case S_IFLNK:
            try attempt(other) {
                let target = try FileManager.default.destinationOfSymbolicLink(atPath: path)
                try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: target)
            }
        case S_IFIFO: guard unsafe mkfifo(other, status.st_mode & 0o777) == 0 else { throw failure(other) }
        default: break
        }
    }

    private static func attempt(_ path: String, _ body: () throws -> Void) throws(Failure) {
        do { try body() } catch { throw Failure(path: path, reason: error.localizedDescription) }
    }

    private static func copyFolder(_ path: String, to other: String, mode: mode_t) throws(Failure) {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
            throw Failure(path: path, reason: error.localizedDescription)
        }
        guard unsafe mkdir(other, 0o700) == 0 else { throw failure(other) }
        for name in names { try copy("\(path)/\(name)", to: "\(other)/\(name)") }
        // Last, since it may be one in which nothing can be made.
        guard unsafe chmod(other, mode) == 0 else { throw failure(other) }
    }

    /// A call about a path has just failed.
    private static func failure(_ path: String) -> Failure {
        Failure(path: path, reason: unsafe String(cString: strerror(errno)))
    }

    /// What is in a folder, in the order of the names; nothing when it is not there.
    package static func names(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// A UUID that nothing else has.
    package static func newUUID() -> String { UUID().uuidString }

    /// Whether a text can be a UUID.
    package static func isUUID(_ text: String) -> Bool { UUID(uuidString: text) != nil }
}

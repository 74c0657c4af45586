import Foundation

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

    package static func copy(_ path: String, to other: String) throws(Failure) {
        do { try FileManager.default.copyItem(atPath: path, toPath: other) } catch {
            throw Failure(path: other, reason: error.localizedDescription)
        }
    }

    /// What is in a folder, in the order of the names; nothing when it is not there.
    package static func names(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// A UUID that nothing else has.
    package static func newUUID() -> String { UUID().uuidString }
}

import Foundation
import WakeModel

/// The installed apps of a run: copies of bundle folders, one an identifier, each put there in one step or not at all.
package struct BundleStore: Sendable {
    /// The most files of a bundle.
    package static let fileLimit = 100_000
    private static let depthLimit = 64

    /// The folder of the store.
    package let folder: String

    /// The store in a folder, which is made when it is not there. Left-overs of an install that was cut short go.
    ///
    /// - Throws: ``BundleError`` when the folder cannot be made.
    package init(folder: String) throws(BundleError) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw BundleError(bundle: folder, found: "the store cannot be made", expected: "a folder to write in")
        }
        self.folder = resolved(folder) ?? folder
        for name in names() {
            let path = self.folder + "/" + name
            if name.hasPrefix(Self.olderPrefix) {
                putBack(path, at: self.folder + "/" + name.dropFirst(Self.olderPrefix.utf8.count))
            } else if name.hasPrefix(Self.temporaryPrefix) {
                remove(path)
            }
        }
    }

    /// Copies a bundle folder into the store; one of the same identifier is replaced.
    ///
    /// - Returns: the installed bundle, with its warnings.
    /// - Throws: ``BundleError``; the store is then as it was.
    package func install(_ path: String) throws(BundleError) -> AppBundle {
        let source = try AppBundle.read(path)
        var files = 0
        try check(source.path, below: source.path, of: path, depth: 1, &files)
        let temporary = folder + "/" + Self.temporaryPrefix + source.identifier
        remove(temporary)
        defer { remove(temporary) }
        let name = source.path.split(separator: "/").last.map(String.init) ?? "App.app"
        do {
            try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: source.path, toPath: temporary + "/" + name)
        } catch {
            throw BundleError(
                bundle: path,
                found: "it cannot be copied to \(folder)",
                expected: "room and the right to"
            )
        }
        // What was copied is what counts: the source may have changed meanwhile.
        var copy = try AppBundle.read(temporary + "/" + name)
        guard copy.identifier == source.identifier else {
            throw BundleError(bundle: path, found: "a bundle that changes", expected: "it to stay as it is")
        }
        let place = folder + "/" + source.identifier
        try put(temporary, at: place, for: path)
        copy.path = place + copy.path.dropFirst(temporary.utf8.count)
        copy.executable = place + copy.executable.dropFirst(temporary.utf8.count)
        copy.warnings = source.warnings
        return copy
    }

    /// The installed bundles in order of identifier. What cannot be read is left out.
    package func list() -> [AppBundle] {
        names().filter { !$0.hasPrefix(".") }.compactMap { bundle($0) }
    }

    /// The installed bundle of an identifier.
    package func bundle(_ identifier: String) -> AppBundle? {
        let place = folder + "/" + identifier
        guard !identifier.isEmpty, !identifier.hasPrefix("."), !identifier.contains("/"),
            let members = try? FileManager.default.contentsOfDirectory(atPath: place),
            let name = members.first(where: { $0.hasSuffix(".app") }),
            let found = try? AppBundle.read(place + "/" + name), found.identifier == identifier
        else { return nil }
        return found
    }

    /// Removes the bundle of an identifier.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    package func uninstall(_ identifier: String) -> Bool {
        guard bundle(identifier) != nil else { return false }
        let temporary = folder + "/" + Self.temporaryPrefix + identifier
        remove(temporary)
        guard unsafe rename(folder + "/" + identifier, temporary) == 0 else { return false }
        remove(temporary)
        return true
    }

    private static let temporaryPrefix = ".new-"
    private static let olderPrefix = ".old-"

    private func names() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    private func remove(_ path: String) {
        if kind(of: path) != nil { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Files, folders and links that stay inside are copied; anything else is refused.
    private func check(
        _ path: String,
        below root: String,
        of bundle: String,
        depth: Int,
        _ files: inout Int
    ) throws(BundleError) {
        func error(_ found: String, _ expected: String) -> BundleError {
            let inside = String(path.dropFirst(root.utf8.count + 1))
            return BundleError(bundle: bundle, key: printable(inside), found: found, expected: expected)
        }
        files += 1
        if files > Self.fileLimit { throw error("too many files", "at most \(Self.fileLimit)") }
        if depth > Self.depthLimit { throw error("too many levels", "at most \(Self.depthLimit)") }
        switch kind(of: path) {
        case .typeRegular: return
        case .typeSymbolicLink:
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
            guard let target, !target.hasPrefix("/"), let end = resolved(path), end == root || end.hasPrefix(root + "/")
            else { throw error("a link that leaves the bundle or leads nowhere", "a link inside the bundle") }
        case .typeDirectory:
            let members: [String]
            do {
                members = try FileManager.default.contentsOfDirectory(atPath: path)
            } catch {
                throw BundleError(bundle: bundle, found: "a folder that cannot be read", expected: "the right to")
            }
            for member in members.sorted() {
                try check(path + "/" + member, below: root, of: bundle, depth: depth + 1, &files)
            }
        default: throw error("neither a file nor a folder nor a link", "one of them")
        }
    }

    /// Puts a folder in its place, or leaves what was there before.
    private func put(_ temporary: String, at place: String, for bundle: String) throws(BundleError) {
        if unsafe rename(temporary, place) == 0 { return }
        // An older one is there. If the program ends between the next two lines, the next store puts it back.
        let older = folder + "/" + Self.olderPrefix + (place.split(separator: "/").last ?? "")
        remove(older)
        if unsafe rename(place, older) == 0, unsafe rename(temporary, place) == 0 {
            remove(older)
            return
        }
        let reason = errno
        putBack(older, at: place)
        throw BundleError(
            bundle: bundle,
            found: "it cannot be put into \(folder) (errno \(reason))",
            expected: "the right to"
        )
    }

    private func putBack(_ older: String, at place: String) {
        if kind(of: place) == nil { _ = unsafe rename(older, place) }
        remove(older)
    }
}

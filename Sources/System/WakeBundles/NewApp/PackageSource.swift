import Foundation

/// Where an app's Package.swift finds Wakebench.
package enum PackageSource: Hashable, Sendable {
    /// A folder of this machine, absolute.
    case folder(String)
    /// A git repository, and a tag of it; without one its branch main.
    case git(url: String, tag: String?)

    /// What `--package` says: a folder, or the URL of a git repository with `@TAG` behind it.
    ///
    /// - Returns: nil for what is neither a URL nor the folder of Wakebench's package.
    package init?(_ text: String) {
        if let found = Self.folder(text) {
            self = .folder(found)
            return
        }
        var (url, tag): (Substring, String?) = (text[...], nil)
        // A tag has neither slash nor colon here; the user of git@host:path is none.
        if let at = text.lastIndex(of: "@"), !text[at...].contains(where: { $0 == "/" || $0 == ":" }) {
            (url, tag) = (text[..<at], String(text[text.index(after: at)...]))
        }
        let isPlain = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "\\" && $0.value < 0x7f }
        let colon = url.firstIndex(of: ":")
        let isURL = url.contains("://") || (url.contains("@") && colon != nil)
        guard isPlain, isURL, tag != "", let last = url.last, last != "/", last != ":" else { return nil }
        self = .git(url: String(url), tag: tag)
    }

    /// The folder of Wakebench's package at a path; nil when it is none.
    package static func folder(_ path: String) -> String? {
        guard let folder = resolved(path), let manifest = manifest(of: folder),
            manifest.contains("name: \"wakebench\""), kind(of: folder + "/Sources/SDK/UIKit") == .typeDirectory
        else { return nil }
        return folder
    }

    /// Whether the package has a target of this name, so that no app that uses it can have one. Of a repository elsewhere
    /// only Swift Package Manager can tell.
    package func hasTarget(_ name: String) -> Bool {
        guard case .folder(let path) = self else { return false }
        return Self.manifest(of: path)?.contains("\"\(name)\"") == true
    }

    /// Its line in Package.swift.
    var line: String {
        switch self {
        case .folder(let path): return ".package(path: \(Self.quoted(path)))"
        case .git(let url, nil): return ".package(url: \(Self.quoted(url)), branch: \"main\")"
        case .git(let url, let tag?):
            let version = tag.hasPrefix("v") ? tag.dropFirst() : tag[...]
            let numbers = version.split(separator: ".", omittingEmptySubsequences: false)
            let isVersion = numbers.count == 3 && numbers.allSatisfy { Int($0) != nil && Int($0)! >= 0 }
            return isVersion
                ? ".package(url: \(Self.quoted(url)), exact: \"\(version)\")"
                : ".package(url: \(Self.quoted(url)), revision: \(Self.quoted(tag)))"
        }
    }

    /// The name that products are asked of: the last part of where it lies. No other package of a build has it, in
    /// capitals or not, and the app's own is that of its folder.
    package var identity: String {
        let place: String
        switch self {
        case .folder(let path): place = path
        case .git(let url, _): place = url.hasSuffix(".git") ? String(url.dropLast(4)) : url
        }
        return place.split { $0 == "/" || $0 == ":" }.last.map(String.init) ?? "wakebench"
    }

    static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func manifest(of folder: String) -> String? {
        try? String(contentsOfFile: folder + "/Package.swift", encoding: .utf8)
    }
}

import Foundation
import WakeDevices
import WakeModel

/// An app's bundle folder `Name.app/`, checked: its Info.plist says what the bench must know, and its program is there.
package struct AppBundle: Hashable, Sendable {
    /// The folder, absolute and without symbolic links.
    package var path: String
    /// CFBundleIdentifier.
    package var identifier: String
    /// CFBundleDisplayName, else CFBundleName, else the folder's name without `.app`.
    package var name: String
    /// The program, absolute and without symbolic links, inside the folder.
    package var executable: String
    /// The known values of UIBackgroundModes (MODE-1).
    package var modes: BackgroundModes
    /// UIApplicationExitsOnSuspend (OPT-1).
    package var exitsOnSuspend: Bool
    /// DTSDKName, else DTPlatformVersion (VOIP-1).
    package var sdk = SDKVersion.unknown
    /// What the areas read.
    var keys: AreaKeys
    /// One line for each thing that is odd but harmless.
    package var warnings: [String]

    /// What the router must know.
    package func manifest(_ names: NameTable) -> AppManifest {
        var manifest = AppManifest(
            bundle: names.intern(identifier),
            modes: modes,
            exitsOnSuspend: exitsOnSuspend,
            sdk: sdk
        )
        keys.declare(in: &manifest, names)
        return manifest
    }

    /// Reads a bundle folder.
    ///
    /// - Throws: ``BundleError`` that names the key when Info.plist is missing or malformed or a needed key is wrong, or
    ///   when the program is missing, cannot be executed or lies outside the folder (MODE-3).
    package static func read(_ path: String) throws(BundleError) -> AppBundle {
        guard let folder = resolved(path), kind(of: folder) == .typeDirectory else {
            throw BundleError(bundle: path, found: "no such folder", expected: "an app bundle such as Heart.app")
        }
        let folderName = folder.split(separator: "/").last.map(String.init) ?? ""
        guard folderName.hasSuffix(".app"), folderName.utf8.count > 4 else {
            throw BundleError(bundle: path, found: "a folder named '\(folderName)'", expected: "a name ending in .app")
        }
        let plist = InfoPlist(bundle: path, values: try InfoPlist.read(folder + "/Info.plist", of: path))
        let (modes, unknown) = try plist.backgroundModes()
        var name = String(folderName.dropLast(4))
        if let given = try plist.text("CFBundleName") { name = given }
        if let given = try plist.text("CFBundleDisplayName") { name = given }
        return AppBundle(
            path: folder,
            identifier: try plist.identifier(),
            name: name,
            executable: try executable(named: try plist.required("CFBundleExecutable"), in: folder, of: path),
            modes: modes,
            exitsOnSuspend: try plist.flag("UIApplicationExitsOnSuspend"),
            sdk: try plist.sdk(),
            keys: try AreaKeys(plist, in: folder),
            warnings: unknown.isEmpty ? [] : [warning(about: unknown, in: path)]
        )
    }

    private static func warning(about unknown: [String], in path: String) -> String {
        let values = unknown.map { "'\($0)'" }.joined(separator: ", ")
        let known = BackgroundMode.allCases.map(\.plistValue).joined(separator: ", ")
        return "\(path): UIBackgroundModes: unknown \(values), without effect (MODE-1); known are \(known)"
    }

    /// The program of a bundle, by its CFBundleExecutable.
    static func executable(
        named name: String,
        in folder: String,
        of bundle: String
    ) throws(BundleError) -> String {
        func error(_ found: String) -> BundleError {
            BundleError(
                bundle: bundle,
                key: "CFBundleExecutable",
                found: found,
                expected: "the name of an executable file in the bundle"
            )
        }
        if name.hasPrefix("/") || name.utf8.contains(0) { throw error("'\(printable(name))'") }
        guard let program = resolved(folder + "/" + name) else { throw error("no file '\(printable(name))'") }
        if !program.hasPrefix(folder + "/") { throw error("'\(printable(name))', which lies outside the bundle") }
        if kind(of: program) != .typeRegular { throw error("'\(printable(name))', which is no file") }
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw error("'\(printable(name))', which is not executable")
        }
        return program
    }
}

/// The values of an Info.plist.
package struct InfoPlist {
    /// The largest file, in bytes.
    static let byteLimit = 1 << 20
    /// The most arrays and dictionaries, and with them the deepest nesting.
    static let containerLimit = 1000

    let bundle: String
    let values: [String: Any]

    private func error(_ key: String, _ found: String, _ expected: String) -> BundleError {
        BundleError(bundle: bundle, key: key, found: found, expected: expected)
    }

    func text(_ key: String) throws(BundleError) -> String? {
        guard let value = values[key] else { return nil }
        guard let text = value as? String, !text.isEmpty else { throw error(key, describe(value), "a text") }
        return text
    }

    func required(_ key: String) throws(BundleError) -> String {
        guard let text = try text(key) else { throw error(key, "nothing", "a text") }
        return text
    }

    func identifier() throws(BundleError) -> String {
        let text = try required("CFBundleIdentifier")
        let plain = text.unicodeScalars.allSatisfy { scalar in
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                || scalar == "." || scalar == "-"
        }
        // Two dots would make a path of it.
        guard plain, text.utf8.count <= 155, !text.hasPrefix("."), !text.contains("..") else {
            throw error(
                "CFBundleIdentifier",
                "'\(printable(text))'",
                "at most 155 letters, digits, hyphens and single dots, such as com.example.heart"
            )
        }
        return text
    }

    func flag(_ key: String) throws(BundleError) -> Bool {
        guard let value = values[key] else { return false }
        guard let flag = value as? Bool else { throw error(key, describe(value), "true or false") }
        return flag
    }

    /// An array of texts; empty when there is none.
    func texts(_ key: String, atMost limit: Int) throws(BundleError) -> [String] {
        guard let value = values[key] else { return [] }
        let expected = "an array of at most \(limit) texts"
        guard let members = value as? [Any], members.count <= limit else {
            throw error(key, describe(value), expected)
        }
        var texts: [String] = []
        for member in members {
            guard let text = member as? String, !text.isEmpty else { throw error(key, describe(member), expected) }
            texts.append(text)
        }
        return texts
    }

    /// What the bundle was built with (VOIP-1); unknown when it does not say.
    func sdk() throws(BundleError) -> SDKVersion {
        for key in ["DTSDKName", "DTPlatformVersion"] {
            guard let text = try text(key) else { continue }
            guard let version = SDKVersion(text: text) else {
                throw error(key, "'\(printable(text))'", "a version such as iphoneos9.3 or 9.3")
            }
            return version
        }
        return .unknown
    }

    /// The known modes, and the values that are none, in the order of the file.
    func backgroundModes() throws(BundleError) -> (BackgroundModes, unknown: [String]) {
        let key = "UIBackgroundModes"
        guard let value = values[key] else { return ([], []) }
        guard let members = value as? [Any] else { throw error(key, describe(value), "an array of texts") }
        var known: [BackgroundMode] = []
        var unknown: [String] = []
        for member in members {
            guard let text = member as? String else { throw error(key, describe(member), "an array of texts") }
            if let mode = BackgroundMode(plistValue: text) {
                known.append(mode)
            } else {
                unknown.append(printable(text))
            }
        }
        return (BackgroundModes(known), unknown)
    }

    private func describe(_ value: Any) -> String {
        switch value {
        case let text as String: text.isEmpty ? "an empty text" : "'\(printable(text))'"
        case is [Any]: "an array"
        case is [String: Any]: "a dictionary"
        case let flag as Bool: "\(flag)"
        default: "a value of another kind"
        }
    }
}

/// A text made fit for one line of an error.
func printable(_ text: String) -> String { excerpt(text) }

/// The path without symbolic links; nil when nothing is there.
func resolved(_ path: String) -> String? {
    guard !path.isEmpty, !path.utf8.contains(0), let found = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
}

/// What lies at a path, a symbolic link not followed.
func kind(of path: String) -> FileAttributeType? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
}

import Foundation
import Glibc
import WakeBundles

/// Where this program lies.
enum Installation {
    /// Its file, without symbolic links.
    static let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")

    /// The repository that it was built in: what lies around the .build that it is in. Nil when it is elsewhere.
    static let repository: String? = {
        var parts = program?.split(separator: "/") ?? []
        while let last = parts.popLast() {
            if last == ".build" { return PackageSource.folder("/" + parts.joined(separator: "/")) }
        }
        return nil
    }()

    /// The programs of Scripts/radio.
    enum RadioProgram: String {
        /// org.bluez on HCI transports.
        case bridge
        /// Device files on HCI transports.
        case air
    }

    /// A program of the folder that WAKEBENCH_RADIO names, else of the repository's Scripts/radio; nil where it is not.
    static func radio(_ program: RadioProgram) -> String? {
        let named = ProcessInfo.processInfo.environment["WAKEBENCH_RADIO"]
        guard let folder = named ?? repository.map({ $0 + "/Scripts/radio" }) else { return nil }
        let file = "\(folder)/\(program.rawValue)"
        return FileManager.default.isExecutableFile(atPath: file) ? file : nil
    }

    /// How it is called from any folder: by its name where PATH leads to it, else by its path.
    static var command: String {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        let first = folders.lazy.filter { $0.hasPrefix("/") }.map { "\($0)/wakebench" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let program else { return "wakebench" }
        if let first, realpath(first) == program { return "wakebench" }
        return quoted(program)
    }

    /// A word as a shell takes it.
    static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                || "/._-+@%,:=".unicodeScalars.contains(scalar)
        }
        if isPlain, !word.isEmpty { return word }
        return "'" + word.replacing("'", with: "'\\''") + "'"
    }

    private static func realpath(_ path: String) -> String? {
        guard let found = unsafe Glibc.realpath(path, nil) else { return nil }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }
}

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

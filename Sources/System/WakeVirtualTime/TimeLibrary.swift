import CVirtualTime
import Glibc
import WakeSystem

/// The library that keeps an app's processes to its virtual clock.
package enum TimeLibrary {
    package static let name = "libWakebenchTime.so"

    /// Where it is looked for: beside the program or in the lib folder beside the program's own.
    ///
    /// - Parameter folder: the program's; nil for the one that this code lies in.
    /// - Returns: its path; nil when it is in neither.
    package static func path(beside folder: String? = nil) -> String? {
        guard let folder = folder ?? ownFolder else { return nil }
        return ["\(folder)/\(name)", "\(folder)/../lib/\(name)"].first { unsafe access($0, R_OK) == 0 }
    }

    /// The folder of the program, or of the library, that this code is part of.
    package static var ownFolder: String? {
        guard let whole = unsafe wake_time_own_file() else { return nil }
        defer { unsafe free(whole) }
        let path = unsafe String(cString: whole)
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }
}

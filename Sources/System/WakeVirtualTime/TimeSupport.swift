import CVirtualTime
import Glibc
import WakeSystem

/// Whether apps can live in virtual time here.
package enum TimeSupport: Hashable, Sendable {
    /// With this library in each of them.
    case library(path: String)
    /// They cannot: in a few words, why.
    case missing(String)

    /// - Parameter folder: where the library is looked for; nil for beside the program.
    package static func examine(beside folder: String? = nil) -> TimeSupport {
        guard let path = TimeLibrary.path(beside: folder) else {
            return .missing("\(TimeLibrary.name) is not beside the program")
        }
        if let missing = unsafe wake_time_missing() {
            let reason = SystemError("", code: errno).reason
            return .missing("this kernel has no \(unsafe String(cString: missing)): \(reason)")
        }
        return .library(path: path)
    }
}

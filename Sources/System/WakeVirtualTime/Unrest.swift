import CVirtualTime
import WakeSystem

/// Why an app is not at rest: which of its threads was seen doing what.
package struct Unrest: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// It is on a processor, or about to be.
        case runs
        /// It is in a timed wait on wall time: of a program that virtual time does not reach into, such as a static one.
        case waitsOutside
        /// Its output is not taken as fast as it writes.
        case writes
        /// It cannot be looked at.
        case unknown
    }

    package let kind: Kind
    /// 0 when it is of no thread.
    package let thread: Int32
    /// The number of the system call that it was seen in; nil outside of one.
    package let call: Int?
    /// The errno of ``Kind/unknown``.
    package let code: Int32

    init(_ restless: wake_restless) {
        kind =
            switch UInt32(restless.unrest) {
            case WAKE_RUNS.rawValue: .runs
            case WAKE_WAITS_OUTSIDE.rawValue: .waitsOutside
            case WAKE_WRITES.rawValue: .writes
            default: .unknown
            }
        thread = restless.thread
        call = restless.call < 0 ? nil : restless.call
        code = restless.code
    }
}

extension Unrest: CustomStringConvertible {
    /// In a few words, for a note.
    package var description: String {
        let place = call.map { " in system call \($0)" } ?? ""
        return switch kind {
        case .runs: "thread \(thread) runs\(place)"
        case .waitsOutside: "thread \(thread) waits on wall time\(place)"
        case .writes: "thread \(thread) writes faster than its log is taken"
        case .unknown: "thread \(thread) cannot be looked at: \(SystemError("open", code: code).reason)"
        }
    }
}

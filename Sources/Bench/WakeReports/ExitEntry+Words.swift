import Glibc
import WakeModel

extension ExitEntry {
    /// How a process ended, such as `ended at its launch, exit code 3` or `was killed by a watchdog (0x8badf00d)`.
    package var words: String {
        switch cause {
        case .exit: "ended\(place), exit code \(code)"
        case .crash where code > 0: "could not be started: \(unsafe String(cString: strerror(Int32(clamping: code))))"
        case .crash: "crashed\(place), signal \(Self.signal(-code))"
        case .watchdog: "was killed by a watchdog\(place) (\(Self.hexadecimal(code))): \(overrun)"
        case .memory: "was ended to free memory"
        case .cpu: "was ended for its use of the processor"
        case .policy: "was ended by a policy of the system\(code == 0 ? "" : " (\(Self.hexadecimal(code)))")"
        case .userForceQuit: "was swiped away by the user"
        case .system: "was ended by the system"
        case .update: "was ended for an update"
        case .bench: "ended with the bench"
        }
    }

    private var place: String { atLaunch ? " at its launch" : "" }

    /// What it did not do in time.
    private var overrun: String {
        if atLaunch { return "it did not finish launching in its time [LIFE-7]" }
        if code == TerminationCode.backgroundTask { return "it did not end a background task in its time [TASK-4]" }
        return stateBefore == .background
            ? "in the background it did not return from a callback, or end a task, in its time"
            : "it did not return from a callback in its time"
    }

    private static func hexadecimal(_ code: Int64) -> String { "0x" + String(code, radix: 16) }

    /// `6 (SIGABRT)`.
    private static func signal(_ number: Int64) -> String {
        let names: [Int64: String] = [
            Int64(SIGHUP): "SIGHUP", Int64(SIGINT): "SIGINT", Int64(SIGQUIT): "SIGQUIT", Int64(SIGILL): "SIGILL",
            Int64(SIGTRAP): "SIGTRAP", Int64(SIGABRT): "SIGABRT", Int64(SIGBUS): "SIGBUS", Int64(SIGFPE): "SIGFPE",
            Int64(SIGKILL): "SIGKILL", Int64(SIGSEGV): "SIGSEGV", Int64(SIGPIPE): "SIGPIPE", Int64(SIGTERM): "SIGTERM",
            Int64(SIGXCPU): "SIGXCPU", Int64(SIGXFSZ): "SIGXFSZ", Int64(SIGSYS): "SIGSYS",
        ]
        return names[number].map { "\(number) (\($0))" } ?? "\(number)"
    }
}

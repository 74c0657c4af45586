import Glibc
import WakeModel

extension ExitEntry {
    /// How a process ended, such as `ended at its launch, exit code 3` or `was killed by a watchdog (0x8badf00d)`.
    package var words: String {
        switch cause {
        case .exit: "ended\(place), exit code \(code)"
        case .crash where code > 0: "could not be started: \(unsafe String(cString: strerror(Int32(clamping: code))))"
        // No process and no watchdog has the code 0: a `terminate` gave the cause.
        case .crash where code == 0: "was ended\(place) as if it had crashed (terminate, cause crash)"
        case .crash: "crashed\(place), signal \(Self.signal(code.magnitude))"
        case .watchdog where code == 0: "was ended\(place) as by a watchdog (terminate, cause watchdog)"
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
    private static func signal(_ number: UInt64) -> String {
        let names: [UInt64: String] = [
            UInt64(SIGHUP): "SIGHUP", UInt64(SIGINT): "SIGINT", UInt64(SIGQUIT): "SIGQUIT", UInt64(SIGILL): "SIGILL",
            UInt64(SIGTRAP): "SIGTRAP", UInt64(SIGABRT): "SIGABRT", UInt64(SIGBUS): "SIGBUS", UInt64(SIGFPE): "SIGFPE",
            UInt64(SIGKILL): "SIGKILL", UInt64(SIGSEGV): "SIGSEGV", UInt64(SIGPIPE): "SIGPIPE",
            UInt64(SIGTERM): "SIGTERM",
            UInt64(SIGXCPU): "SIGXCPU", UInt64(SIGXFSZ): "SIGXFSZ", UInt64(SIGSYS): "SIGSYS",
        ]
        return names[number].map { "\(number) (\($0))" } ?? "\(number)"
    }
}

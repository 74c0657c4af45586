import CWakeShims
import Glibc

/// Signals that this thread keeps waiting, so that a computation without a loop can ask for them between two steps.
package final class SignalSet {
    /// Those that are asked for.
    package let asked: [Int32]
    private var before: sigset_t?

    /// - Parameter numbers: SIGHUP among them is left alone when whoever started this process has it ignored (nohup(1)).
    package init(_ numbers: [Int32]) {
        asked = numbers.filter { $0 != SIGHUP || !Self.isIgnored($0) }
    }

    deinit {
        restore()
    }

    /// From now on they wait.
    package func block() throws(SystemError) {
        var (mask, old) = (set, sigset_t())
        let code = unsafe pthread_sigmask(SIG_BLOCK, &mask, &old)
        guard code == 0 else { throw SystemError("pthread_sigmask", code: code) }
        before = before ?? old
    }

    /// Whether one has come and was not taken.
    package var isPending: Bool {
        var pending = sigset_t()
        guard unsafe sigpending(&pending) == 0 else { return false }
        return asked.contains { unsafe sigismember(&pending, $0) == 1 }
    }

    /// A descriptor that can be read while one that was blocked is waiting.
    package func descriptor() throws(SystemError) -> Descriptor {
        var mask = set
        let number = unsafe wake_signal_descriptor(&mask)
        guard number >= 0 else { throw SystemError(last: "signalfd") }
        return Descriptor(owning: number)
    }

    /// Takes those that have come, and lets further ones do what they did before ``block()``.
    ///
    /// - Returns: whether any had come.
    @discardableResult
    package func restore() -> Bool {
        guard var before else { return false }
        self.before = nil
        var (mask, none) = (set, timespec())
        var hadCome = false
        while isPending, unsafe sigtimedwait(&mask, nil, &none) > 0 { hadCome = true }
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        return hadCome
    }

    private var set: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in asked { unsafe sigaddset(&set, number) }
        return set
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        // SIG_IGN is 1, which no function is.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}

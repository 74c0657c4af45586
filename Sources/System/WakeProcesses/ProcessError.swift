import WakeSystem

/// A process or its control group cannot be made.
package struct ProcessError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The executable cannot be executed: it is missing, or not a program.
        case cannotExecute(code: Int32)
        /// The app's working directory cannot be entered.
        case cannotEnterDirectory(code: Int32)
        /// The system refused something else on the way, named by its call.
        case cannotSpawn(call: String, code: Int32)
        /// An argument, or an environment entry, or the run's name holds what it must not.
        case malformed
        /// The app has a process already.
        case running
        /// The freezer that was asked for does not work here: exit code 12.
        case freezerUnavailable
    }

    package var kind: Kind
    /// One line that names the thing and the remedy.
    package var message: String

    package var description: String { message }

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    init(_ error: SystemError) {
        self.init(.cannotSpawn(call: error.call, code: error.code), error.description)
    }
}

/// What to run as an app.
package struct AppProgram: Hashable, Sendable {
    /// The executable, an absolute path.
    package var path: String
    /// The arguments, the program's own name first; when empty, the path is the name.
    package var arguments: [String]
    /// Entries of the form `NAME=value`. WAKEBENCH_SOCKET, WAKEBENCH_RUN and WAKEBENCH_PROCESS are added.
    package var environment: [String]
    /// The working directory; nil keeps the bench's.
    package var directory: String?
    /// The only processor that it may use; nil for any.
    package var processor: AppProcessor?

    package init(
        path: String,
        arguments: [String] = [],
        environment: [String] = [],
        directory: String? = nil,
        processor: AppProcessor? = nil
    ) {
        self.processor = processor
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
    }
}

/// How an app's process ended, and what it used.
package struct ProcessExit: Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        /// It exited by itself with this status, 0 to 255.
        case exited(status: Int32)
        /// A signal ended it.
        case signalled(number: Int32, core: Bool)
        /// Its end was not seen, since something killed its keeper.
        case unknown
    }

    package var pid: Int32
    package var cause: Cause
    /// Processor time in nanoseconds, that of children it has waited for included.
    package var userTime: Int64
    package var systemTime: Int64
    /// The largest resident set in bytes.
    package var peakMemory: Int64
    /// Processor time of all that the app has started, as far as it is known, in nanoseconds.
    package var processorTime: Int64 = 0
}

/// Where the threads of an app and all that it has started are listed.
package enum AppThreads: Hashable, Sendable {
    /// In an open file, by a line each.
    case list(Int32)
    /// Below this process, its own among them.
    case below(Int32)
}

/// What an app has used so far: its process and all that it has started.
package struct ProcessUsage: Hashable, Sendable {
    /// Processor time in nanoseconds. It never falls.
    package var processorTime: Int64
    /// Memory that is the app's alone, in bytes: anonymous and shared memory, in swap too, and no pages of files. It is what
    /// comes nearest to the footprint of an iOS process.
    package var footprint: Int64
}

/// What became of a freeze.
package enum FreezeOutcome: Hashable, Sendable {
    /// Nothing of the app runs.
    case frozen
    /// It did not come to rest in time and has been thawed; the reason in a line.
    case failed(String)
}

/// What became of a packet to an app.
package enum SendOutcome: Hashable, Sendable {
    case sent
    /// The app's socket is full: ask to be told when it can be written again, and keep the packet.
    case full
    /// The app has closed its socket, or has no process.
    case closed
    /// The packet cannot be sent at all: too large, or too many descriptors, or a bad one.
    case refused(code: Int32)
}

/// What is wrong with an app's socket.
package enum SocketFault: Hashable, Sendable {
    /// A packet was larger than ``ProcessHost/largestPacket`` or carried more than ``ProcessHost/mostDescriptors``
    /// descriptors; it was thrown away.
    case truncated
    /// The app sends descriptors faster than they can be closed, and is heard no more. Its process may run on.
    case flooded
    /// The app closed its socket. Its process may run on.
    case closed
    /// The app's socket closed because its process is ending; ``ProcessHost/onExit`` follows.
    case ending
}

/// Descriptors that came with a packet. Those not taken are closed after the packet has been handled.
package struct ReceivedDescriptors {
    private(set) var numbers: [Int32]

    init(_ numbers: [Int32]) {
        self.numbers = numbers
    }

    package var count: Int { numbers.count }

    /// Takes all of them, in the order in which they were sent; the caller closes them.
    package mutating func take() -> [Int32] {
        defer { numbers = [] }
        return numbers
    }
}

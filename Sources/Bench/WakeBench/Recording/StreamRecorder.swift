import WakeModel
import WakePorts
import WakeReports
import WakeSystem

/// Records what is said on a tty or a socket.
package struct StreamRecorder {
    /// How long is recorded; nil until somebody interrupts.
    package var time: Instant.Span?
    /// Takes how far it is; nil when nobody looks.
    package var tell: ((RecordingProgress) -> Void)?
    /// Told of each stage, in a few words.
    package var follow: (String) -> Void

    package init(
        time: Instant.Span?,
        follow: @escaping (String) -> Void,
        tell: ((RecordingProgress) -> Void)?
    ) {
        (self.time, self.follow, self.tell) = (time, follow, tell)
    }

    /// The speeds that a tty can have, in baud.
    package static var speeds: [Int] { TerminalLine.speeds.map(\.baud) }

    /// What was recorded.
    package struct Outcome {
        package var end: RecordingEnd
        package var time: Instant.Span
        /// How many bytes came.
        package var bytes = 0
        /// How many bytes went the other way.
        package var written = 0
        /// How many times a receiver knew where it was.
        package var fixes = 0
        /// How many connections apps made.
        package var connections = 0
        /// What is missing, a line each.
        package var notes: [String] = []
    }

    /// Writes to a file what is said, and keeps what went wrong until there is somebody to be told.
    final class Log {
        private let file: LogFile
        private var failure: ReportError?

        init(_ path: String) throws(ReportError) { file = try LogFile(creating: path, isShared: true) }

        func append(_ bytes: [UInt8]) {
            guard failure == nil else { return }
            do throws(ReportError) { try file.append(bytes) } catch { failure = error }
        }

        func flush() throws(ReportError) {
            if let failure { throw failure }
            try file.flush()
        }
    }

    static func failure(_ error: any Error) -> CommandFailure {
        switch error {
        case let error as CommandFailure: error
        case let error as SourceFailure: CommandFailure(error.exitCode, error.message)
        case let error as ReportError: CommandFailure(.environment, error)
        default: CommandFailure(.environment, "\(error)")
        }
    }
}

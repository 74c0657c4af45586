import WakeJSON
import WakeModel

/// What became of a decision in the world: the process, what it was called with, and how its wake ended.
package struct Outcome: LogLine, Hashable, Codable, Sendable {
    package var decision: DecisionID
    package var event: EventID
    /// The bundle identifier.
    package var app: String
    /// When the first of it happened, on the bench's clock.
    package var at: Instant
    /// Nanoseconds since 1970, by the machine's clock.
    package var wall: Int64
    /// 0 for a scripted app, which has no process.
    package var pid: Int32 = 0
    /// From the start of the process to its first word; nil when none was started.
    package var spawn: Instant.Span?
    /// In the order in which they were sent.
    package var delivered: [Callback] = []
    /// Whether the app has answered all of them.
    package var acknowledged = false
    /// How long the wake lasted.
    package var used: Instant.Span?
    /// How the wake ended; nil when it has not.
    package var ended: Ending?
    /// The exit record, when a process ended with the wake; 0 for none.
    package var exit: UInt64 = 0

    /// A delegate method that was called.
    package struct Callback: LogRecord, Hashable, Codable, Sendable {
        /// Such as `didUpdateValueFor` or `willRestoreState`.
        package var name: String
        package var at: Instant
        /// What the app read, in hexadecimal; nil when there was nothing to read.
        package var value: String?

        package init(name: String, at: Instant, value: String? = nil) {
            self.name = name
            self.at = at
            self.value = value
        }

        package static let blank = Callback(name: "", at: .zero)

        package mutating func code(with coder: inout RecordCoder) {
            coder.need("callback", &name)
            coder.code("t", &at)
            coder.code("value", &value)
        }
    }

    package enum Ending: UInt8, CaseIterable, Codable, RecordField, Sendable {
        case suspended, exited, killed

        package var word: String {
            switch self {
            case .suspended: "suspended"
            case .exited: "exited"
            case .killed: "killed"
            }
        }

        func write(into line: inout LineBuffer) { line.append(quoted: word) }

        static func read(_ value: JSONValue) -> Ending? { allCases.first { $0.word == value.string } }
    }

    package static let schema = "wake.outcome/1"
    package static let blank = Outcome(decision: .none, event: .none, app: "", at: .zero, wall: 0)

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("decision", &decision)
        coder.code("event", &event)
        coder.need("app", &app)
        coder.code("t", &at)
        coder.write("wall") { line in
            line.append("\"")
            line.append(wall: wall)
            line.append("\"")
        }
        coder.code("pid", &pid)
        coder.code("spawn_ms", &spawn)
        coder.code("delivered", objects: &delivered)
        coder.code("acknowledged", &acknowledged)
        coder.code("used_ms", &used)
        coder.code("ended", &ended)
        coder.code("exit_id", exit: &exit)
    }
}

extension Outcome {
    /// Of a decision that was just made.
    package init(decision: DecisionID, event: EventID, app: String, at: Instant, wall: Int64, pid: Int32) {
        self.decision = decision
        self.event = event
        self.app = app
        self.at = at
        self.wall = wall
        self.pid = pid
    }
}

/// An app moved from one state to another.
package struct StateMove: LogLine, Hashable, Sendable {
    package var app: String
    package var at: Instant
    package var from: AppState
    package var to: AppState
    package var pid: Int32

    package init(app: String, at: Instant, from: AppState, to: AppState, pid: Int32 = 0) {
        self.app = app
        self.at = at
        self.from = from
        self.to = to
        self.pid = pid
    }

    package static let schema = "wake.state/1"
    package static let blank = StateMove(app: "", at: .zero, from: .notRunning, to: .notRunning)

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("app", &app)
        coder.need("t", &at)
        coder.need("from", &from, \.word, AppState.init(recordWord:))
        coder.need("to", &to, \.word, AppState.init(recordWord:))
        coder.code("pid", &pid)
    }
}

/// The end of a process, with the app's name.
package struct ExitEntry: LogLine, Hashable, Codable, Sendable {
    package var number: UInt64
    package var app: String
    package var at: Instant
    package var generation: UInt32
    package var cause: ExitCause
    package var code: Int64
    package var stateBefore: AppState
    package var pid: Int32 = 0
    /// The process ended before its didFinishLaunching had returned.
    package var atLaunch = false

    package static let schema = "wake.exit/1"
    package static let blank = ExitEntry(
        number: 0,
        app: "",
        at: .zero,
        generation: 0,
        cause: .exit,
        code: 0,
        stateBefore: .notRunning
    )

    package mutating func code(with coder: inout RecordCoder) {
        coder.code("id", exit: &number)
        coder.need("app", &app)
        coder.need("t", &at)
        coder.code("generation", &generation)
        coder.need("cause", &cause, \.word, ExitCause.init(word:))
        coder.code("code", &code)
        coder.code("state_before", &stateBefore, \.word, AppState.init(recordWord:))
        coder.code("pid", &pid)
        coder.code("at_launch", &atLaunch)
    }
}

extension ExitEntry {
    /// The router's record of an app's process.
    package init(_ record: ExitRecord, app: String, pid: Int32 = 0, atLaunch: Bool = false) {
        self.init(
            number: record.number,
            app: app,
            at: record.at,
            generation: record.generation,
            cause: record.cause,
            code: record.code,
            stateBefore: record.stateBefore,
            pid: pid,
            atLaunch: atLaunch
        )
    }
}

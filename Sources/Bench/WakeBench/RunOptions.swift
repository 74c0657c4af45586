import WakeBundles
import WakeCaptures
import WakeDevices
import WakeModel
import WakePorts
import WakeProcesses
import WakeReports

/// What `wakebench run` was asked for.
package struct RunOptions: Sendable {
    package enum Clock: String, CaseIterable, Sendable {
        case virtual
        case real
    }

    /// Where it comes from that memory is short.
    package enum MemoryPressureSource: String, CaseIterable, Sendable {
        /// From the scenario's steps alone.
        case steps
        /// From this machine's kernel as well.
        case psi
    }

    /// Where it comes from that the phone is charged, and has a network.
    package enum PhoneSource: String, CaseIterable, Sendable {
        /// From the scenario alone.
        case steps
        /// From this machine's power supplies and routes as well.
        case machine
    }

    package typealias FreezerWord = FreezerChoice

    package var scenario: String
    /// The words of `--backend`; they take the place of the scenario's.
    package var backends: [BackendChoice] = []
    /// Nil for virtual with simulated backends and real otherwise.
    package var clock: Clock?
    package var freezer = FreezerWord.automatic
    package var memoryPressure = MemoryPressureSource.steps
    package var phone = PhoneSource.steps
    package var profile: Profile?
    /// What `--set` changes of the profile, after the scenario's own settings.
    package var settings: [SettingChange] = []
    package var seed: UInt64?
    /// The run folder; made when it is not there.
    package var out: String
    /// Whether a run in ``out`` that is over goes to make room.
    package var replaces = false
    /// Where the results go as JUnit beside ``out``; nil for nowhere.
    package var junit: String?
    /// Whether the link `wakebench-runs/latest` is to lead to the run folder.
    package var followsLatest = false
    /// Wall seconds after which an app that owes an answer counts as overrun.
    package var patience = 10.0
    /// When the run begins, for apps in virtual time; nil for the scenario's date.
    package var date: RunDate?
    /// The most bytes that are kept of what an app prints; beyond it the newest are. At least 65 536.
    package var appLogLimit = AppLog.usualLimit
    /// Folders in which app bundles are looked for, after the scenario's own.
    package var appFolders: [String] = []
    /// Whether the run is journaled. A run without a journal cannot be continued after a crash.
    package var journal = true
    /// The Bluetooth address of the adapter to use; nil for any.
    package var adapter: String?
    /// The HCI transports of `bluetooth=hci`, an adapter each, as Bumble names them: `usb:0`, `serial:...`.
    package var hci: [String] = []
    /// The program that is org.bluez on such transports; nil where it is not installed.
    package var radioProgram: String?
    /// Takes what the start of the run waits for, when that takes long.
    package var tell: @Sendable (String) -> Void = { _ in }
    /// Where gpsd listens.
    package var gpsdHost = "localhost"
    package var gpsdPort: UInt16 = 2947
    /// The tty of an NMEA receiver; nil for the first that is found.
    package var receiver: String?
    /// The PCM of ALSA that stands for the phone's speaker.
    package var soundCard = "default"
    /// Where APNs' endpoint listens unless it is said.
    package static let usualAPNsPort: UInt16 = 2_197
    /// Where APNs' endpoint listens; 0 for a port of the kernel's choice.
    package var apnsPort = usualAPNsPort
    /// The folder of the files by which providers know APNs' endpoint.
    package var apnsIdentity = "wakebench-apns"
    /// A file of authorities that true servers of transfers may show; nil for the system's alone.
    package var transferAuthorities: String?
    /// The formats in which what the radio does is written down.
    package var capture: [TraceFormat] = []
    /// The PCM of ALSA that stands for the phone's microphone; nil for the same.
    package var microphone: String?

    /// What the log calls the emulated phone.
    package var phoneName = "phone"

    /// The process that started the run, with which it ends as if interrupted; nil for one that does not matter.
    package var parent: Int32?

    package init(scenario: String, out: String) {
        self.scenario = scenario
        self.out = out
    }
}

/// The exit codes of the program: a closed list, printed by `wakebench exit-codes`. Errors in JSON give their words as `kind`.
package enum ExitCode: Int32, Worded, Sendable {
    case done = 0
    case `internal` = 1
    case usage = 2
    case notFound = 3
    case wrongState = 4
    case verdictMismatch = 5
    case timeout = 6
    case expectationFailed = 7
    case appFault = 8
    case daemonUnreachable = 9
    case nonDeterminism = 10
    case invalidFile = 11
    case environment = 12
    case interrupted = 130

    /// One line for people.
    package var meaning: String {
        switch self {
        case .done: "done"
        case .internal: "internal or unclassified error"
        case .usage: "wrong usage, or an unknown backend, profile or freezer"
        case .notFound: "not found: an app, a device, a run"
        case .wrongState: "wrong state"
        case .verdictMismatch: "a verdict other than required"
        case .timeout: "time ran out before things settled"
        case .expectationFailed: "an expectation of the scenario was not met"
        case .appFault: "an app could not be started, or ended before it had launched"
        case .daemonUnreachable: "the daemon cannot be reached, or is of another version"
        case .nonDeterminism: "a replay came out differently"
        case .invalidFile: "an input file is invalid"
        case .environment: "a service, device or permission is missing"
        case .interrupted: "interrupted"
        }
    }
}

/// Why a command cannot be carried out: what is wrong, what to do about it, and the exit code.
package struct CommandFailure: Error, Hashable, Sendable {
    package var code: ExitCode
    /// What is wrong, with the name of the thing.
    package var message: String
    /// What to do about it; nil where the message says it, or nothing can be done.
    package var hint: String?
    /// Where it is wrong; nil where it is about no file. The message names it, too.
    package var place: Place?

    /// A place in a file.
    package struct Place: Hashable, Sendable {
        /// The path as it was given.
        package var file: String
        /// Counted from 1; 0 for the whole file.
        package var line: Int
        /// Counted from 1, in characters; 0 where it is not known.
        package var column: Int

        package init(file: String, line: Int = 0, column: Int = 0) {
            (self.file, self.line, self.column) = (file, line, column)
        }
    }

    package init(_ code: ExitCode, _ message: String, hint: String? = nil, place: Place? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.place = place
    }

    /// What is wrong with a file: the message begins with its path.
    package init(_ code: ExitCode, in file: String, _ found: String, hint: String? = nil) {
        self.init(code, "\(file): \(found)", hint: hint, place: Place(file: file))
    }

    /// What is wrong at a place in a file: the message begins with its path and line.
    package init(_ code: ExitCode, at place: Place, _ found: String, hint: String? = nil) {
        let line = place.line > 0 ? ":\(place.line)" : ""
        self.init(code, "\(place.file)\(line): \(found)", hint: hint, place: place)
    }

    /// A word of a command line that is none of a closed list.
    package init(unknown what: String, known: [String]) {
        self.init(.usage, "unknown \(what)", hint: "expected one of \(known.joined(separator: ", "))")
    }

    package init(_ code: ExitCode, _ error: FileError) {
        self.init(
            code,
            at: Place(file: error.file, line: error.line, column: error.column),
            error.found,
            hint: "expected \(error.expected)"
        )
    }

    package init(_ code: ExitCode, _ error: BundleError) {
        let key = error.key.isEmpty ? "" : "\(error.key): "
        self.init(
            error.isOfSystem ? .environment : code,
            "\(error.bundle): \(key)\(error.found)",
            hint: "expected \(error.expected)",
            place: Place(file: error.bundle)
        )
    }

    package init(_ code: ExitCode, _ error: ReportError) {
        self.init(
            code,
            "\(error.path): \(error.complaint)",
            hint: error.remedy,
            place: Place(file: error.path)
        )
    }

    /// What any room threw.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as SourceFailure: self.init(error.exitCode, error.message)
        case let error as JournalError: self.init(error)
        case let error as ReportError: self.init(.environment, error)
        case let error as BundleError: self.init(.invalidFile, error)
        default: self.init(.internal, "\(error)")
        }
    }

    /// Both in one line.
    package var line: String { hint.map { "\(message); \($0)" } ?? message }
}

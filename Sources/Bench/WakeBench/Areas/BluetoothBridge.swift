import Glibc
import WakeBluetooth
import WakeModel
import WakePorts
import WakeProcesses
import WakeReports
import WakeSystem

/// An org.bluez of the bench's own: a program with a D-Bus of its own, whose adapters are HCI transports.
///
/// It starts for the first of its users, before the radio that speaks to it, and ends with the last. The program ends with the bench,
/// even when that is killed: it holds the other end of a socket. One that ends before is started again, and the radio finds it at the
/// same address.
final class BluetoothBridge {
    static let word = "hci"
    static let missingProgram = RadioChoice.missing("bridge")
    /// Milliseconds until it is started again, and the most of them.
    private static let pauses: (first: Int64, most: Int64) = (500, 8_000)
    /// How long it may take to begin, in milliseconds: the first time it makes an environment of Python.
    private static let patience: Int64 = 300_000
    /// Milliseconds after which it is said that it is waited for: with an environment it begins before, also where it waits 5 s for
    /// what is to listen behind a transport.
    private static let unsaid: Int64 = 8_000
    /// Nanoseconds after which one that was ready counts as one that lasts.
    private static let lasting: Int64 = 8_000_000_000
    /// How long it has to disconnect its devices, in milliseconds, before it is killed.
    private static let longestEnd: Int32 = 5_000
    /// How many of its lines are noted at most, until its next end that is noted.
    private static let mostNoted = 100

    /// Its users, oldest first, each with what takes the end and return of the program, and the lines that it writes.
    private var users: [(id: ObjectIdentifier, note: (String) -> Void)] = []
    private let program: String
    private let transports: [String]
    /// The folder in which pairings last, which need not be there; nil to forget them.
    private let keys: String?
    private let loop: EventLoop
    private let folder: TemporaryFolder
    private let again: Timer
    private var child: ChildProgram?
    /// A socket to the program, which says there that it is ready, and ends when this does.
    private var tie: Descriptor?
    /// What it writes.
    private var words: ProgramWords?
    /// How many of its lines have been noted.
    private var noted = 0
    /// Follows the tie of a program that was started again.
    private var watch: Watch?
    /// When it was ready, on the monotonic clock in nanoseconds; nil while it is not.
    private var readyAt: Int64?
    /// How often it has ended since it last lasted.
    private var failures: Int64 = 0
    /// Whether its first return since then was noted.
    private var isReturnNoted = false
    /// They wait where they are blocked, and end the wait for the program.
    private let endings = SignalSet([SIGINT, SIGTERM, SIGHUP])
    private var isOpen = false
    /// Whether a signal ended the wait for its start.
    private(set) var isInterrupted = false

    /// - Throws: ``SystemError`` when the loop takes no more timers, and without a folder for the bus.
    init(
        program: String,
        transports: [String],
        keys: String?,
        loop: EventLoop
    ) throws(SystemError) {
        (self.program, self.transports, self.keys, self.loop) = (program, transports, keys, loop)
        do throws(CommandFailure) { folder = try TemporaryFolder() } catch {
            throw SystemError("mkdtemp", code: EACCES, subject: error.message)
        }
        again = try loop.timer(on: .monotonic)
        again.handler = { [unowned self] in startAgain() }
    }

    /// Its bus.
    var address: BlueZBus { .address("unix:path=\(folder.path)/bus") }

    // MARK: Its users

    /// Has one user more: the first starts the program, and waits until it says that its adapters are there.
    ///
    /// - Parameters:
    ///   - tell: takes what the start waits for, when that takes long.
    ///   - note: takes what becomes of the program later, and what it says.
    func join(
        _ user: AnyObject,
        tell: @escaping (String) -> Void,
        note: @escaping (String) -> Void = { _ in }
    ) throws(SourceFailure) {
        if users.isEmpty { try start(tell: tell) }
        users.append((ObjectIdentifier(user), note))
    }

    /// Harmless for what does not use it.
    func leave(_ user: AnyObject) {
        guard let place = users.firstIndex(where: { $0.id == ObjectIdentifier(user) }) else { return }
        users.remove(at: place)
        if users.isEmpty { stop() }
    }

    private func note(_ text: String) {
        for user in users { user.note("bluetooth=hci: \(text)") }
    }

    // MARK: The program

    private func start(tell: (String) -> Void) throws(SourceFailure) {
        (isOpen, failures, noted) = (true, 0, 0)
        let wait: Wait
        do throws(SystemError) {
            try launch()
            wait = try waitUntilReady(tell: tell)
        } catch {
            stop()
            throw SourceFailure(.environment, "bluetooth=hci: \(error.description)")
        }
        let refusal: String
        switch wait {
        case .ready:
            becameReady()
            return
        case .ended: refusal = lastWords
        case .late: refusal = "the radio's program is not ready after \(Self.patience / 1_000) s: \(lastWords)"
        case .interrupted:
            isInterrupted = true
            refusal = "interrupted before the radio's program was ready"
        }
        stop()
        throw SourceFailure(.environment, "bluetooth=hci: \(refusal)")
    }

    private func stop() {
        isOpen = false
        again.disarm()
        child?.end(within: Self.longestEnd)
        forget()
    }

    private func launch() throws(SystemError) {
        let ends = try streamPair()
        tie = Descriptor(owning: ends.0)
        let theirs = Descriptor(owning: ends.1)
        let words = try ProgramWords(on: loop) { [unowned self] in said($0) }
        child = try ChildProgram(
            program,
            ["--folder", folder.path, "--ready", "3", "--parent", "4"] + (keys.map { ["--keys", $0] } ?? [])
                + transports.flatMap { ["--hci", $0] },
            output: words.output,
            descriptors: [theirs.number, theirs.number],
            on: loop
        ) { [unowned self] in ended($0) }
        words.begun()
        self.words = words
    }

    /// Lines are noted once the program is ready; after an end, once it has lasted again. Before that, the wait for it or the note
    /// of its end has the last one.
    private func said(_ line: String) {
        guard isOpen, noted < Self.mostNoted, let readyAt, failures == 0 || Self.lasts(since: readyAt) else { return }
        noted += 1
        note(Self.text(line) + (noted < Self.mostNoted ? "" : "; no more of what it says is noted"))
    }

    /// Its end is noted once, and so is its return, until it lasts again: one that ends at once, time after time, would fill the log.
    private func ended(_ end: ChildProgram.End) {
        let lasted = readyAt.map(Self.lasts) ?? false
        let last = lastWords
        forget()
        guard isOpen else { return }
        if lasted { failures = 0 }
        if failures == 0 {
            // A last line that was noted is not repeated.
            let words = noted == 0 ? ": \(last)" : ""
            noted = 0
            note("the radio's program \(Self.text(end))\(words); it is started again each time")
            isReturnNoted = false
        }
        again.arm(after: min(Self.pauses.first << min(failures, 8), Self.pauses.most))
        failures += 1
    }

    private func startAgain() {
        do throws(SystemError) {
            try launch()
            guard let tie = tie?.number else { return }
            watch = try loop.watch(tie, for: .readable) { [unowned self] _ in heardAgain() }
        } catch {
            note(error.description)
            again.arm(after: Self.pauses.most)
        }
    }

    /// A program that was started again has said that it is ready, or ends.
    private func heardAgain() {
        watch?.cancel()
        watch = nil
        guard isReadySaid else { return }
        becameReady()
        guard !isReturnNoted else { return }
        isReturnNoted = true
        note("the radio's program is there again")
    }

    private func becameReady() {
        // Lines from before are not noted.
        words?.read()
        readyAt = MonotonicClock.now()
    }

    private func forget() {
        watch?.cancel()
        watch = nil
        child = nil
        words = nil
        tie = nil
        readyAt = nil
    }

    private static func lasts(since instant: Int64) -> Bool { MonotonicClock.now() - instant > lasting }

    private static func text(_ end: ChildProgram.End) -> String {
        switch end {
        case .exited(let code): "ended with \(code)"
        case .killed(let signal): "was ended by signal \(signal)"
        }
    }

    /// The last line that the program wrote.
    private var lastWords: String {
        words?.read()
        return words.map { Self.text($0.last) } ?? "it has said nothing"
    }

    private static func text(_ line: String) -> String {
        if line.isEmpty { return "it has said nothing" }
        return String(line.hasPrefix("radio: ") ? line.dropFirst(7) : line[...])
    }

    private enum Wait {
        case ready
        case ended
        /// The time is over.
        case late
        /// A signal that would end this process is waiting.
        case interrupted
    }

    /// Waits until the program says that it is ready.
    private func waitUntilReady(tell: (String) -> Void) throws(SystemError) -> Wait {
        guard let tie = tie?.number else { return .ended }
        let signals = try endings.descriptor()
        let begin = MonotonicClock.now()
        var isSaid = false
        while true {
            let passed = (MonotonicClock.now() - begin) / 1_000_000
            guard passed < Self.patience else { return .late }
            let numbers = [tie, signals.number, words?.number ?? -1]
            var places = numbers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let left = (isSaid ? Self.patience : Self.unsaid) - passed
            let count = repeatingInterrupted { unsafe poll(&places, 3, Int32(clamping: max(0, left))) }
            if places[1].revents != 0 { return .interrupted }
            if places[0].revents != 0 { return isReadySaid ? .ready : .ended }
            if places[2].revents != 0 { words?.read() }
            guard !isSaid, count == 0 else { continue }
            isSaid = true
            tell("waiting for the radio's program: \(lastWords)")
        }
    }

    /// Reads the line that it writes when it is ready: at once and whole, and what it tells, the bus tells as well.
    private var isReadySaid: Bool {
        guard let number = tie?.number else { return false }
        var byte: UInt8 = 0
        return repeatingInterrupted({ unsafe read(number, &byte, 1) }) == 1
    }
}

/// The bridges of one bench: runs that name the same transports share one.
final class RadioBridges {
    private struct Entry {
        weak var bridge: BluetoothBridge?
    }

    private let loop: EventLoop
    private let keys: String
    private var entries: [[String]: Entry] = [:]

    /// - Parameters:
    ///   - loop: turns for as long as any of them is used.
    ///   - keys: the folder in which pairings last, which need not be there.
    init(keys: String, loop: EventLoop) { (self.keys, self.loop) = (keys, loop) }

    /// A part in the bridge of these transports.
    ///
    /// - Parameter tell: takes what its start waits for, when that takes long.
    func share(
        _ transports: [String],
        program: String,
        tell: @escaping (String) -> Void
    ) throws(SystemError) -> BluetoothBridgeShare {
        if let bridge = entries[transports]?.bridge { return BluetoothBridgeShare(bridge, tell: tell) }
        let bridge = try BluetoothBridge(program: program, transports: transports, keys: keys, loop: loop)
        entries[transports] = Entry(bridge: bridge)
        return BluetoothBridgeShare(bridge, tell: tell)
    }
}

/// A run's part in a bridge, from its start to its end.
final class BluetoothBridgeShare: SourcePort {
    let backend = BluetoothBridge.word
    var report: ((SourceReport) -> Void)?
    /// Takes what becomes of the program, and what it says.
    var note: (String) -> Void = { _ in }
    private let bridge: BluetoothBridge
    private let tell: (String) -> Void

    fileprivate init(_ bridge: BluetoothBridge, tell: @escaping (String) -> Void) {
        (self.bridge, self.tell) = (bridge, tell)
    }

    deinit { bridge.leave(self) }

    /// Its bus.
    var address: BlueZBus { bridge.address }

    func takes(_ command: SourceCommand) -> Bool { false }
    func carryOut(_ command: SourceCommand, at now: Instant) {}
    var isReplayed: Bool { true }

    func start(at now: Instant) throws(SourceFailure) {
        try bridge.join(self, tell: tell) { [weak self] in self?.note($0) }
    }

    func stop() { bridge.leave(self) }
}

extension BluetoothBridge {
    /// The line of `--backend bluetooth=hci`. No transport is looked for: only their owner knows which there are.
    static func examine(_ program: String?) -> Doctor.Line {
        let line = { (good: Bool, finding: String) in
            Doctor.Line(what: "Bluetooth by HCI", good: good, finding: finding)
        }
        guard let program else { return line(false, missingProgram) }
        let folders =
            ["/usr/bin", "/bin"]
            + (unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "").split(separator: ":").map(String.init)
        let missing = [("dbus-daemon", folders), ("python3", ["/usr/bin"])].filter { name, folders in
            !folders.contains { unsafe access("\($0)/\(name)", X_OK) == 0 }
        }
        guard missing.isEmpty else {
            let names = missing.map(\.0).joined(separator: ", ")
            return line(false, "no \(names); run Scripts/install radio in a clone; simulated Bluetooth works without")
        }
        return line(true, "\(program) with --hci TRANSPORT")
    }
}

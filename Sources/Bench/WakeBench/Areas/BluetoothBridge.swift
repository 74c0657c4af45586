import Glibc
import WakeBluetooth
import WakeModel
import WakePorts
import WakeProcesses
import WakeReports
import WakeSystem

/// org.bluez of the run's own: a program with a D-Bus of its own, whose adapters are HCI transports.
///
/// It starts before the radio that speaks to it, and ends after that. The program ends with the bench, even when that is killed: it
/// holds the other end of a pipe. One that ends before is started again, and the radio finds it at the same address.
final class BluetoothBridge: SourcePort {
    static let word = "hci"
    static let missingProgram =
        "Scripts/radio/bridge is not here; use a wakebench that was built in a clone, or name its folder Scripts/radio with "
        + "WAKEBENCH_RADIO"
    /// Milliseconds until it is started again, and the most of them.
    private static let pauses: (first: Int64, most: Int64) = (500, 8_000)
    /// How long it may take to begin, in milliseconds: the first time it makes an environment of Python.
    private static let patience: Int64 = 300_000
    /// Milliseconds after which it is said that it is waited for: with an environment it begins in half of that.
    private static let unsaid: Int64 = 5_000
    /// How long it has to disconnect its devices, in milliseconds, before it is killed.
    private static let longestEnd: Int32 = 5_000

    let backend = BluetoothBridge.word
    var report: ((SourceReport) -> Void)?
    /// Hears what becomes of the program.
    var note: (String) -> Void = { _ in }
    /// Hears what the start waits for, when that takes long.
    private let tell: (String) -> Void

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
    private var failures: Int64 = 0
    private var isOpen = false

    /// - Throws: ``SystemError`` when the loop takes no more timers; ``CommandFailure`` without a folder for the bus.
    init(
        program: String,
        transports: [String],
        keys: String?,
        loop: EventLoop,
        tell: @escaping (String) -> Void
    ) throws(SystemError) {
        (self.program, self.transports, self.keys, self.loop, self.tell) = (program, transports, keys, loop, tell)
        do throws(CommandFailure) { folder = try TemporaryFolder() } catch {
            throw SystemError("mkdtemp", code: EACCES, subject: error.message)
        }
        again = try loop.timer(on: .monotonic)
        again.handler = { [unowned self] in startAgain() }
    }

    /// Its bus.
    var address: BlueZBus { .address("unix:path=\(folder.path)/bus") }

    private var log: String { "\(folder.path)/log" }

    // MARK: The port

    func takes(_ command: SourceCommand) -> Bool { false }
    func carryOut(_ command: SourceCommand, at now: Instant) {}
    var isReplayed: Bool { true }

    /// Begins, and waits until the program says that its adapters are there.
    func start(at now: Instant) throws(SourceFailure) {
        isOpen = true
        do throws(SystemError) { try launch() } catch {
            throw SourceFailure(.environment, "bluetooth=hci: \(error.description)")
        }
        if isReady() { return }
        stop()
        throw SourceFailure(.environment, "bluetooth=hci: \(lastWords)")
    }

    func stop() {
        isOpen = false
        again.disarm()
        child?.end(within: Self.longestEnd)
        child = nil
        tie = nil
    }

    // MARK: The program

    private func launch() throws(SystemError) {
        let ends = try streamPair()
        tie = Descriptor(owning: ends.0)
        let theirs = Descriptor(owning: ends.1)
        let output = try Descriptor.openFile(log, O_WRONLY | O_CREAT | O_TRUNC)
        child = try ChildProgram(
            program,
            ["--folder", folder.path, "--ready", "3", "--parent", "4"] + (keys.map { ["--keys", $0] } ?? [])
                + transports.flatMap { ["--hci", $0] },
            output: output.number,
            descriptors: [theirs.number, theirs.number],
            on: loop
        ) { [unowned self] in ended($0) }
    }

    private func ended(_ end: ChildProgram.End) {
        child = nil
        tie = nil
        guard isOpen else { return }
        let pause = min(Self.pauses.first << min(failures, 8), Self.pauses.most)
        note("bluetooth=hci: the radio's program \(Self.text(end)): \(lastWords); it is started again in \(pause) ms")
        failures += 1
        again.arm(after: pause)
    }

    private func startAgain() {
        do throws(SystemError) { try launch() } catch {
            note("bluetooth=hci: \(error.description)")
            again.arm(after: Self.pauses.most)
        }
    }

    private static func text(_ end: ChildProgram.End) -> String {
        switch end {
        case .exited(let code): "ended with \(code)"
        case .killed(let signal): "was ended by signal \(signal)"
        }
    }

    /// The last line that the program wrote.
    private var lastWords: String {
        let text = (try? readSmallFile(log)) ?? ""
        guard let line = text.split(separator: "\n").last else { return "it has said nothing" }
        return String(line.hasPrefix("radio: ") ? line.dropFirst(7) : line)
    }

    /// Waits for the line that says that it is ready; false when that does not come: the program has ended, or the time is over.
    private func isReady() -> Bool {
        guard let number = tie?.number else { return false }
        let begin = MonotonicClock.now()
        var isSaid = false
        while true {
            let passed = (MonotonicClock.now() - begin) / 1_000_000
            guard passed < Self.patience else { return false }
            var waited = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            let left = (isSaid ? Self.patience : Self.unsaid) - passed
            if repeatingInterrupted({ unsafe poll(&waited, 1, Int32(clamping: max(0, left))) }) != 0 { break }
            guard !isSaid else { continue }
            isSaid = true
            tell("waiting for the radio's program: \(lastWords)")
        }
        // It is written at once, and tells what the bus tells as well.
        var byte: UInt8 = 0
        return repeatingInterrupted({ unsafe read(number, &byte, 1) }) == 1
    }
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

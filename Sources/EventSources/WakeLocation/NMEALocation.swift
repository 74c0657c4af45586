import Glibc
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem
import WakeUdev

/// Positions from a receiver that speaks NMEA 0183 on a tty.
///
/// The tty is read all the time, and its fixes are reported while somebody wants them. A receiver that is unplugged, says
/// nothing, or says nothing of its position, is reported once as a failure that names it; plugged in again it is opened
/// again, by a path when the path is there, else when udev tells of it.
package final class NMEALocation: ReceiverLocation {
    package static let usualBaud = 9_600
    /// The sentences of one moment are together when the receiver has been quiet for so long, in milliseconds.
    static let quiet: Int64 = 250
    /// The pauses between attempts to open a tty that is there and refuses, in milliseconds; the last one is kept to.
    static let pauses: [Int64] = [200, 1_000, 5_000, 30_000]
    /// The most bytes read in a turn.
    private static let mostInTurn = 65_536

    /// The sentences read and the damaged ones: many of these speak of a wrong speed.
    package var counts: NMEAReader.Counts { reader.counts }
    /// The file that is read; nil while the receiver is away.
    package private(set) var openPath: String?

    private let receiver: NMEAReceiver
    private let baud: Int
    private let pause: Timer
    private var udev: Udev?
    private var devices: UdevWatch?
    private var paths: PathWatch?
    private var line: SerialLine?
    private var watch: Watch?
    private var reader = NMEAReader()
    private var isStopped = false
    /// Whether it has said anything since it was last heard to know whether it has a fix.
    private var hasSpoken = false
    private var buffer = [UInt8](repeating: 0, count: 4_096)

    /// A receiver on a tty.
    ///
    /// - Parameters:
    ///   - baud: the tty's speed, of those in use from 4800 to 921600.
    ///   - silence: after how many milliseconds without a word the receiver is lost.
    /// - Throws: ``SystemError`` when the loop takes no more timers.
    package init(
        _ receiver: NMEAReceiver = .any,
        baud: Int = NMEALocation.usualBaud,
        names: NameTable,
        loop: EventLoop,
        silence: Int64 = ReceiverLocation.usualSilence
    ) throws(SystemError) {
        self.receiver = receiver
        self.baud = baud
        pause = try loop.timer(on: .monotonic)
        try super.init("nmea", names: names, loop: loop, silence: silence)
        pause.handler = { [unowned self] in paused() }
        absence.handler = { [unowned self] in
            missing(
                hasSpoken
                    ? "says nothing of its position; check its speed, and that it says RMC or GGA"
                    : "says nothing; check its cable and its speed"
            )
        }
        retry.handler = { [unowned self] in open() }
    }

    // MARK: The port

    package override func start(at now: Instant) throws(SourceFailure) {
        guard TerminalLine.speeds.contains(where: { $0.baud == baud }) else {
            throw SourceFailure(.unsupported, "location=nmea: no tty has a speed of \(baud) baud; name 9600 or 115200")
        }
        do throws(SystemError) {
            try follow()
            try openFirst()
        } catch {
            close()
            throw SourceFailure(.environment, "location=nmea: \(error); plug in a receiver, or name its tty")
        }
    }

    package override func stop() {
        super.stop()
        isStopped = true
        close()
        devices = nil
        paths = nil
    }

    // MARK: Plugging in

    /// Hears of receivers that come.
    private func follow() throws(SystemError) {
        if case .path(let path) = receiver {
            paths = try PathWatch(path: path, on: loop) { [weak self] in self?.appeared() }
            return
        }
        let udev = try Udev()
        self.udev = udev
        devices = try udev.follow(["tty"], on: loop) { [weak self] change in
            guard let self, receiver.matches(change.device) else { return }
            switch change.action {
            case .add, .change, .bind: appeared()
            // The tty itself tells that its device has gone.
            case .remove, .unbind, .other: break
            }
        }
    }

    private func appeared() {
        guard line == nil else { return }
        attempts = 0
        open()
    }

    private func openFirst() throws(SystemError) {
        let path: String
        if case .path(let named) = receiver {
            path = named
        } else {
            guard let found = try udev?.devices(of: "tty").first(where: receiver.matches), let node = found.node else {
                throw SystemError("udev", code: ENODEV, subject: receiver.name)
            }
            path = node
        }
        let opened = try SerialLine(path: path, baud: baud)
        watch = try loop.watch(opened.number, for: .readable) { [weak self] _ in self?.receive() }
        line = opened
        openPath = path
        attempts = 0
    }

    /// Opens the receiver again; one that is there and refuses is tried again, one that is not will be heard of.
    private func open() {
        guard line == nil, !isStopped else { return }
        do throws(SystemError) {
            try openFirst()
            expectWord()
        } catch {
            guard error.code != ENOENT, error.code != ENODEV else { return }
            tryLater(Self.pauses)
        }
    }

    private func close() {
        watch?.cancel()
        watch = nil
        line = nil
        openPath = nil
        reader.reset()
        pause.disarm()
        absence.disarm()
    }

    private func unplugged() {
        // What it said last is whole.
        paused()
        missing("went away; positions are missing until it is back")
        close()
        interruptions += 1
        // It may be back already: nobody tells of what was there before.
        retry.arm(after: Self.pauses[0])
    }

    // MARK: Hearing

    private func receive() {
        var total = 0
        let timeless = counts.timeless
        var isHeard = false
        while total < Self.mostInTurn, let line {
            guard let count = try? line.read(into: &buffer) ?? -1, count != 0 else { return unplugged() }
            if count < 0 { break }
            total += count
            var ended: [NMEAReader.Moment] = []
            reader.read(buffer[..<count]) { ended.append($0) }
            for moment in ended { say(moment) }
            isHeard = isHeard || !ended.isEmpty
        }
        guard line != nil, total > 0 else { return }
        pause.arm(after: Self.quiet)
        hasSpoken = true
        if isHeard || reader.isGathering || counts.timeless > timeless { expectWord() }
        if counts.timeless > timeless, !reader.isGathering { missing("does not know where it is") }
    }

    override func expectWord() {
        hasSpoken = false
        super.expectWord()
    }

    private func paused() {
        if let moment = reader.finish() { say(moment) }
    }

    private func say(_ moment: NMEAReader.Moment) {
        guard isPositioning else { return }
        guard var point = moment.point else { return missing("does not know where it is") }
        if !moment.isDated { point.timestamp = nil }
        say(point)
    }

    private func missing(_ what: String) { lost("the receiver \(openPath ?? receiver.name) \(what)") }
}

import Glibc
import WakeModel
import WakePorts
import WakeSystem

/// The simulated radio, with one characteristic's values coming from a descriptor, as those of AcquireNotify do.
final class BenchmarkRadio: BluetoothCentralPort {
    /// When the last read returned, in nanoseconds of CLOCK_MONOTONIC.
    private(set) var readAt: Int64 = 0
    /// Called from the loop after the turn in which ``finishSample()`` was called.
    var sampleOver: (() -> Void)?

    let backend = "benchmark"
    var report: ((SourceReport) -> Void)?

    private let radio: any BluetoothCentralPort
    private let descriptor: Int32
    private var watch: Watch?
    private var buffer = [UInt8](repeating: 0, count: 512)
    /// The answer that turned notifications on: it names the characteristic.
    private var subscription: WakeEvent?
    private var isOver = false
    private var now = Instant.zero

    init(_ radio: any BluetoothCentralPort, descriptor: Int32, loop: EventLoop) throws(SystemError) {
        self.radio = radio
        self.descriptor = descriptor
        radio.report = { [unowned self] in relay($0) }
        watch = try loop.watch(descriptor, for: .readable) { [unowned self] _ in receive() }
    }

    private func relay(_ report: SourceReport) {
        if report.event.kind == .notificationStateChanged { subscription = report.event }
        self.report?(report)
    }

    private func receive() {
        let count = unsafe read(descriptor, &buffer, buffer.count)
        readAt = MonotonicClock.now()
        guard count > 0 else {
            // The measurement is over.
            watch?.cancel()
            kill(getpid(), SIGTERM)
            return
        }
        guard let subscription else { return }
        let event = WakeEvent(
            kind: .characteristicNotified,
            peripheral: subscription.peripheral,
            attribute: subscription.attribute,
            subject: subscription.subject,
            origin: subscription.origin
        )
        report?(SourceReport(event, .value(Array(buffer[..<count]))))
    }

    /// The app is where the next sample begins; what this turn brought is carried out first.
    func finishSample() { isOver = true }

    var poweredOn: Bool { radio.poweredOn }
    var nextDeadline: Instant? { isOver ? now : radio.nextDeadline }

    func timeReached(_ now: Instant) {
        self.now = now
        radio.timeReached(now)
        guard isOver else { return }
        isOver = false
        sampleOver?()
    }

    func start(at now: Instant) throws(SourceFailure) { try radio.start(at: now) }
    func perform(_ command: BluetoothCommand, at now: Instant) { radio.perform(command, at: now) }
    func setPower(_ on: Bool, at now: Instant) { radio.setPower(on, at: now) }
    func knownPeripheral(_ name: NameID) -> KnownPeripheral? { radio.knownPeripheral(name) }
    func knownPeripheral(_ name: NameID, of client: BluetoothClient) -> KnownPeripheral? {
        radio.knownPeripheral(name, of: client)
    }
    func writeRoom(of client: BluetoothClient, to peripheral: NameID) -> Int {
        radio.writeRoom(of: client, to: peripheral)
    }

    func longestWriteCommand(to peripheral: NameID) -> Int { radio.longestWriteCommand(to: peripheral) }
    func connectedPeripherals(services: [NameID]) -> [NameID] { radio.connectedPeripherals(services: services) }
    func stop() { radio.stop() }
}

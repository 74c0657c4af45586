import WakeBackgroundTransfer
import WakeDevices
import WakeModel
import WakePorts

/// Background transfers, and the servers that they go to.
final class TransferArea: Area {
    static let source = Source.transfer

    static func isUsed(by scenario: Scenario) -> Bool { false }

    private let simulated: SimulatedTransfers

    var sources: [any SourcePort] { [simulated] }

    init(_ setup: AreaSetup) {
        let scenario = setup.scenario
        let hasProcesses = scenario.apps.contains { app in
            if case .bundle = app.form { true } else { false }
        }
        simulated = SimulatedTransfers(
            servers: scenario.devices.compactMap { device in device.transferServer.map { (device.name, $0) } },
            names: setup.names,
            folder: hasProcesses ? "\(setup.options.out)/transfers" : nil
        )
    }

    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {
        try simulated.code(with: &coder)
    }

    // MARK: Steps

    func act(_ verb: Verb, _ origin: NameID, in run: Run, at now: Instant) {
        guard case .transfer(let apps, let session, let act) = verb else { return }
        for app in apps { run.scripted.perform(act, in: session, of: AppID(UInt32(app)), at: now) }
    }

    func owns(_ device: ScenarioDevice) -> Bool { device.transferServer != nil }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {
        try simulated.arm(fault: fault, device: device.name, at: now)
    }
}

extension AppView {
    /// The tasks of a session that have no end yet, or whose end the app has not been told.
    func transferTasks(of app: AppID, in session: NameID) -> [(number: TransferTaskNumber, order: TransferOrder)] {
        bench.router.transferTasks(of: app, in: session)
    }

    /// The instant of a date, in seconds since 1970; one before the run is its beginning.
    func instant(of date: Double) -> Instant {
        let nanoseconds = date * 1e9 - Double(phoneClock.epoch)
        return Instant(nanoseconds: Int64(max(0, min(9e18, nanoseconds))))
    }
}

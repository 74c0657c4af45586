import WakeBackgroundTransfer
import WakeDevices
import WakeModel
import WakePorts
import WakeRouter

/// Background transfers, and the servers that they go to.
final class TransferArea: Area {
    static let source = Source.transfer

    static func isUsed(by scenario: Scenario) -> Bool { false }

    static let options = [
        AreaOption(
            name: "--transfer-ca",
            value: "FILE",
            help: "certificates of authorities that transfer=curl trusts besides the system's",
            take: { options, text in
                options.transferAuthorities = text
                return true
            }
        )
    ]

    private let simulated: SimulatedTransfers?
    private let real: CurlTransfers?
    private let acknowledger: TransferAcknowledger?
    private let notes: StepNotes

    var sources: [any SourcePort] { if let real { [real] } else { simulated.map { [$0] } ?? [] } }

    init(_ setup: AreaSetup) {
        let scenario = setup.scenario
        notes = setup.notes
        guard setup.backends[Self.source] == "simulated" else {
            let real = CurlTransfers(
                names: setup.names,
                loop: setup.loop,
                certificates: setup.options.transferAuthorities.map { RunFolder.absolute($0) }
            )
            (self.real, simulated, acknowledger) = (real, nil, TransferAcknowledger(real))
            return
        }
        simulated = SimulatedTransfers(
            servers: scenario.devices.compactMap { device in device.transferServer.map { (device.name, $0) } },
            names: setup.names,
            folder: setup.mayHaveBundles ? "\(setup.options.out)/transfers" : nil
        )
        (real, acknowledger) = (nil, nil)
    }

    func connect(to run: Run) throws(CommandFailure) {
        run.bench.add(TransferMeter(run.bench, run.recorder))
        guard let real, let acknowledger else { return }
        run.bench.add(acknowledger)
        real.standing = { [unowned bench = run.bench] in bench.router.standing(ofTransfer: $0) }
        real.failed = { [unowned run] in run.recorder.note($0, at: run.present) }
        do throws(SourceFailure) { try real.open(in: RunFolder.absolute(run.folder.transfers)) } catch {
            throw CommandFailure(error.exitCode, error.message)
        }
    }

    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {
        try simulated?.code(with: &coder)
    }

    // MARK: Steps

    func act(_ verb: Verb, _ origin: NameID, in run: Run, at now: Instant) {
        guard case .transfer(let apps, let session, let act) = verb else { return }
        for app in apps.map({ AppID(UInt32($0)) }) {
            if run.scripted.isAwake(app), let why = lack(of: act, in: session, of: app, in: run) {
                let what = "transfer \(run.name(of: app)) \(session)"
                notes.add(what, why, of: app, at: now, isReplayed: false)
            }
            run.scripted.perform(act, in: session, of: app, at: now)
        }
    }

    /// What is said of a step that a session of an app is not there for, or has not the task for; nil where it does what it says.
    private func lack(of act: ScriptedApp.TransferAct, in name: String, of app: AppID, in run: Run) -> String? {
        let router = run.bench.router
        let session = run.names.known(name).flatMap { router.transferSession(of: app, $0) }
        if case .makeAgain = act {
            guard let session, session.isMade, !session.isInvalid else { return nil }
            return "the app has this session already"
        }
        guard let session else { return "the app has no such session; it was invalidated, or is not made yet" }
        guard session.isMade else { return "the app has not made the session in this process" }
        switch act {
        case .suspend(let task), .resume(let task), .cancel(let task):
            let tasks = run.names.known(name).map { router.transferTasks(of: app, in: $0) } ?? []
            return tasks.contains { $0.number == task } ? nil : "the session has no task \(task)"
        case .begin, .invalidate: return session.isInvalid ? "the session was invalidated" : nil
        case .makeAgain: return nil
        }
    }

    func owns(_ device: ScenarioDevice) -> Bool { device.transferServer != nil }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {
        let simulated = try need(simulated, for: "arm", "the server")
        if try simulated.arm(fault: fault, device: device.name, at: now) { return }
        notes.add("arm \(device.name) \(fault)", "no transfer is connected to it", at: now)
    }
}

extension TransferArea {
    /// The line of `--backend transfer=curl`.
    static func examine(_ installation: Doctor.Installation) -> [Doctor.Line] { [line(.examine())] }

    static func line(_ found: CurlPresence) -> Doctor.Line {
        let finding =
            switch found {
            case .missing:
                "the program WakebenchTransfers is not beside wakebench; build its product, or transfer=curl cannot be used"
            case .silent(let reason): "\(reason); transfer=curl cannot be used"
            case .there(let program, let version): "libcurl \(version), in \(program)"
            }
        let isThere = if case .there = found { true } else { false }
        return Doctor.Line(what: "transfers", good: isThere, finding: finding)
    }
}

/// Tells the process that carries transfers which ends survive the bench, once they do.
final class TransferAcknowledger: BenchObserver {
    private let transfers: CurlTransfers
    private var heard: [TransferNumber] = []

    init(_ transfers: CurlTransfers) { self.transfers = transfers }

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        guard let event = item.input.reported, event.kind == .transferEnded, event.parent == .none else { return }
        heard.append(event.transfer)
    }

    func committed() {
        for transfer in heard { transfers.accepted(endOf: transfer) }
        heard.removeAll(keepingCapacity: true)
    }
}

extension Router {
    /// What is to become of a transfer that the process has.
    fileprivate func standing(ofTransfer number: TransferNumber) -> CurlTransfers.Standing {
        switch transferIsUnderWay(number) {
        case true?: .underWay
        case false?: .held
        case nil: hasTransfer(number) ? .over : .unwanted
        }
    }
}

extension AppView {
    /// The tasks of a session that have no end yet, or whose end the app has not been told.
    func transferTasks(of app: AppID, in session: NameID) -> [(
        number: TransferTaskNumber, order: TransferOrder, isSuspended: Bool
    )] {
        bench.router.transferTasks(of: app, in: session)
    }

    /// The instant of a date, in seconds since 1970; one before the run is its beginning.
    func instant(of date: Double) -> Instant {
        let nanoseconds = date * 1e9 - Double(phoneClock.epoch)
        return Instant(nanoseconds: Int64(max(0, min(9e18, nanoseconds))))
    }
}

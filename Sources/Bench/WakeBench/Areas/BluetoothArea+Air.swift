import WakeBluetooth
import WakeDevices
import WakeJSON
import WakeModel
import WakePorts
import WakeRouter
import WakeSystem

/// What the phones of one bench share.
final class PhonesAir {
    fileprivate let air = SharedAir()
    let bridges: RadioBridges

    /// - Parameters:
    ///   - state: the folder of the phones, where pairings of `bluetooth=hci` last.
    ///   - loop: the bench's.
    init(state: String, loop: EventLoop) {
        bridges = RadioBridges(keys: "\(state)/\(RunFolder.radioName)", loop: loop)
    }
}

extension Run {
    /// The phone is there for the others from now on, if its time is theirs.
    ///
    /// - Parameter wake: has it take a turn, later.
    func join(_ shared: PhonesAir, wake: @escaping () -> Void) {
        if realTime { areas.bluetooth.join(shared.air, as: options.phoneName, wake: wake) }
    }

    /// The phone is there no more.
    ///
    /// - Parameter suddenly: without a word to those that are linked to it.
    func leaveAir(suddenly: Bool) { areas.bluetooth.leaveAir(suddenly: suddenly) }
}

/// Ends the links of centrals to a phone that is shut down, or restarts.
private final class Restarts: BenchObserver {
    private let role: SimulatedPeripheralRole

    init(_ role: SimulatedPeripheralRole) { self.role = role }

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        switch item.input {
        case .phone(.reboot), .phone(.shutDown): role.endLinks(at: now)
        default: break
        }
    }
}

extension BluetoothArea {
    /// Has a phone that centrals may be linked to watch for its restarts.
    func watchRestarts(_ run: Run) {
        guard let phones, run.live != nil || run.scenario.devices.contains(where: { $0.central != nil }) else { return }
        run.bench.add(Restarts(phones))
    }

    static func check(_ setup: AreaSetup) throws(CommandFailure) {
        try checkTransports(setup)
        try checkPhones(setup)
    }

    /// Refuses transports without their backend, and that without them.
    private static func checkTransports(_ setup: AreaSetup) throws(CommandFailure) {
        let options = setup.options
        guard setup.backends[source] == BluetoothBridge.word else {
            guard !options.hci.isEmpty else { return }
            throw CommandFailure(.usage, "--hci is for bluetooth=hci", hint: "give --backend bluetooth=hci as well")
        }
        guard !options.hci.isEmpty else {
            let hint = "name its controller, such as --hci usb:0 or --hci tcp-client:localhost:6402"
            throw CommandFailure(.usage, "bluetooth=hci needs --hci TRANSPORT", hint: hint)
        }
        guard options.radioProgram != nil else {
            throw CommandFailure(.environment, "bluetooth=hci: \(BluetoothBridge.missingProgram)")
        }
    }

    /// Refuses other phones where there are none.
    private static func checkPhones(_ setup: AreaSetup) throws(CommandFailure) {
        guard let device = setup.scenario.devices.first(where: { $0.phone != nil }), let phone = device.phone?.phone
        else {
            return
        }
        let place = CommandFailure.Place(file: setup.scenario.file, line: device.line, column: device.column)
        guard setup.isLive else {
            throw CommandFailure(
                .usage,
                at: place,
                "'\(device.name)' is the phone '\(phone)' of a daemon, and a run of its own has no other phones",
                hint: "make both with 'wakebench phone create', and boot them in one 'wakebench serve'"
            )
        }
        guard setup.realTime else {
            throw CommandFailure(
                .usage,
                at: place,
                "'\(device.name)' is the phone '\(phone)', and two virtual clocks have no common time",
                hint: "make the phones with --clock real"
            )
        }
        guard setup.backends[source] == "simulated" else {
            throw CommandFailure(
                .usage,
                at: place,
                "'\(device.name)' is the phone '\(phone)', which is on the simulated radio alone",
                hint: "leave --backend \(source.word)=\(setup.backends[source]) away"
            )
        }
        guard phone != setup.options.phoneName else {
            throw CommandFailure(
                .usage,
                at: place,
                "'\(device.name)' is the phone itself",
                hint: "name another phone"
            )
        }
    }

    /// The bench is back after it died: links to other phones are none any more, and the journal has it.
    func closePhoneLinks(_ run: Run, _ origin: NameID, isReplay: Bool) {
        guard !isReplay else { return }
        for device in run.scenario.devices where device.phone != nil {
            guard let name = run.names.known(device.name), run.bench.router.connectedPeripherals.contains(name) else {
                continue
            }
            let event = WakeEvent(
                kind: .peripheralDisconnected,
                peripheral: name,
                subject: name,
                failed: true,
                origin: origin
            )
            run.bench.submit(SourceReport(event, .failure(.peripheralDisconnected)))
        }
    }

    /// What clients are told of another phone.
    func describe(phone: BluetoothPhone, _ device: ScenarioDevice, into writer: inout JSONWriter) {
        writer.key("phone")
        writer.string(phone.phone)
        guard let isInReach = simulated?.isInReach(phone: device.name) else { return }
        writer.key("in_range")
        writer.bool(isInReach)
    }
}

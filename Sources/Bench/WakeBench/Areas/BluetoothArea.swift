import WakeBluetooth
import WakeCaptures
import WakeDevices
import WakeJSON
import WakeModel
import WakePorts
import WakeReports
import WakeRouter
import WakeSystem
import WakeWire

/// Puts another radio before the run's own; a benchmark reads its values from a descriptor so.
package typealias RadioWrap = (any BluetoothCentralPort, EventLoop) throws(SystemError) -> any BluetoothCentralPort

/// The radio, what apps are to others as peripherals, and the L2CAP channels of both.
final class BluetoothArea: Area {
    static let source = Source.bluetooth
    static let hasLinks = true
    static let alertRule: RuleID? = .btc9

    static let options = [
        AreaOption(
            name: "--adapter",
            value: "any|ADDRESS",
            help: "the Bluetooth adapter of --backend bluez or bluetooth=hci; default any",
            take: { options, text in
                options.adapter = text == "any" ? nil : text
                return true
            }
        ),
        AreaOption(
            name: "--hci",
            value: "TRANSPORT",
            help: "a controller of --backend bluetooth=hci, by its transport: usb:0, serial:/dev/ttyACM0,1000000, "
                + "tcp-client:HOST:PORT, unix:PATH, hci-socket:0 or another of Bumble's; may be given again",
            expected: "a transport such as usb:0 or tcp-client:localhost:6402",
            take: { options, text in
                options.hci.append(text)
                return (text.contains(":") || text == "android-netsim") && text.utf8.count <= 512
            }
        ),
        AreaOption(
            name: "--capture",
            value: "FORMAT[,FORMAT]",
            help: "write what the radio does to hci.FORMAT in the run folder, without keys, for Wireshark and others: "
                + TraceFormat.allCases.map(\.rawValue).joined(separator: " or "),
            expected: "formats from \(TraceFormat.allCases.map(\.rawValue).joined(separator: " and "))",
            take: { options, text in
                let formats = text.split(separator: ",", omittingEmptySubsequences: false)
                    .map { TraceFormat(rawValue: String($0)) }
                options.capture = formats.compactMap { $0 }
                return !formats.contains(nil) && Set(formats).count == formats.count
            }
        ),
    ]

    let radio: any BluetoothCentralPort
    let peripheralRole: any BluetoothPeripheralPort
    /// The real radio, whose adapter others may share; nil when the run has none.
    let real: BlueZBluetooth?
    /// What the real radio speaks to in place of bluetoothd; nil when it speaks to that.
    private let bridge: BluetoothBridgeShare?
    let simulated: SimulatedBluetooth?
    let phones: SimulatedPeripheralRole?
    private(set) var keeper: ChannelKeeper?
    /// Where a capture of the run gets its packets.
    let trace: any BluetoothTracePort
    private let notes: StepNotes
    /// How apps stand with a characteristic of a device, by the device's place in the scenario.
    private var standings: (Int, String) -> String = { _, _ in "" }

    var sources: [any SourcePort] { (bridge.map { [$0] } ?? []) + [radio, peripheralRole] }

    init(_ setup: AreaSetup, wrap: RadioWrap?) throws(SystemError) {
        let (scenario, names, loop) = (setup.scenario, setup.names, setup.loop)
        notes = setup.notes
        let own: any BluetoothCentralPort
        bridge = try Self.bridge(setup)
        if setup.backends[Self.source] != "simulated" {
            let real = try BlueZBluetooth(
                devices: scenario.devices,
                names: names,
                loop: loop,
                choice: .init(address: setup.options.adapter),
                bus: bridge?.address ?? .system,
                of: bridge == nil ? .bluetoothd : .bridge
            )
            (own, self.real, simulated, phones) = (real, real, nil, nil)
            peripheralRole = try BlueZPeripheralRole(
                devices: scenario.devices,
                names: names,
                loop: loop,
                beside: real,
                isNeeded: scenario.needsPeripheralRole
            )
            trace = BlueZTrace(of: real.adapter, on: loop)
        } else {
            let radio = SimulatedBluetooth(
                devices: scenario.devices,
                names: names,
                seed: setup.seed,
                keepsAttributes: setup.profile.areas.bluetooth.attributeCache,
                loop: loop
            )
            let phones = SimulatedPeripheralRole(
                devices: scenario.devices,
                names: names,
                seed: setup.seed,
                beside: radio
            )
            (own, real, peripheralRole, self.phones) = (radio, nil, phones, phones)
            simulated = wrap == nil ? radio : nil
            trace = radio
        }
        radio = try wrap?(own, loop) ?? own
    }

    /// What `--hci` asks for; nil without it.
    private static func bridge(_ setup: AreaSetup) throws(SystemError) -> BluetoothBridgeShare? {
        guard setup.backends[source] == BluetoothBridge.word, let program = setup.options.radioProgram else {
            return nil
        }
        return try setup.bridges.share(setup.options.hci, program: program, tell: setup.options.tell)
    }

    func connect(to run: Run) {
        bridge?.note = { [unowned run] in run.recorder.note($0, at: run.present) }
        real?.note = { [unowned run] in run.recorder.note($0, at: run.present) }
        let keeper = keep(.channels, in: run, take: { [radio] in radio.takeChannel($0) }) { host, app, manager in
            host.channelHoldsBytes(of: app, manager: manager)
        }
        self.keeper = keeper
        simulated?.missed = { [notes] in notes.add($0, of: $1?.app, at: $2) }
        phones?.missed = { [notes] in notes.add($0, at: $1) }
        phones?.carriedOut = { [notes] in notes.recorder?.note(step: $0, at: $1) }
        standings = { [unowned run] in run.standings(withDevice: $0, $1) }
        if let capture = run.capture { trace.trace(since: capture.start) { capture.write($0) } }
        watchRestarts(run)
        simulated?.table.written = { [weak keeper] in keeper?.wrote(to: $0) }
    }

    func begin(_ scenario: Scenario, isReplay: Bool) {
        guard !scenario.phone.bluetooth, !isReplay || radio.isReplayed else { return }
        radio.setPower(false, at: .zero)
    }

    static func declare(_ app: ScenarioApp, in manifest: inout AppManifest, _ names: NameTable) {
        manifest.bluetoothAuthorization = app.bluetoothAuthorization
    }

    func closeLinks(_ run: Run, _ origin: NameID, at now: Instant, isReplay: Bool) {
        for device in run.scenario.devices {
            // Every device of the scenario is known to its end.
            if device.peripheral != nil {
                try? simulated?.simulateDisconnect(device: device.name, origin: origin, at: now)
            }
            if device.central != nil { try? phones?.endLink(of: device.name, at: now) }
        }
        closePhoneLinks(run, origin, isReplay: isReplay)
        guard simulated == nil, !isReplay else { return }
        for peripheral in run.bench.router.connectedPeripherals {
            let event = WakeEvent(
                kind: .peripheralDisconnected,
                peripheral: peripheral,
                subject: peripheral,
                origin: origin
            )
            run.bench.submit(SourceReport(event, .failure(.peripheralDisconnected)))
        }
    }

    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {
        try simulated?.code(with: &coder)
        try phones?.code(with: &coder)
    }

    var canBeKept: Bool { phones?.canBeKept != false }

    // MARK: Steps

    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure) {
        switch verb {
        case .notify(let devices, let characteristic, let value):
            let radio = try radio(for: "notify")
            for device in devices {
                let name = scenario.devices[device].name
                let isHeard = try radio.simulateNotification(
                    device: name,
                    characteristic: characteristic,
                    value: value,
                    origin: origin,
                    at: now
                )
                if isHeard { continue }
                let (why, isOfApps) = radio.silence(of: name, on: characteristic)
                let apps = isOfApps ? standings(device, characteristic) : ""
                notes.add("notify \(name) \(characteristic) \(value.hexadecimal)", why + apps, at: now)
            }
        case .order(let orders):
            let named = orders.map { (scenario.devices[$0.device].name, $0.action) }
            try phones(for: orders.first?.word ?? "connect").simulate(named, at: now)
        case .forgetAttributes(let devices):
            let radio = try radio(for: "forget-attributes")
            for device in devices {
                let name = scenario.devices[device].name
                if try radio.forgetAttributes(of: name) {
                    notes.recorder?.note(step: Note.forgotten(name), at: now)
                } else {
                    notes.add("forget-attributes \(name)", "nothing changed, as the phone keeps none of it", at: now)
                }
            }
        default: break
        }
    }

    func act(_ verb: Verb, _ origin: NameID, in run: Run, at now: Instant) {
        guard case .update(let apps, let characteristic, let value) = verb else { return }
        for app in apps {
            let id = AppID(UInt32(app))
            if run.scripted.notify(characteristic, value, by: id) { continue }
            let what = "notify \(run.scenario.apps[app].name) \(characteristic) \(value.hexadecimal)"
            let why = "\(ScriptedAppHost.mostUnsent) of its values wait to be sent"
            // What an app has waiting does not come back with a journal.
            notes.add(what, why, of: id, at: now, isReplayed: false)
        }
    }

    var isCarryingOut: Bool { phones?.isCarryingOutOrders == true }

    func hasOwnLink(_ device: ScenarioDevice) -> Bool {
        device.central != nil && phones?.isConnected(device.name) == true
    }

    func owns(_ device: ScenarioDevice) -> Bool {
        device.peripheral != nil || device.beacon != nil || device.central != nil || device.phone != nil
    }

    func disconnect(_ device: ScenarioDevice, _ origin: NameID, at now: Instant) throws(SourceFailure) {
        if hasLink(device) == false {
            // A link with another phone does not come back with a journal.
            notes.add("disconnect \(device.name): it has no link", at: now, isReplayed: device.phone == nil)
        }
        if device.phone != nil {
            try radio(for: "disconnect").simulateDisconnect(phone: device.name, at: now)
            try phones(for: "disconnect").simulateDisconnect(device: device.name, at: now)
        } else if device.central != nil {
            try phones(for: "disconnect").simulateDisconnect(device: device.name, at: now)
        } else {
            try radio(for: "disconnect").simulateDisconnect(device: device.name, origin: origin, at: now)
        }
    }

    /// Nil where the end is real.
    private func hasLink(_ device: ScenarioDevice) -> Bool? {
        if device.phone != nil, let simulated {
            return simulated.hasLink(phone: device.name) == true || phones?.isConnected(device.name) == true
        }
        return device.central == nil ? simulated?.hasLink(device.name) : phones?.isConnected(device.name)
    }

    func move(_ device: ScenarioDevice, inRange: Bool, at now: Instant) throws(SourceFailure) {
        let step = inRange ? "in-range" : "out-of-range"
        let isOfRole = device.central != nil || device.phone != nil
        let isThere = isOfRole ? phones?.isInRange(device.name) : simulated?.isInRange(device.name)
        if isThere == inRange {
            notes.add("\(step) \(device.name): it is \(inRange ? "in" : "out of") range already", at: now)
        } else if simulated?.isInReach(phone: device.name) == false, !inRange {
            notes.add("\(step) \(device.name): that phone is not on the air", at: now, isReplayed: false)
        } else if simulated?.isAwaited(beacon: device.name) == false {
            let rest = "it is \(inRange ? "in" : "out of") range all the same"
            notes.add("\(step) \(device.name): no app asks for beacons like it now; \(rest)", at: now)
        }
        if device.phone != nil {
            try radio(for: step).simulateRange(phone: device.name, inRange: inRange, at: now)
            try phones(for: step).simulateRange(device: device.name, inRange: inRange, at: now)
        } else if device.central != nil {
            try phones(for: step).simulateRange(device: device.name, inRange: inRange, at: now)
        } else {
            try radio(for: step).simulateRange(device: device.name, inRange: inRange, at: now)
        }
    }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {
        if device.central != nil {
            try phones(for: "arm").arm(fault: fault, device: device.name, at: now)
        } else {
            let radio = try radio(for: "arm")
            let why = radio.lack(of: fault, device.name)
            try radio.arm(fault: fault, device: device.name, at: now)
            if let why { notes.add("arm \(device.name) \(fault)", why, at: now) }
        }
    }

    func join(_ air: SharedAir, as phone: String, wake: @escaping () -> Void) {
        simulated?.join(air, as: phone, wake: wake)
        real?.share(air)
    }

    func leaveAir(suddenly: Bool) { simulated?.leaveAir(suddenly: suddenly) }

    private func radio(for step: String) throws(SourceFailure) -> SimulatedBluetooth {
        try need(simulated, for: step, "the device")
    }

    private func phones(for step: String) throws(SourceFailure) -> SimulatedPeripheralRole {
        try need(phones, for: step, "the central")
    }
}

extension BluetoothArea {
    /// How strong its signal is and whether it is in reach, as far as the radio knows, and the characteristics that it can notify, each with its value.
    func describe(_ device: ScenarioDevice, into writer: inout JSONWriter) {
        if let phone = device.phone { return describe(phone: phone, device, into: &writer) }
        if let strength = simulated?.signalStrength(of: device.name) ?? real?.signalStrength(of: device.name) {
            writer.key("rssi")
            writer.integer(Int64(strength))
        }
        if let isInRange = simulated?.isInRange(device.name) {
            writer.key("in_range")
            writer.bool(isInRange)
        }
        guard let simulated, device.peripheral != nil else { return }
        writer.key("notifies")
        writer.openArray()
        for (uuid, value) in simulated.notified(by: device.name) {
            writer.openObject()
            writer.key("characteristic")
            writer.string(uuid)
            writer.key("value")
            writer.string(value.hexadecimal)
            writer.closeObject()
        }
        writer.closeArray()
    }
}

extension ChannelKeeper.Kinds {
    /// L2CAP channels: their end is data to be read (BTC-1).
    fileprivate static let channels = ChannelKeeper.Kinds(
        origin: "channel",
        opening: .channelOpened,
        holdsData: .channelDataAvailable
    )
}

extension Run {
    /// Says how much from the air there was no name for.
    func noteUnnamed() {
        let count = areas.bluetooth.real?.unnamed ?? 0
        if count > 0 { recorder.note("Bluetooth: \(count) times there was no name for what came", at: reached) }
    }

    /// Says what devices and apps look for, await or have not carried out at the end.
    func noteUnfinished() {
        for line in areas.bluetooth.phones?.unfinished ?? [] { recorder.miss(line, at: reached) }
        for (app, line) in scripted.unfinished {
            recorder.miss("script of \(name(of: app)): \(line)", of: app, at: reached)
        }
    }
}

extension Run {
    /// How apps that may use a device, or had a link to it, stand with one of its characteristics, in brackets; empty for none.
    fileprivate func standings(withDevice device: Int, _ characteristic: String) -> String {
        let peripheral = scenario.devices[device].name
        guard let name = names.known(peripheral) else { return "" }
        let value = names.known("\(peripheral)/\(characteristic)")
        let lines = scenario.apps.enumerated().compactMap { number, app -> String? in
            let uses: Bool =
                switch app.form {
                case .scripted(let script): script.uses.contains { $0.device == device }
                // What a real app connects to, nobody knows before it does.
                case .bundle: true
                }
            let link = recorder.loss(of: number, [.connection, .pendingConnect], name)
            let subscription = value.flatMap { recorder.loss(of: number, [.subscription], $0) }
            let standing: String? =
                switch bench.router.standing(of: AppID(UInt32(number)), with: name) {
                case .connected: subscription ?? "is connected and has not subscribed"
                case .pending: "waits for the link"
                case .unlinked: link ?? (uses ? deathAtLaunch(of: number) ?? "has no link" : nil)
                case .neverRan: uses ? "has not run yet" : nil
                case .notInstalled: link ?? (uses ? "is not installed" : nil)
                }
            return standing.map { "\(app.name) \($0)" }
        }
        return Self.brackets(lines)
    }

    /// How and when an app that does not run died at its launch; nil for any other.
    private func deathAtLaunch(of number: Int) -> String? {
        guard bench.router.state(of: AppID(UInt32(number))) == .notRunning else { return nil }
        return recorder.deathAtLaunch(of: number)
    }
}

extension AppView {
    var radio: any BluetoothCentralPort { areas.bluetooth.radio }

    /// Whether the app's manager holds a link that is up, a pending one, or none.
    func linkState(of app: AppID, manager: ManagerNumber, to peripheral: NameID) -> WireLinkState {
        switch bench.router.connection(of: app, manager: manager, to: peripheral) {
        case .some(true): .connected
        case .some(false): .connecting
        case .none: .disconnected
        }
    }

    /// What an app's manager has found of a peripheral, for its restoration; nil when that was never seen.
    func found(_ peripheral: NameID, by app: AppID, manager: ManagerNumber) -> KnownPeripheral? {
        bench.router.client(of: app, manager: manager).flatMap { radio.knownPeripheral(peripheral, of: $0) }
    }

    /// How many bytes an update to a central may have.
    func maximumUpdateLength(of central: NameID) -> UInt16 {
        areas.bluetooth.peripheralRole.maximumUpdateLength(of: central)
    }

    /// Why no app can be a peripheral, in words; nil where they can.
    var peripheralInability: String? { areas.bluetooth.peripheralRole.inability }

    /// How many write commands to a peripheral the radio takes of a manager, and in which turn of the bench that is asked.
    func writeRoom(of app: AppID, manager: ManagerNumber, to peripheral: NameID) -> (room: Int, turn: UInt64) {
        let client = bench.router.client(of: app, manager: manager)
        return (client.map { radio.writeRoom(of: $0, to: peripheral) } ?? 0, bench.sequence)
    }

    /// How many updates the peripheral end takes of a manager, and in which turn of the bench that is asked.
    func updateRoom(of app: AppID, manager: ManagerNumber) -> (room: Int, turn: UInt64) {
        let client = bench.router.client(of: app, manager: manager)
        return (client.map(areas.bluetooth.peripheralRole.updateRoom) ?? .max, bench.sequence)
    }
}

extension BluetoothArea {
    /// The three lines of `--backend bluez`, and that of `--backend bluetooth=hci`.
    static func examine(_ installation: Doctor.Installation) -> [Doctor.Line] {
        let found = BlueZPresence.examine()
        let bus = found.busFailure.map { "\($0); start dbus.service" }
        let daemon = found.daemonFailure.map {
            "\($0); install the package bluez and start bluetooth.service; simulated Bluetooth works without"
        }
        let adapters = found.adapters.map {
            "\($0.name) \($0.address)\($0.powered ? "" : ", switched off: a run switches it on")"
        }
        let missing =
            daemon == nil
            ? "bluetoothd has none; plug one in, and see bluetoothctl list" : "only bluetoothd knows"
        return [
            Doctor.Line(what: "system D-Bus", good: bus == nil, finding: bus ?? "answers"),
            Doctor.Line(what: "bluetoothd", good: daemon == nil, finding: daemon ?? "answers"),
            Doctor.Line(
                what: "Bluetooth adapter",
                good: !adapters.isEmpty,
                finding: adapters.isEmpty ? missing : adapters.joined(separator: "; ")
            ),
            BluetoothBridge.examine(installation.radioProgram),
        ]
    }
}

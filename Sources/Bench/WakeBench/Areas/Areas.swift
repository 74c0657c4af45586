import WakeDevices
import WakeExternalAccessory
import WakeModel
import WakePorts
import WakeProcesses
import WakeRouter
import WakeSystem
import WakeWire

/// The areas of a run, a row each.
struct Areas {
    /// In the order in which their ends start.
    static var rows: [any Area.Type] {
        [
            BluetoothArea.self,
            LocationArea.self,
            AudioArea.self,
            AccessoryArea.self,
            VoIPArea.self,
            NotificationArea.self,
            TransferArea.self,
            PushArea.self,
            BackgroundTaskArea.self,
        ]
    }

    /// The area that a source is of.
    static func row(of source: Source) -> any Area.Type {
        guard let area = rows.first(where: { $0.source == source }) else {
            preconditionFailure("\(source.word) is of no area")
        }
        return area
    }

    /// What stands of their events until they say otherwise.
    static let standing = [LocationArea.standing, AccessoryArea.standing]

    let bluetooth: BluetoothArea
    let location: LocationArea
    let audio: AudioArea
    let accessory: AccessoryArea
    let voip: VoIPArea
    let notification: NotificationArea
    let transfer: TransferArea
    let push: PushArea
    let backgroundTask: BackgroundTaskArea

    /// In the order of ``rows``.
    let all: [any Area]
    /// In the order in which they start.
    let sources: [any SourcePort]

    init(_ setup: AreaSetup, wrap: RadioWrap?) throws(CommandFailure) {
        for area in Self.rows { try area.check(setup) }
        do throws(SystemError) {
            bluetooth = try BluetoothArea(setup, wrap: wrap)
            location = try LocationArea(setup)
            audio = try AudioArea(setup)
            accessory = try AccessoryArea(setup) { [bluetooth] (devices) throws(SystemError) in
                // One adapter serves both.
                try RFCOMMAccessories(
                    devices: devices,
                    names: setup.names,
                    loop: setup.loop,
                    choice: .init(address: setup.options.adapter),
                    beside: bluetooth.real?.adapter
                )
            }
            voip = VoIPArea(setup)
            notification = NotificationArea(setup)
            transfer = TransferArea(setup)
            push = PushArea(setup)
            backgroundTask = BackgroundTaskArea(setup)
        } catch {
            throw CommandFailure(.internal, error.description)
        }
        all = [
            bluetooth,
            location,
            audio,
            accessory,
            voip,
            notification,
            transfer,
            push,
            backgroundTask,
        ]
        sources = all.flatMap(\.sources)
    }
}

extension ProcessAppHost {
    /// A request of a real app to an area.
    func heardRequest(_ message: AppMessage, with descriptors: inout ReceivedDescriptors, from app: AppID) {
        switch message {
        case .central(let manager, let request): heard(request, manager: manager, from: app)
        case .peripheral(let manager, let peripheral, let request):
            heard(request, manager: manager, peripheral: peripheral, from: app)
        case .peripheralManager(let manager, let request): heard(request, manager: manager, from: app)
        case .location(let manager, let request): heard(request, manager: manager, from: app)
        case .audio(let manager, let request): heard(request, manager: manager, from: app)
        case .accessory(let manager, let request): heard(request, manager: manager, from: app)
        case .voip(let request): heard(request, with: &descriptors, from: app)
        case .notification(let request): heard(request, from: app)
        case .transfer(let manager, let request): heard(request, manager: manager, from: app)
        case .push(let request): heard(request, from: app)
        case .backgroundTask(let request): heard(request, from: app)
        case .hello, .launched, .acknowledge, .done, .beginTask, .endTask, .timeRemaining, .drew, .signpost: break
        }
    }
}

extension WireDeliveryBody {
    /// Whether it is for what an app makes while it launches. Otherwise what the app does at the first word would come
    /// before or after its launch, by chance.
    var waitsForLaunch: Bool {
        switch self {
        case .location, .voip, .notification, .transfer, .push, .backgroundTask: true
        default: false
        }
    }
}

/// What is the same for all of them.
extension Areas {
    /// The router of a run as it begins.
    static func router(of scenario: Scenario, _ profile: Profile) -> Router {
        Router(
            profile: profile,
            passcode: scenario.phone.passcode,
            bluetoothOn: scenario.phone.bluetooth,
            conditions: scenario.phone.conditions
        )
    }

    func start() throws(CommandFailure) {
        do throws(SourceFailure) {
            for source in sources { try source.start(at: .zero) }
        } catch {
            throw CommandFailure(error.exitCode, error.message)
        }
    }

    /// The radio goes last: others may share its adapter.
    func stop() {
        for source in sources.reversed() { source.stop() }
        for area in all { area.stop() }
    }

    /// The next instant at which one of them has something to do of its own.
    var nextDeadline: Instant {
        var next = Instant.distantFuture
        for source in sources { if let other = source.nextDeadline { next = min(next, other) } }
        return next
    }

    func timeReached(_ now: Instant) {
        for source in sources { source.timeReached(now) }
    }

    /// What an app owes one of them, so that virtual time waits; nil when nothing is owed.
    var owed: String? {
        // Each is asked once: apps write the memory that tells.
        for source in sources { if let owed = source.owed { return owed } }
        return nil
    }

    /// Whether what steps told a device to do is under way, as far as it takes time and ends by itself.
    var isCarryingOut: Bool { all.contains { $0.isCarryingOut } }

    func giveUpWaiting(at now: Instant) {
        for source in sources { source.giveUpWaiting(at: now) }
    }

    /// The radio goes off after what else there is at the start.
    func begin(_ scenario: Scenario, isReplay: Bool) {
        for area in all.reversed() { area.begin(scenario, isReplay: isReplay) }
    }

    /// Carries out a step that acts on devices and places; any other is ignored.
    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure) {
        switch verb {
        case .disconnect(let devices):
            for device in devices {
                try linkOwner(device, scenario).disconnect(scenario.devices[device], origin, at: now)
            }
        case .range(let devices, let inRange):
            for device in devices {
                try linkOwner(device, scenario).move(scenario.devices[device], inRange: inRange, at: now)
            }
        case .arm(let devices, let fault):
            for device in devices { try owner(device, scenario).arm(fault, of: scenario.devices[device], at: now) }
        default: for area in all { try area.perform(verb, origin, in: scenario, at: now) }
        }
    }

    /// Whose link a device has. One without is of nobody, as the radio says.
    private func linkOwner(_ device: Int, _ scenario: Scenario) -> any Area {
        let owner = owner(device, scenario)
        return type(of: owner).hasLinks ? owner : bluetooth
    }

    private func owner(_ device: Int, _ scenario: Scenario) -> any Area {
        let device = scenario.devices[device]
        guard let area = all.first(where: { $0.owns(device) }) else { preconditionFailure("\(device) is of no area") }
        return area
    }
}

extension SourceFailure {
    /// The exit code of a command that ends with it.
    var exitCode: ExitCode {
        switch kind {
        case .environment: .environment
        case .unknown: .invalidFile
        case .unsupported: .usage
        case .wrongState: .wrongState
        }
    }
}

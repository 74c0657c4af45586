import WakeModel
import WakeRouter

/// A router with one app, for records as the router makes them.
struct RoutedPhone {
    /// A phone on which not even a location event brings back an app that was force-quit (the switch of LAUNCH-3).
    static let barring: Profile = {
        var profile = Profile.ios26
        profile.areas.location.liftsForceQuit = false
        return profile
    }()

    private static let belt: AttributeHandle = 0x2a

    let names: NameTable
    let app: AppID
    private var router: Router
    private var now = Instant.zero
    private(set) var decisions: [Decision] = []
    private var lastEvent: UInt64 = 0

    /// The user has opened the app, which has a central manager and is active.
    init(
        _ names: NameTable,
        app number: UInt32,
        bundle: String,
        modes: [BackgroundMode] = [.bluetoothCentral, .fetch],
        profile: Profile = .ios17,
        accessorySetup: Bool = false
    ) {
        self.names = names
        app = AppID(number)
        router = Router(profile: profile)
        for other in 0...number {
            let name = names.intern(other == number ? bundle : "com.acme.other\(other)")
            let manifest = AppManifest(bundle: name, modes: BackgroundModes(modes), accessorySetup: accessorySetup)
            hear(.install(AppID(other), manifest))
        }
        hear(.user(app, .launch))
        hear(.request(app, .createManager(1, restoreIdentifier: names.intern("acme.central"))))
        hear(.process(app, .launched))
    }

    mutating func hear(_ input: Input, id: EventID? = nil) {
        lastEvent += 1
        let id = id ?? EventID(lastEvent)
        var input = input
        if case .event(var event) = input {
            event.id = id
            input = .event(event)
        }
        var output = RouterOutput()
        router.handle(input, id: id, at: now, into: &output)
        decisions += output.decisions
        for case .raise(let event, _) in output.actions { hear(.event(event)) }
    }

    /// Time passes; each deadline is handled when it comes.
    mutating func pass(until target: Instant) {
        while let next = router.nextDeadline, next <= target {
            now = max(now, next)
            hear(.timeReached)
        }
        now = max(now, target)
    }

    // MARK: The app

    /// It connects to the belt, and subscribes.
    mutating func subscribe(at instant: Instant) {
        pass(until: instant)
        hear(.request(app, .connect(1, peripheral: peripheral)))
        let client = BluetoothClient(app: app, slot: 0)
        hear(.event(WakeEvent(kind: .peripheralConnected, peripheral: peripheral, client: client)))
        hear(.request(app, .operate(1, peripheral: peripheral, .setNotify(Self.belt, true))))
    }

    /// The user sets up the belt in its picker.
    mutating func setUp() { hear(.setUp(app, peripheral: peripheral)) }

    /// It looks for peripherals that advertise any of this many services.
    mutating func scan(services count: Int) {
        let services = (0..<count).map { names.intern("180\($0)") }
        hear(.request(app, .scan(1, services: services, allowDuplicates: false)))
    }

    /// It waits for the belt, whose connection comes up after a restart of the phone: what was decided for the app.
    mutating func connectAfterRestart(at instant: Instant) -> Decision {
        hear(.request(app, .connect(1, peripheral: peripheral)))
        suspend(at: now)
        hear(.phone(.reboot))
        hear(.phone(.unlock))
        pass(until: instant)
        let client = BluetoothClient(app: app, slot: 0)
        hear(.event(WakeEvent(kind: .peripheralConnected, peripheral: peripheral, client: client)))
        return decisions.last { $0.kind == .peripheralConnected }!
    }

    /// It monitors a region.
    mutating func monitorHome(at instant: Instant, always: Bool) {
        pass(until: instant)
        hear(.request(app, .location(2, .create)))
        hear(.request(app, .location(2, .requestAuthorization(always: always))))
        let center = Direction(x: 1, y: 0, z: 0)
        let region = CircularRegion(identifier: home, center: center, metres: 100, profile: router.profile)
        hear(.request(app, .location(2, .monitor(region))))
    }

    mutating func suspend(at instant: Instant) {
        pass(until: instant)
        hear(.user(app, .home))
        hear(.process(app, .returned(.didEnterBackground)))
        hear(.process(app, .suspended))
    }

    mutating func forceQuit(at instant: Instant, by id: EventID) {
        pass(until: instant)
        hear(.user(app, .forceQuit), id: id)
    }

    // MARK: What happens

    private var peripheral: NameID { names.intern("heart-rate-belt") }
    private var home: NameID { names.intern("home") }
    private var origin: NameID { names.intern("night.yaml:31") }

    /// The belt notifies: what was decided for the app, or for nobody.
    mutating func notify(at instant: Instant) -> Decision {
        pass(until: instant)
        hear(
            .event(
                WakeEvent(
                    kind: .characteristicNotified,
                    peripheral: peripheral,
                    attribute: Self.belt,
                    subject: names.intern("heart-rate-belt/2A37"),
                    origin: origin
                )
            )
        )
        return decisions.last { $0.kind == .characteristicNotified }!
    }

    /// The belt is seen: what was decided for the app.
    mutating func sight(at instant: Instant) -> Decision {
        pass(until: instant)
        let services = [names.intern("1800")]
        hear(.event(WakeEvent(kind: .peripheralDiscovered, peripheral: peripheral, services: services, origin: origin)))
        return decisions.last { $0.kind == .peripheralDiscovered }!
    }

    /// The phone comes home: what was decided for the app.
    mutating func enterHome(at instant: Instant) -> Decision {
        pass(until: instant)
        hear(.event(WakeEvent(kind: .regionEntered, subject: home, region: home, origin: origin)))
        return decisions.last { $0.kind == .regionEntered }!
    }
}

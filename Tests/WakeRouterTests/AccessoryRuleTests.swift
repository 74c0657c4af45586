import RouterSnapshots
import Testing
import WakeModel
import WakeRouter

/// Verbs for accessories.
extension Phone {
    static let log = NameID(50)
    static let keys = NameID(51)
    static let dock = NameID(52)
    static let accessoryManager: ManagerNumber = 9

    var accessoryCommands: [AccessoryCommand] {
        actions.compactMap { if case .command(.accessory(let command)) = $0 { command } else { nil } }
    }

    /// The managers that got something, in order.
    var deliveredManagers: [ManagerNumber] {
        actions.compactMap { if case .deliver(_, let manager, _, _, _) = $0 { manager } else { nil } }
    }

    mutating func installAccessoryApp(
        _ modes: [BackgroundMode] = [.externalAccessory],
        lists protocols: [NameID] = [Phone.log],
        number: UInt32 = 0
    ) -> AppID {
        let app = AppID(number)
        hear(
            .install(
                app,
                AppManifest(
                    bundle: NameID(100 + number),
                    modes: BackgroundModes(modes),
                    accessoryProtocols: protocols
                )
            )
        )
        return app
    }

    /// The user opens the app, which asks for notifications.
    mutating func openAccessoryApp(_ app: AppID, registers: Bool = true) {
        user(.launch, app)
        if registers { ask(app, .register) }
        report(app, .launched)
    }

    mutating func ask(_ app: AppID, _ request: AccessoryRequest) {
        self.request(app, .accessory(Phone.accessoryManager, request))
    }

    @discardableResult
    mutating func plug(_ connection: AccessoryConnection = 1, offers: [NameID] = [Phone.log]) -> EventID {
        dockEvent(.accessoryConnected, connection, offers: offers)
    }

    @discardableResult
    mutating func pull(_ connection: AccessoryConnection = 1) -> EventID {
        dockEvent(.accessoryDisconnected, connection)
    }

    @discardableResult
    mutating func dockEvent(
        _ kind: EventKind,
        _ local: UInt32,
        offers: [NameID] = [Phone.log],
        failed: Bool = false
    ) -> EventID {
        hear(
            .event(WakeEvent(kind: kind, peripheral: Phone.dock, local: local, failed: failed, services: offers))
        )
    }

    /// The app opens a session of its own number 20, and the port says yes.
    mutating func openSession(_ app: AppID, _ connection: AccessoryConnection = 1, answered: Bool = true) {
        ask(app, .open(20, accessory: connection, protocolName: Phone.log))
        guard answered, case .open(let session, _, _)? = accessoryCommands.last else { return }
        dockEvent(.accessorySessionOpened, session)
    }

    /// An app with the mode, or without, that is suspended after it opened a session; nothing before counts.
    mutating func suspendedHolder(_ modes: [BackgroundMode] = [.externalAccessory]) -> AppID {
        let app = installAccessoryApp(modes)
        openAccessoryApp(app)
        plug()
        openSession(app)
        leave(app)
        forget()
        return app
    }
}

@Suite("External accessories: who hears of them, and when")
struct AccessoryRuleTests {
    @Test("EA-2: data, connection and disconnection wake a suspended app for ten seconds", arguments: [0, 1, 2])
    func wakes(event: Int) {
        var phone = Phone()
        let app = phone.suspendedHolder()
        switch event {
        case 0: phone.dockEvent(.accessoryDataAvailable, 1)
        case 1: phone.plug(2)
        default: phone.pull()
        }
        #expect(phone.verdicts == [.resume])
        #expect(phone.last?.snapshot.budgetLimit == .seconds(10))
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("EA-1: with the mode a session survives suspension")
    func survives() {
        var phone = Phone()
        _ = phone.suspendedHolder()
        #expect(phone.accessoryCommands == [])
    }

    @Test("EA-1: without the mode sessions close in the background, and the app sees disconnect and connect")
    func withoutMode() {
        var phone = Phone()
        let app = phone.installAccessoryApp([])
        phone.openAccessoryApp(app)
        phone.plug()
        phone.openSession(app)
        phone.forget()
        phone.user(.home, app)
        #expect(phone.accessoryCommands == [.close(1)])
        #expect(phone.last?.kind == .accessoryDisconnected)
        #expect(phone.last?.verdict == .backgroundDeliver)
        #expect(phone.last?.rule == .ea1)
        #expect(phone.router.visibleAccessories(of: app) == [])
        phone.report(app, .returned(.didEnterBackground))
        phone.report(app, .suspended)
        phone.forget()
        phone.plug(2)
        #expect(phone.reasons == [.accessoryModeMissing])
        phone.forget()
        phone.user(.launch, app)
        #expect(phone.decisions.map(\.kind) == [.accessoryConnected, .accessoryConnected])
        #expect(phone.verdicts == [.foregroundDeliver, .foregroundDeliver])
        #expect(phone.router.visibleAccessories(of: app) == [1, 2])
    }

    @Test("EA-3: an accessory is visible only to an app that lists one of its protocols")
    func visible() {
        var phone = Phone()
        let lists = phone.installAccessoryApp()
        let other = phone.installAccessoryApp(lists: [Phone.keys], number: 1)
        phone.openAccessoryApp(other)
        phone.openAccessoryApp(lists)
        phone.forget()
        phone.plug()
        #expect(phone.decisions.map(\.app) == [lists, other])
        #expect(phone.reasons == [.inForeground, .protocolNotListed])
        #expect(phone.router.visibleAccessories(of: lists) == [1])
        #expect(phone.router.visibleAccessories(of: other) == [])
    }

    @Test("EA-3: a session for an unlisted protocol is nil")
    func unlisted() {
        var phone = Phone()
        let app = phone.installAccessoryApp(lists: [Phone.log])
        phone.openAccessoryApp(app)
        phone.plug(offers: [Phone.log, Phone.keys])
        phone.forget()
        phone.ask(app, .open(20, accessory: 1, protocolName: Phone.keys))
        #expect(phone.faults == [.protocolNotListed])
        #expect(phone.accessoryCommands == [])
        #expect(phone.raised.map(\.event.failed) == [true])
        #expect(phone.deliveredManagers == [20])
    }

    @Test("EA-4: an app that did not ask for notifications gets none")
    func notAsked() {
        var phone = Phone()
        let app = phone.installAccessoryApp()
        phone.openAccessoryApp(app, registers: false)
        phone.forget()
        phone.plug()
        #expect(phone.reasons == [.notificationsNotAsked])
        #expect(phone.router.visibleAccessories(of: app) == [1])
        phone.ask(app, .register)
        phone.plug(2)
        #expect(phone.last?.verdict == .foregroundDeliver)
        phone.ask(app, .unregister)
        phone.plug(3)
        #expect(phone.last?.reason == .notificationsNotAsked)
    }

    @Test("EA-4: an app that holds a session hears that its accessory is gone, asked or not")
    func holderHears() {
        var phone = Phone()
        let app = phone.installAccessoryApp()
        phone.openAccessoryApp(app, registers: false)
        phone.plug()
        phone.openSession(app)
        phone.leave(app)
        phone.forget()
        phone.pull()
        #expect(phone.verdicts == [.resume])
    }

    @Test("EA-5: one session per accessory and protocol, until it is closed")
    func oneSession() {
        var phone = Phone()
        let first = phone.installAccessoryApp()
        let second = phone.installAccessoryApp(number: 1)
        phone.openAccessoryApp(first)
        phone.plug()
        phone.openSession(first)
        phone.leave(first)
        phone.openAccessoryApp(second)
        phone.forget()
        phone.openSession(second, answered: false)
        #expect(phone.faults == [.sessionTaken])
        phone.user(.launch, first)
        phone.ask(first, .close(20))
        phone.user(.launch, second)
        phone.ask(second, .open(21, accessory: 1, protocolName: Phone.log))
        #expect(phone.accessoryCommands == [.close(1), .open(3, accessory: 1, protocolName: Phone.log)])
    }

    @Test("EA-5: a session of which bytes were lost wakes the app, and the record says so")
    func overflow() {
        var phone = Phone()
        _ = phone.suspendedHolder()
        phone.dockEvent(.accessorySessionEnded, 1, failed: true)
        #expect(phone.verdicts == [.resume])
        #expect(phone.reasons == [.accessoryBytesLost])
        #expect(phone.last?.rule == .ea5)
        #expect(phone.deliveredManagers == [20])
        phone.forget()
        phone.dockEvent(.accessoryDataAvailable, 1)
        phone.dockEvent(.accessorySessionEnded, 1, failed: true)
        #expect(phone.reasons == [.alreadyRunning, .noRegistration])
        phone.ask(AppID(0), .close(20))
        #expect(phone.accessoryCommands == [.close(1)])
    }

    @Test("EA-5: the sessions of an app that dies are free for others")
    func deadHolder() {
        var phone = Phone()
        let first = phone.suspendedHolder()
        let second = phone.installAccessoryApp(number: 1)
        phone.openAccessoryApp(second)
        phone.forget()
        phone.report(first, .exited(-9))
        #expect(phone.accessoryCommands == [.close(1)])
        phone.openSession(second, answered: false)
        #expect(phone.faults == [])
        #expect(phone.accessoryCommands.last == .open(2, accessory: 1, protocolName: Phone.log))
    }

    @Test("EA-6: events do not relaunch a terminated app", arguments: [ExitCause.memory, .userForceQuit])
    func noRelaunch(cause: ExitCause) {
        var phone = Phone()
        let app = phone.suspendedHolder()
        if cause == .userForceQuit { phone.user(.forceQuit, app) } else { phone.hear(.terminate(app, cause)) }
        phone.forget()
        phone.plug(2)
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [cause == .userForceQuit ? .forceQuit : .notRelaunchedByAccessory])
        #expect(phone.last?.checks[.accessoryReachesProcess] == .fail)
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("An answer to a suspended app waits until it runs")
    func answerWaits() {
        var phone = Phone()
        let app = phone.installAccessoryApp()
        phone.openAccessoryApp(app)
        phone.plug()
        phone.openSession(app, answered: false)
        phone.leave(app)
        phone.forget()
        phone.dockEvent(.accessorySessionOpened, 1)
        #expect(phone.verdicts == [.defer])
        phone.user(.launch, app)
        #expect(phone.reasons == [.answerWaits, .deliveredLater])
        #expect(phone.last?.rule == .launch6)
        #expect(phone.deliveredManagers == [20])
    }

    @Test("An accessory that is gone takes its sessions with it")
    func goneSessions() {
        var phone = Phone()
        let app = phone.suspendedHolder()
        phone.pull()
        phone.plug(2)
        phone.forget()
        phone.dockEvent(.accessoryDataAvailable, 1)
        #expect(phone.reasons == [.noRegistration])
        phone.ask(app, .open(21, accessory: 1, protocolName: Phone.log))
        #expect(phone.faults == [.notConnected])
        phone.ask(app, .open(22, accessory: 2, protocolName: Phone.log))
        #expect(phone.accessoryCommands.last == .open(3, accessory: 2, protocolName: Phone.log))
    }

    @Test("SYS-2: when the bench comes back, what was connected has gone")
    func benchRestart() {
        var phone = Phone()
        let app = phone.suspendedHolder()
        phone.hear(.benchRestarted)
        #expect(phone.decisions.map(\.kind) == [.accessoryDisconnected])
        #expect(phone.reasons == [.notRelaunchedByAccessory])
        phone.openAccessoryApp(app)
        #expect(phone.router.visibleAccessories(of: app) == [])
        phone.plug(1)
        #expect(phone.router.visibleAccessories(of: app) == [1])
    }

    @Test("A router read from its bytes knows accessories and sessions")
    func snapshot() throws {
        var phone = Phone()
        let app = phone.suspendedHolder()
        phone.router = try Router(snapshot: phone.router.snapshot, profile: phone.router.profile)
        #expect(phone.router.visibleAccessories(of: app) == [1])
        phone.dockEvent(.accessoryDataAvailable, 1)
        #expect(phone.verdicts == [.resume])
    }
}

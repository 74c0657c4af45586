import Testing
import WakeModel

@testable import WakeRouter

/// Wakes with a completion handler beside wakes that have their time, and the budget of tasks that begin in them.
@Suite("Wakes of several sources")
struct WakeWindowTests {
    private static let clock = PhoneClock(epoch: 1_767_225_600_000_000_000, zone: 0)

    /// An app that is suspended and subscribed to the belt, for pushes, fetches and a transfer too.
    private static func sleeper() -> (Phone, AppID) {
        var phone = Phone()
        let app = phone.install([.bluetoothCentral, .remoteNotification, .fetch])
        phone.open(app)
        phone.subscribe(app)
        phone.request(app, .push(.register))
        phone.request(app, .backgroundTask(.setFetchInterval(.zero, clock: Self.clock)))
        phone.join(app, Phone.session, by: 5)
        phone.download(app, 1)
        phone.leave(app)
        phone.forget()
        return (phone, app)
    }

    /// What asks an app for a completion handler; a transfer does so only of one that does not run.
    enum Asking: CaseIterable {
        case push, fetch, transfer

        func begin(_ phone: inout Phone, _ app: AppID) {
            switch self {
            case .push: phone.fetch(app)
            case .fetch:
                let lever = UInt32(TaskLever.regardless.rawValue)
                phone.hear(.event(WakeEvent(kind: .taskLaunchSimulated, local: lever, subject: .none, app: app)))
            case .transfer: phone.end(app, 1)
            }
        }

        func answer(_ phone: inout Phone, _ app: AppID) {
            switch self {
            case .push: phone.request(app, .push(.fetched(1, .newData)))
            case .fetch:
                let number = phone.router.areas.backgroundTask.lastNumber
                phone.request(app, .backgroundTask(.fetched(number, .newData, downloaded: true)))
            case .transfer: phone.transfer(app, .handledEvents(Phone.session))
            }
        }
    }

    @Test("LIFE-11: a completion handler shortens no wake that came after its own", arguments: Asking.allCases)
    func before(asking: Asking) {
        var (phone, app) = Self.sleeper()
        asking.begin(&phone, app)
        phone.wait(.seconds(1))
        phone.notify()
        phone.wait(.seconds(1))
        asking.answer(&phone, app)
        #expect(phone.faults.isEmpty)
        phone.wait(.milliseconds(8_999))
        #expect(!phone.router.isFreezing(app))
        phone.wait(.milliseconds(1))
        #expect(phone.router.isFreezing(app))
    }

    @Test("LIFE-11: a completion handler shortens no wake that came before its own", arguments: [Asking.push, .fetch])
    func after(asking: Asking) {
        var (phone, app) = Self.sleeper()
        phone.notify()
        phone.wait(.seconds(1))
        asking.begin(&phone, app)
        phone.wait(.seconds(1))
        asking.answer(&phone, app)
        #expect(phone.faults.isEmpty)
        phone.wait(.milliseconds(7_999))
        #expect(!phone.router.isFreezing(app))
        phone.wait(.milliseconds(1))
        #expect(phone.router.isFreezing(app))
    }

    @Test(
        "LIFE-11: a wake that ended before a completion handler does not hold the app",
        arguments: [Asking.push, .fetch]
    )
    func late(asking: Asking) {
        var (phone, app) = Self.sleeper()
        phone.notify()
        phone.wait(.seconds(1))
        asking.begin(&phone, app)
        phone.wait(.seconds(15))
        #expect(!phone.router.isFreezing(app))
        asking.answer(&phone, app)
        #expect(phone.router.isFreezing(app))
    }

    @Test("LIFE-11: of two completion handlers the last one ends the wake", arguments: [true, false])
    func twoHandlers(pushFirst: Bool) {
        var (phone, app) = Self.sleeper()
        let (first, second) = pushFirst ? (Asking.push, Asking.fetch) : (.fetch, .push)
        first.begin(&phone, app)
        phone.wait(.seconds(1))
        second.begin(&phone, app)
        phone.wait(.seconds(1))
        first.answer(&phone, app)
        #expect(!phone.router.isFreezing(app))
        phone.wait(.seconds(20))
        #expect(!phone.router.isFreezing(app))
        second.answer(&phone, app)
        #expect(phone.router.isFreezing(app))
    }

    @Test("TASK-8: a completion handler leaves a task its time from the end of the belt's wake")
    func budgetAfterHandler() {
        var (phone, app) = Self.sleeper()
        phone.fetch(app)
        phone.wait(.seconds(1))
        phone.notify()
        phone.request(app, .beginTask(token: 1))
        phone.wait(.seconds(1))
        phone.request(app, .push(.fetched(1, .newData)))
        // The belt's wake ends at 11 s, and the budget 30 s later.
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == .seconds(39))
        phone.wait(.milliseconds(38_999))
        #expect(phone.exits.isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.exits.map(\.code) == [0x2182_bad2])
    }

    @Test("TASK-8: a task that begins in a later wake has its time from that wake's end, and an older one with it")
    func taskInLaterWake() {
        var (phone, app) = Self.sleeper()
        for (index, pause) in [12, 12, 10, 0].enumerated() {
            phone.notify()
            let token = UInt64(index) + 1
            phone.request(app, .beginTask(token: token))
            phone.wait(.seconds(3))
            if index > 1 { phone.request(app, .endTask(token: token - 1)) }
            phone.wait(.seconds(max(0, Int64(pause) - 3)))
        }
        // Wakes at 0, 12, 24 and 34 s; the last ends at 44 s, and the budget at 74 s.
        #expect(phone.verdicts == [.resume, .backgroundDeliver, .backgroundDeliver, .backgroundDeliver])
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == .seconds(37))
        phone.forget()
        phone.wait(.milliseconds(31_999))
        #expect(phone.expired.isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.expired == [1, 4])
        phone.wait(.seconds(5))
        #expect(phone.exits.map(\.code) == [0x2182_bad2])
    }

    @Test("TASK-8: a completion handler that is owed inside a wake moves its end", arguments: [Asking.push, .fetch])
    func owedInsideAWake(asking: Asking) {
        var (phone, app) = Self.sleeper()
        phone.notify()
        phone.request(app, .beginTask(token: 1))
        phone.wait(.seconds(4))
        asking.begin(&phone, app)
        // The answer is due 30 s later, and the budget ends 30 s after that.
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == .seconds(60))
    }

    @Test(
        "TASK-8: a task that begins while a completion handler is owed has its time from there",
        arguments: [Asking.push, .fetch]
    )
    func taskWhileOwed(asking: Asking) {
        var (phone, app) = Self.sleeper()
        phone.notify()
        phone.request(app, .beginTask(token: 1))
        phone.wait(.seconds(12))
        asking.begin(&phone, app)
        phone.request(app, .beginTask(token: 2))
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == .seconds(60))
    }

    @Test("TASK-8: a shorter wake inside a longer one takes nothing from a task")
    func shorterWake() {
        var profile = Profile.ios17
        profile.areas.bluetooth.window = .seconds(2)
        var phone = Phone(profile)
        let app = phone.install([.bluetoothCentral, .voip])
        phone.open(app)
        phone.subscribe(app)
        phone.voip(app, .watch(1, peer: Phone.server))
        phone.leave(app)
        phone.call(app)
        phone.request(app, .beginTask(token: 1))
        phone.wait(.seconds(1))
        phone.notify()
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == .seconds(39))
    }

    @Test("TASK-8: a task that begins between two wakes has what is left of the budget")
    func taskBetweenWakes() {
        var (phone, app) = Self.sleeper()
        phone.notify()
        phone.request(app, .beginTask(token: 1))
        phone.wait(.seconds(20))
        phone.request(app, .beginTask(token: 2))
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == .seconds(20))
    }
}

extension Phone {
    /// The tasks whose expiration handlers were called, in order.
    fileprivate var expired: [UInt64] {
        actions.flatMap { if case .expireTasks(_, let tokens) = $0 { tokens } else { [UInt64]() } }
    }
}

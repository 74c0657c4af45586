import Testing
import WakeModel

@testable import WakeRouter

@Suite("Background tasks")
struct TaskRuleTests {
    /// An app that leaves the foreground with an open task.
    private func leaving(_ phone: inout Phone, tokens: [UInt64] = [1]) -> AppID {
        let app = phone.install()
        phone.open(app)
        for token in tokens { phone.request(app, .beginTask(token: token)) }
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.forget()
        return app
    }

    private var expirations: (Phone) -> [[UInt64]] {
        { phone in
            phone.actions.compactMap { if case .expireTasks(_, let tokens) = $0 { tokens } else { nil } }
        }
    }

    @Test("TASK-1: a token that is open already is refused")
    func duplicateToken() {
        var phone = Phone()
        let app = leaving(&phone)
        phone.request(app, .beginTask(token: 1))
        #expect(phone.faults == [.duplicateTask])
    }

    @Test("TASK-1: each task ends with its own token")
    func ownToken() {
        var phone = Phone()
        let app = leaving(&phone, tokens: [1, 2])
        phone.request(app, .endTask(token: 2))
        #expect(!phone.router.isFreezing(app))
        phone.request(app, .endTask(token: 1))
        #expect(phone.router.isFreezing(app))
    }

    @Test(
        "TASK-2: the budget of the whole app is the profile's",
        arguments: [("ios6", 600), ("ios8", 180), ("ios12", 180), ("ios13", 30), ("ios17", 30), ("ios26", 30)]
    )
    func budget(name: String, seconds: Int64) {
        var phone = Phone(Profile.named(name)!)
        let app = leaving(&phone)
        phone.wait(.milliseconds(seconds * 1_000 - 1))
        #expect(phone.router.state(of: app) == .background)
        phone.wait(.milliseconds(1))
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("TASK-2: a task begun later shares the budget of the first")
    func oneBudget() {
        var phone = Phone()
        let app = leaving(&phone)
        phone.wait(.seconds(20))
        phone.request(app, .beginTask(token: 2))
        phone.request(app, .endTask(token: 1))
        phone.wait(.seconds(10))
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("TASK-2: a task that begins while the process is being frozen takes the freeze back")
    func beginsWhileFreezing() {
        var phone = Phone()
        let app = leaving(&phone)
        phone.request(app, .endTask(token: 1))
        phone.request(app, .beginTask(token: 2))
        #expect(phone.actions.suffix(2) == [.freeze(app), .thaw(app)])
        #expect(!phone.router.isFreezing(app))
    }

    @Test("TASK-3: every open task's handler is called 5 s before the end, once")
    func expiration() {
        var phone = Phone()
        let app = leaving(&phone, tokens: [1, 2])
        phone.wait(.milliseconds(24_999))
        #expect(expirations(phone) == [])
        phone.wait(.milliseconds(1))
        #expect(expirations(phone) == [[1, 2]])
        phone.wait(.seconds(3))
        #expect(expirations(phone) == [[1, 2]])
        #expect(phone.router.state(of: app) == .background)
    }

    @Test("TASK-3: a task that ended before has no handler called")
    func endedTaskDoesNotExpire() {
        var phone = Phone()
        let app = leaving(&phone, tokens: [1, 2])
        phone.request(app, .endTask(token: 1))
        phone.wait(.seconds(26))
        #expect(expirations(phone) == [[2]])
    }

    @Test("TASK-3: a task begun when the budget is spent expires at once and holds nothing")
    func begunTooLate() {
        var phone = Phone()
        let app = leaving(&phone)
        phone.wait(.seconds(26))
        phone.request(app, .beginTask(token: 2))
        #expect(expirations(phone) == [[1], [2]])
        phone.request(app, .endTask(token: 1))
        #expect(phone.router.isFreezing(app))
    }

    @Test(
        "TASK-4: a task still open at the end of the budget ends the app with the profile's code",
        arguments: [("ios12", 0x8bad_f00d), ("ios13", 0x2182_bad2)]
    )
    func killed(name: String, code: Int64) {
        var phone = Phone(Profile.named(name)!)
        _ = leaving(&phone)
        phone.wait(.seconds(180))
        #expect(phone.exits.map(\.code) == [code])
        #expect(phone.exits.map(\.cause) == [.watchdog])
    }

    @Test("TASK-4: a task that ends in its handler suspends the app instead")
    func endsInHandler() {
        var phone = Phone()
        let app = leaving(&phone)
        phone.wait(.seconds(25))
        phone.request(app, .endTask(token: 1))
        phone.report(app, .suspended)
        phone.wait(.seconds(60))
        #expect(phone.exits == [])
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("TASK-5: the time that remains is unlimited in the foreground and counts down in the background")
    func timeRemaining() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == nil)
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.wait(.seconds(12))
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == .seconds(18))
    }

    @Test("TASK-6: ending an unknown or ended token is refused, recorded and harmless")
    func unknownToken() {
        var phone = Phone()
        let app = leaving(&phone, tokens: [1, 2])
        phone.request(app, .endTask(token: 7))
        phone.request(app, .endTask(token: 2))
        phone.request(app, .endTask(token: 2))
        #expect(phone.faults == [.unknownTask, .unknownTask])
        #expect(!phone.router.isFreezing(app))
    }

    @Test("TASK-7: an activity is granted while there is time for a task, and not while the time is nearly over")
    func activityGranted() {
        var phone = Phone()
        let app = phone.install()
        #expect(!phone.router.grantsTask(of: app, at: phone.now))
        phone.open(app)
        #expect(phone.router.grantsTask(of: app, at: phone.now))
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.wait(.milliseconds(24_999))
        #expect(phone.router.grantsTask(of: app, at: phone.now))
        phone.wait(.milliseconds(1))
        #expect(!phone.router.grantsTask(of: app, at: phone.now))
        #expect(!phone.router.grantsTask(of: AppID(7), at: phone.now))
    }

    @Test("TASK-7: no activity is granted to an app that has been asked to end, however much time there was")
    func noActivityAtTheEnd() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        #expect(phone.router.grantsTask(of: app, at: phone.now))
        phone.hear(.terminate(app, .system))
        #expect(phone.callbacks.last == .willTerminate)
        #expect(!phone.router.grantsTask(of: app, at: phone.now))
    }

    @Test("TASK-8: a task begun inside a wake has the budget from the end of the wake")
    func insideWake() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.wait(.seconds(3))
        phone.request(app, .beginTask(token: 1))
        phone.wait(.milliseconds(36_999))
        #expect(phone.router.state(of: app) == .background)
        phone.wait(.milliseconds(1))
        #expect(phone.exits.map(\.code) == [0x2182_bad2])
    }

    @Test("TASK-8: a task begun inside a wake has the budget from the end of the wake's last window")
    func insideLongerWake() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.wait(.seconds(3))
        phone.request(app, .beginTask(token: 1))
        phone.wait(.seconds(4))
        phone.notify()
        // Windows end at 17 s, and the budget 30 s later.
        phone.wait(.milliseconds(39_999))
        #expect(phone.exits.isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.exits.map(\.code) == [0x2182_bad2])
    }

    @Test("TASK-8: the first task inside a wake has a budget of its own, whatever the foreground left of an old one")
    func insideWakeAfterOldBudget() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.request(app, .beginTask(token: 1))
        phone.leave(app)
        for second in 0..<61 {
            phone.wait(.seconds(1))
            phone.notify()
            if second == 20 { phone.request(app, .endTask(token: 1)) }
        }
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == .seconds(10))
        #expect(phone.router.grantsTask(of: app, at: phone.now))
        phone.forget()
        phone.request(app, .beginTask(token: 2))
        #expect(!phone.actions.contains(.expireTasks(app, tokens: [2])))
        phone.wait(.milliseconds(39_999))
        #expect(phone.exits.isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.exits.map(\.cause) == [.watchdog])
    }

    @Test("TASK-8: a budget that begins where updates end counts from the end of the wake that runs")
    func insideWakeAfterUpdates() {
        var phone = Phone()
        let app = phone.suspendedMonitor([.location])
        phone.enter()
        #expect(phone.router.state(of: app) == .background)
        phone.startUpdating(app)
        phone.wait(.seconds(1))
        phone.request(app, .beginTask(token: 1))
        phone.locate(app, .stopUpdating)
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == .seconds(39))
    }

    @Test("TASK-8: the app's word that the wake is over starts its task's budget, and lengthens none")
    func doneInsideWake() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.request(app, .beginTask(token: 1))
        phone.wait(.seconds(2))
        phone.request(app, .done)
        phone.wait(.seconds(30))
        #expect(phone.exits.count == 1)
    }

    @Test("TASK-8: events in the background do not lengthen the budget of a task")
    func eventsDoNotLengthen() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        for _ in 0..<6 {
            phone.wait(.seconds(4))
            phone.notify()
            phone.request(app, .done)
        }
        phone.wait(.seconds(6))
        #expect(phone.exits.map(\.code) == [0x2182_bad2])
    }

    @Test("TASK-8: the foreground makes the budget fresh")
    func freshAfterForeground() {
        var phone = Phone()
        let app = leaving(&phone)
        phone.wait(.seconds(20))
        phone.user(.launch, app)
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.wait(.seconds(29))
        #expect(phone.router.state(of: app) == .background)
        phone.wait(.seconds(1))
        #expect(phone.router.state(of: app) == .notRunning)
    }
}

import Testing
import WakeModel

@testable import WakeRouter

@Suite("Apps under a debugger")
struct DebuggerTests {
    /// Awake for a notification, with the window of its wake running.
    private func awake(by debugger: UserAction?) -> (Phone, AppID) {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        if let debugger { phone.user(debugger, app) }
        phone.notify()
        return (phone, app)
    }

    @Test("SYS-5: a debugger that does not exempt changes nothing of what happens, and no record")
    func attached() {
        var (plain, _) = awake(by: nil)
        var (debugged, app) = awake(by: .attachDebugger)
        for span in [Instant.Span.seconds(1), .seconds(30)] {
            plain.wait(span)
            debugged.wait(span)
        }
        #expect(debugged.router.state(of: app) == plain.router.state(of: app))
        #expect(debugged.verdicts == plain.verdicts)
        #expect(debugged.deeds(.sparedDebugged) == [])
        #expect(debugged.last?.snapshot.debugger == .attached)
    }

    @Test("SYS-5: an exempt app is not suspended at the end of its wake, and each record says why")
    func exempt() {
        var (phone, app) = awake(by: .attachExemptingDebugger)
        phone.wait(.seconds(3_600))
        #expect(phone.router.state(of: app) == .background)
        #expect(phone.deeds(.sparedDebugged) == [app])
        phone.notify()
        #expect(phone.last?.snapshot.debugger == .exempting)
        #expect(phone.last?.snapshot.budgetLimit == .zero)
    }

    @Test("SYS-5: an exempt app has all the time in launching")
    func launch() {
        var phone = Phone()
        let app = phone.install()
        phone.user(.attachExemptingDebugger, app)
        phone.user(.launch, app)
        phone.wait(.seconds(600))
        #expect(phone.router.state(of: app) == .inactive)
        #expect(phone.exits.isEmpty)
        phone.report(app, .launched)
        #expect(phone.router.state(of: app) == .active)
    }

    @Test("SYS-5: an exempt app has all the time in leaving the foreground")
    func leaving() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.user(.attachExemptingDebugger, app)
        phone.user(.home, app)
        phone.wait(.seconds(600))
        #expect(phone.exits.isEmpty)
        #expect(phone.deeds(.sparedDebugged) == [app])
    }

    @Test("SYS-5: the background tasks of an exempt app neither expire nor end it")
    func tasks() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .beginTask(token: 1))
        phone.user(.attachExemptingDebugger, app)
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.wait(.seconds(3_600))
        #expect(phone.exits.isEmpty)
        #expect(phone.deeds(.expiredTasks) == [])
        #expect(phone.deeds(.sparedDebugged) == [app])
    }

    @Test("SYS-5: without its debugger the app is as any other from then on")
    func detached() {
        var (phone, app) = awake(by: .attachExemptingDebugger)
        phone.wait(.seconds(60))
        phone.user(.detachDebugger, app)
        phone.report(app, .suspended)
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("SYS-5: without its debugger the app's tasks have their time from then on")
    func detachedWithTasks() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .beginTask(token: 1))
        phone.user(.attachExemptingDebugger, app)
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.wait(.seconds(600))
        phone.user(.detachDebugger, app)
        phone.wait(.seconds(600))
        #expect(phone.deeds(.endedForTasks) == [app])
    }

    @Test("SYS-5: what else ends an app ends one under a debugger too")
    func memory() {
        var (phone, app) = awake(by: .attachExemptingDebugger)
        phone.hear(.terminate(app, .memory, .critical))
        #expect(phone.router.state(of: app) == .notRunning)
    }
}

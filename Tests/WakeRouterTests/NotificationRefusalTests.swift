import Testing
import WakeModel

@testable import WakeRouter

@Suite("Notifications that the user does not allow")
struct NotificationRefusalTests {
    @Test("NOTE-7: the user sees nothing that is due of an app that may not notify, until it may again")
    func due() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(100), repeats: true), sound: .standard, badge: 3)
        phone.leave(app)
        phone.user(.refuseNotifications, app)
        #expect(!phone.router.mayNotify(app))
        phone.forget()
        phone.wait(.seconds(250))
        #expect(phone.shown.isEmpty)
        #expect(phone.decisions.isEmpty)
        #expect(phone.deeds(.notificationWithheld) == [app, app])
        #expect(phone.router.badge(of: app) == 0)
        phone.user(.allowNotifications, app)
        #expect(phone.router.mayNotify(app))
        phone.wait(.seconds(100))
        #expect(phone.shown.map(\.identifier) == [Phone.notice])
        #expect(phone.deeds(.foundItSo) == [])
        phone.user(.allowNotifications, app)
        #expect(phone.deeds(.foundItSo) == [app])
    }

    @Test("NOTE-7: an app in the foreground is not asked about a notification that it may not show")
    func inFront() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.user(.refuseNotifications, app)
        phone.schedule(app, .now)
        #expect(phone.delivered.isEmpty)
        #expect(phone.deeds(.notificationWithheld) == [app])
    }

    @Test("NOTE-7: what the app was asked about before it might not notify is not shown either")
    func offered() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .now)
        phone.user(.refuseNotifications, app)
        phone.notification(app, .present(1, shows: true))
        #expect(phone.shown.isEmpty)
        #expect(phone.deeds(.notificationWithheld) == [app])
    }

    @Test("NOTE-7: a silent push wakes an app that may not notify, as before")
    func silentPush() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.user(.refuseNotifications, app)
        phone.fetch(app)
        #expect(phone.verdicts == [.resume])
        #expect(phone.deeds(.notificationWithheld) == [])
    }

    @Test("NOTE-7: of a visible push nothing is seen, no extension runs, and its app has it all the same")
    func visiblePush() {
        var phone = Phone()
        let app = phone.appWithPushes(serviceExtension: true)
        phone.user(.refuseNotifications, app)
        phone.alert(app) { ($0.isMutable, $0.isContentAvailable, $0.content.badge) = (true, true, 4) }
        #expect(phone.decisions(about: .pushReceived).map(\.verdict) == [.resume])
        #expect(phone.shownPushes.isEmpty)
        #expect(phone.extensionsRun.isEmpty)
        #expect(phone.router.badge(of: app) == 0)
        #expect(phone.deeds(.notificationWithheld) == [app])
    }
}

import RouterSnapshots
import Testing
import WakeModel

@testable import WakeRouter

/// Verbs for notifications.
extension Phone {
    static let notice = NameID(60)
    /// The run begins on 2026-01-01 at midnight in Greenwich, a Thursday.
    static let midnight: Int64 = 1_767_225_600

    var shown: [ShownNotification] {
        actions.compactMap { if case .command(.notification(.show(_, let shown))) = $0 { shown } else { nil } }
    }

    /// What was done by the rules of notifications, in order.
    var noticeDeeds: [Deed] {
        actions.compactMap { action in
            guard case .did(_, let deed, _, _) = action else { return nil }
            let rules: [RuleID] = [.note1, .note2, .note4, .note5]
            return rules.contains(deed.row.rule) ? deed : nil
        }
    }

    static func clock(zone: Int32 = 0) -> PhoneClock { PhoneClock(epoch: midnight * 1_000_000_000, zone: zone) }

    mutating func notification(_ app: AppID, _ request: NotificationRequest) {
        hear(.request(app, .notification(request)))
    }

    mutating func schedule(
        _ app: AppID,
        _ trigger: NotificationTrigger,
        _ identifier: NameID = notice,
        sound: NotificationSound = .none,
        badge: UInt32? = nil,
        zone: Int32 = 0
    ) {
        var content = NotificationContent()
        content.sound = sound
        content.badge = badge
        let notification = ScheduledNotification(identifier: identifier, content: content, trigger: trigger)
        self.notification(app, .schedule(notification, clock: Phone.clock(zone: zone)))
    }

    @discardableResult
    mutating func tap(_ app: AppID, _ identifier: NameID = notice) -> EventID {
        hear(.event(WakeEvent(kind: .notificationTapped, subject: identifier, app: app)))
    }

    /// An app that runs in the foreground.
    mutating func appInFront() -> AppID {
        let app = install([])
        open(app)
        forget()
        return app
    }

    /// When the notifications of an app are due that wait.
    func dueAfter(_ app: AppID) -> [Int64] {
        router.pendingNotifications(of: app).map { $0.due.nanoseconds / 1_000_000_000 }
    }
}

@Suite("Local notifications")
struct NotificationRuleTests {
    // MARK: Scheduled and shown

    @Test(
        "NOTE-1: the user sees what is due, whatever became of the app, and no process runs for it",
        arguments: [.exit, .userForceQuit, .memory, nil] as [ExitCause?]
    )
    func shownWithoutProcess(end: ExitCause?) {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(100), repeats: false))
        phone.leave(app)
        switch end {
        case .userForceQuit: phone.user(.forceQuit, app)
        case .exit: phone.report(app, .exited(0))
        case .memory: phone.hear(.terminate(app, .memory))
        default: break
        }
        let state = phone.router.state(of: app)
        phone.forget()
        phone.wait(.seconds(99))
        #expect(phone.decisions.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.reasons == [.shownBySystem])
        #expect(phone.verdicts == [.deny])
        #expect(phone.last?.rule == .note1)
        #expect(phone.shown.map(\.identifier) == [Phone.notice])
        #expect(phone.noticeDeeds == [.notificationShown])
        #expect(phone.router.state(of: app) == state)
        #expect(phone.delivered.isEmpty)
    }

    @Test("NOTE-1: what is scheduled outlives a restart of the phone, and is shown before the first unlock")
    func outlivesReboot() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(100), repeats: true))
        phone.hear(.phone(.reboot))
        phone.forget()
        phone.wait(.seconds(250))
        #expect(phone.shown.count == 2)
        phone.hear(.uninstall(app))
        phone.forget()
        phone.wait(.seconds(1_000))
        #expect(phone.shown.isEmpty)
        #expect(phone.decisions.isEmpty)
    }

    @Test("NOTE-1: a clock that can say no later time, in 2262, breaks no notification that repeats")
    func lastTime() {
        let clock = PhoneClock(epoch: .max - 60_000_000_000, zone: 3_600)
        #expect(clock.nanoseconds(at: .zero.advanced(by: .seconds(61))) == .max)
        let late = Instant.zero.advanced(by: .seconds(600))
        #expect(clock.wall(late) == Int64.max / 1_000_000_000 + 3_600)
        for trigger in [
            NotificationTrigger.interval(.seconds(60), repeats: true),
            .date(seconds: Phone.midnight, isWall: true, repeats: .day),
            .date(seconds: Phone.midnight, isWall: false, repeats: .never),
        ] {
            #expect(trigger.first(from: late, by: clock) != nil)
        }
    }

    @Test("NOTE-1: what is due while the phone is shut down is shown when it is on again")
    func shutDown() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(100), repeats: false))
        phone.hear(.phone(.shutDown))
        phone.forget()
        phone.wait(.seconds(200))
        #expect(phone.shown.isEmpty)
        phone.hear(.phone(.boot))
        phone.wait(.seconds(1))
        #expect(phone.shown.count == 1)
    }

    @Test("NOTE-1: what a bench did not live to show it shows when it is back, once")
    func outlivesTheBench() throws {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(100), repeats: true))
        phone.router = try Router(snapshot: phone.router.snapshot, profile: phone.router.profile)
        phone.hear(.benchRestarted)
        phone.forget()
        phone.waitUnnoticed(.seconds(350))
        phone.hear(.timeReached)
        #expect(phone.shown.count == 1)
        phone.wait(.seconds(50))
        #expect(phone.shown.count == 2)
    }

    @Test("NOTE-1: a notification without a time, and one of the past, are shown at once")
    func atOnce() {
        for trigger in [.now, .date(seconds: 0, isWall: false, repeats: .never)] as [NotificationTrigger] {
            var phone = Phone()
            let app = phone.appInFront()
            phone.request(app, .beginTask(token: 1))
            phone.user(.home, app)
            phone.report(app, .returned(.didEnterBackground))
            phone.forget()
            phone.schedule(app, trigger)
            #expect(phone.shown.count == 1)
            #expect(phone.dueAfter(app).isEmpty)
        }
    }

    @Test(
        "NOTE-1: a fire date comes again in each unit of the calendar",
        arguments: [
            (.minute, [60, 120]), (.hour, [3_600, 7_200]), (.day, [86_400, 172_800]), (.week, [604_800, 1_209_600]),
            (.month, [31 * 86_400, 59 * 86_400]), (.quarter, [90 * 86_400, 181 * 86_400]),
            (.year, [365 * 86_400, 730 * 86_400]),
        ] as [(RepeatInterval, [Int64])]
    )
    func repeats(unit: RepeatInterval, due: [Int64]) {
        var phone = Phone()
        let app = phone.appInFront()
        phone.leave(app)
        phone.user(.launch, app)
        phone.schedule(app, .date(seconds: Phone.midnight, isWall: false, repeats: unit))
        #expect(phone.dueAfter(app) == [due[0]])
        phone.leave(app)
        phone.wait(.seconds(due[0]))
        #expect(phone.dueAfter(app) == [due[1]])
    }

    @Test("NOTE-1: a fire date in a time zone is a time on the phone's wall, and one without is the same everywhere")
    func timeZones() {
        for (isWall, due) in [(true, 7_200), (false, 10_800)] as [(Bool, Int64)] {
            var phone = Phone()
            let app = phone.appInFront()
            // One hour ahead of Greenwich, its clock shows 03:00 after two hours.
            phone.schedule(
                app,
                .date(seconds: Phone.midnight + 10_800, isWall: isWall, repeats: .never),
                zone: 3_600
            )
            #expect(phone.dueAfter(app) == [due])
        }
    }

    @Test("NOTE-1, SYS-1: in another time zone what is due by the wall is due by its wall, and all else as it was")
    func anotherTimeZone() {
        for (isWall, due) in [(true, 7_200), (false, 10_800)] as [(Bool, Int64)] {
            var phone = Phone()
            let app = phone.appInFront()
            phone.schedule(app, .date(seconds: Phone.midnight + 10_800, isWall: isWall, repeats: .never))
            #expect(phone.dueAfter(app) == [10_800])
            phone.hear(.clock(Phone.clock(zone: 3_600)))
            #expect(phone.dueAfter(app) == [due])
        }
    }

    @Test("NOTE-1, SYS-1: a clock that is set an hour ahead brings a date nearer, and no interval")
    func clockSet() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .date(seconds: Phone.midnight + 10_800, isWall: false, repeats: .never))
        var clock = Phone.clock()
        clock.epoch += 3_600_000_000_000
        phone.hear(.clock(clock))
        #expect(phone.dueAfter(app) == [7_200])
        phone.schedule(app, .interval(.seconds(500), repeats: false))
        phone.wait(.seconds(100))
        phone.hear(.clock(Phone.clock()))
        #expect(phone.dueAfter(app) == [500])
    }

    @Test("NOTE-1: what a clock shows is looked for, and what is left out and finer is 0")
    func matching() {
        var phone = Phone()
        let app = phone.appInFront()
        func next(_ set: (inout DateMatch) -> Void) -> Int? {
            var match = DateMatch()
            set(&match)
            phone.schedule(app, .matching(match, repeats: true))
            return phone.dueAfter(app).first.map { Int($0) }
        }
        #expect(next { $0.hour = 7 } == 7 * 3_600)
        #expect(next { ($0.hour, $0.minute) = (7, 30) } == 7 * 3_600 + 1_800)
        #expect(next { $0.minute = 15 } == 900)
        #expect(next { $0.second = 5 } == 5)
        #expect(next { $0.weekday = 6 } == 86_400)
        #expect(next { $0.day = 1 } == 31 * 86_400)
        #expect(next { ($0.month, $0.day) = (2, 29) } == (31 + 28) * 86_400)
        #expect(next { ($0.month, $0.day) = (2, 30) } == (31 + 28) * 86_400)
        phone.forget()
        #expect(next { $0.year = 2_025 } == nil)
        #expect(phone.faults == [.unavailable])
    }

    @Test("NOTE-1: dates of the calendar are counted as they are, over leap days and centuries")
    func calendar() {
        for number in stride(from: Int64(-800_000), to: 800_000, by: 37) {
            let date = CivilDay(number: number)
            #expect(date.number == number)
        }
        #expect(CivilDay(number: 0) == CivilDay(year: 1970, month: 1, day: 1))
        #expect(CivilDay(year: 2000, month: 2, day: 29).number == 11_016)
        #expect(CivilDay(year: 2024, month: 1, day: 31).advanced(months: 1) == CivilDay(year: 2024, month: 2, day: 29))
        #expect(CivilDay(year: 2025, month: 12, day: 31).advanced(months: 6) == CivilDay(year: 2026, month: 6, day: 30))
        #expect(CivilDay.weekday(0) == 5)
    }

    @Test("NOTE-1: a notification sets the number on the icon, and one without leaves it")
    func badge() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(1), repeats: false), badge: 3)
        phone.schedule(app, .interval(.seconds(2), repeats: false), NameID(61))
        phone.leave(app)
        phone.wait(.seconds(3))
        #expect(phone.shown.count == 2)
        #expect(phone.router.badge(of: app) == 3)
        phone.user(.launch, app)
        phone.notification(app, .setBadge(0))
        #expect(phone.router.badge(of: app) == 0)
    }

    // MARK: The limit

    @Test("NOTE-2: of more than 64 that wait the soonest are kept, and a repeating one counts once")
    func limit() {
        var phone = Phone()
        let app = phone.appInFront()
        for number in (1...70).reversed() {
            let repeats = number == 1
            phone.schedule(
                app,
                .interval(.seconds(Int64(number) * 100), repeats: repeats),
                NameID(UInt32(100 + number))
            )
        }
        let kept = phone.router.pendingNotifications(of: app).map { $0.notification.identifier.number }
        #expect(kept.sorted() == (101...164).map { UInt32($0) })
        #expect(phone.noticeDeeds == Array(repeating: .notificationDropped, count: 6))
    }

    @Test("NOTE-2: the limit is a setting")
    func settableLimit() {
        var profile = Profile.ios17
        profile.areas.notification.limit = 2
        var phone = Phone(profile)
        let app = phone.appInFront()
        for number in 1...3 {
            phone.schedule(app, .interval(.seconds(100), repeats: false), NameID(UInt32(100 + number)))
        }
        #expect(
            phone.router.pendingNotifications(of: app).map(\.notification.identifier) == [NameID(101), NameID(102)]
        )
    }

    // MARK: In the foreground

    @Test("NOTE-3: an app in the foreground gets its notification, and the user is shown none")
    func inFront() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(5), repeats: false))
        phone.wait(.seconds(5))
        #expect(phone.verdicts == [.foregroundDeliver])
        #expect(phone.reasons == [.notificationInFront])
        #expect(phone.last?.rule == .note3)
        #expect(phone.delivered.count == 1)
        #expect(phone.shown.isEmpty)
    }

    @Test("NOTE-3: the app in the foreground may have it shown as well, once")
    func presented() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .now)
        phone.notification(app, .present(1, shows: true))
        phone.notification(app, .present(1, shows: true))
        #expect(phone.shown.count == 1)
        phone.schedule(app, .now)
        phone.notification(app, .present(2, shows: false))
        phone.notification(app, .present(2, shows: true))
        #expect(phone.shown.count == 1)
    }

    @Test("NOTE-3: behind another app it is shown by the system")
    func behindAnother() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(5), repeats: false))
        let other = phone.install([])
        phone.open(other)
        phone.wait(.seconds(5))
        #expect(phone.last?.reason == .shownBySystem)
        #expect(phone.shown.count == 1)
    }

    // MARK: Listed and cancelled

    @Test("NOTE-4: what waits and what was shown is listed, and taken back, one or all")
    func cancelled() {
        var phone = Phone()
        let app = phone.appInFront()
        for number in 1...5 {
            phone.schedule(app, .interval(.seconds(Int64(number)), repeats: false), NameID(UInt32(100 + number)))
        }
        phone.notification(app, .cancel([NameID(105)]))
        #expect(phone.dueAfter(app) == [1, 2, 3, 4])
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.wait(.seconds(3))
        #expect(phone.router.deliveredNotifications(of: app).map(\.identifier.number) == [101, 102, 103])
        phone.notification(app, .withdraw([NameID(102)]))
        #expect(phone.router.deliveredNotifications(of: app).map(\.identifier.number) == [101, 103])
        phone.notification(app, .withdrawAll)
        #expect(phone.router.deliveredNotifications(of: app).isEmpty)
        phone.notification(app, .cancelAll)
        #expect(phone.dueAfter(app).isEmpty)
        #expect(phone.noticeDeeds.count { $0 == .notificationCancelled } == 5)
    }

    @Test("NOTE-4: one app lists and takes back nothing of another")
    func others() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(5), repeats: false))
        let other = phone.install([])
        phone.open(other)
        phone.notification(other, .cancelAll)
        #expect(phone.dueAfter(app) == [5])
        #expect(phone.dueAfter(other).isEmpty)
    }

    @Test("NOTE-4: one with the same identifier takes its place")
    func replaced() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(5), repeats: false))
        phone.schedule(app, .interval(.seconds(9), repeats: false))
        #expect(phone.dueAfter(app) == [9])
    }

    // MARK: Sounds

    @Test(
        "NOTE-5: a sound in a format that the phone plays, and not too long, is heard; else the default one",
        arguments: [
            (.linearPCM, 30, .own), (.ima4, 1, .own), (.ulaw, 1, .own), (.alaw, 1, .own), (.other, 1, .standard),
            (.linearPCM, 31, .standard), (nil, 1, .standard),
        ] as [(SoundFormat?, Int64, PlayedSound)]
    )
    func sounds(format: SoundFormat?, length: Int64, played: PlayedSound) {
        var phone = Phone()
        let app = phone.appInFront()
        let file = format.map { SoundFile(format: $0, length: .seconds(length)) }
        phone.schedule(app, .interval(.seconds(1), repeats: false), sound: .file("chime.caf", file))
        phone.leave(app)
        phone.wait(.seconds(1))
        #expect(phone.shown.map(\.sound) == [played])
        #expect(phone.shown.map(\.sound.vibrates) == [true])
        #expect(phone.noticeDeeds == [.notificationShown, played == .own ? .soundPlayed : .soundReplaced])
    }

    @Test("NOTE-5: without a sound the phone neither sounds nor vibrates; the longest sound is a setting")
    func silent() {
        var profile = Profile.ios17
        profile.areas.notification.soundLimit = .seconds(2)
        var phone = Phone(profile)
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(1), repeats: false))
        let long = NotificationSound.file("long.wav", SoundFile(format: .linearPCM, length: .seconds(3)))
        phone.schedule(app, .interval(.seconds(2), repeats: false), NameID(61), sound: long)
        phone.leave(app)
        phone.wait(.seconds(2))
        #expect(phone.shown.map(\.sound) == [.none, .standard])
        #expect(phone.shown.map(\.sound.vibrates) == [false, true])
    }

    // MARK: Taps

    @Test(
        "NOTE-6: a tap brings the app to the front, launches it where it has no process, and tells it",
        arguments: [.notRunning, .suspended, .background] as [AppState]
    )
    func tapped(state: AppState) {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(1), repeats: false))
        if state == .background { phone.request(app, .beginTask(token: 1)) }
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        if state != .background { phone.report(app, .suspended) }
        if state == .notRunning { phone.user(.forceQuit, app) }
        phone.wait(.seconds(1))
        #expect(phone.router.state(of: app) == state)
        phone.forget()
        let tap = phone.tap(app)
        #expect(phone.verdicts == [.foregroundDeliver])
        #expect(phone.reasons == [.tapped])
        #expect(phone.last?.rule == .note6)
        #expect(phone.delivered == [tap])
        phone.report(app, .launched)
        #expect(phone.router.state(of: app) == .active)
        #expect(phone.router.deliveredNotifications(of: app).isEmpty)
    }

    @Test("NOTE-6: a tap launches the app for itself")
    func cause() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(1), repeats: false))
        phone.leave(app)
        phone.report(app, .exited(0))
        phone.wait(.seconds(1))
        let tap = phone.tap(app)
        let causes = phone.actions.compactMap { if case .launch(_, _, _, let cause, _, _) = $0 { cause } else { nil } }
        #expect(causes == [tap])
    }

    @Test("NOTE-6: what the user does not see he does not tap")
    func unseen() {
        var phone = Phone()
        let app = phone.appInFront()
        phone.leave(app)
        phone.forget()
        phone.tap(app)
        #expect(phone.router.state(of: app) == .suspended)
        #expect(phone.reasons == [.noRegistration])
    }
}

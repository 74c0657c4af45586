import Testing
import WakeModel

@testable import WakeRouter

/// Verbs for pushes.
extension Phone {
    static let banner = NameID(70)

    var shownPushes: [NameID] { shown.map(\.identifier) }

    /// What was done by the rules of pushes, in order.
    var pushDeeds: [Deed] {
        actions.compactMap { action in
            guard case .did(_, let deed, _, _) = action else { return nil }
            return deed.row.rule.text.hasPrefix("PUSH") || deed == .endedForAnswer ? deed : nil
        }
    }

    var extensionsRun: [UInt32] {
        actions.compactMap { if case .command(.push(.runExtension(_, let number, _))) = $0 { number } else { nil } }
    }

    /// An app that has registered for pushes, and for those of calls, and is suspended.
    mutating func appWithPushes(
        _ modes: [BackgroundMode] = [.remoteNotification, .voip],
        serviceExtension: Bool = false,
        sdk: SDKVersion = .unknown
    ) -> AppID {
        let app = install([])
        hear(
            .install(
                app,
                AppManifest(
                    bundle: NameID(100 + app.number),
                    modes: BackgroundModes(modes),
                    sdk: sdk,
                    serviceExtension: serviceExtension
                )
            )
        )
        open(app)
        request(app, .push(.register))
        request(app, .push(.registerCalls))
        leave(app)
        forget()
        return app
    }

    /// The app has ended for want of memory.
    mutating func purge(_ app: AppID) {
        hear(.terminate(app, .memory))
        forget()
    }

    @discardableResult
    mutating func push(_ app: AppID, _ kind: EventKind = .pushReceived, number: UInt32 = 1, _ push: Push) -> EventID {
        var event = WakeEvent(kind: kind, local: number, subject: NameID(100 + app.number), app: app)
        event.push = push
        return hear(.event(event))
    }

    /// A background push.
    @discardableResult
    mutating func fetch(
        _ app: AppID,
        number: UInt32 = 1,
        _ expiration: PushExpiration = .none,
        change: (inout Push) -> Void = { _ in }
    ) -> EventID {
        var push = Push()
        (push.type, push.priority, push.isContentAvailable) = (.background, .normal, true)
        push.expiration = expiration
        change(&push)
        return self.push(app, number: number, push)
    }

    /// A push with an alert.
    @discardableResult
    mutating func alert(_ app: AppID, number: UInt32 = 1, change: (inout Push) -> Void = { _ in }) -> EventID {
        var push = Push()
        push.isNotification = true
        push.content.body = "as it came"
        push.identifier = Phone.banner
        change(&push)
        return self.push(app, number: number, push)
    }

    @discardableResult
    mutating func callIn(_ app: AppID, number: UInt32 = 1, change: (inout Push) -> Void = { _ in }) -> EventID {
        var push = Push()
        push.type = .call
        change(&push)
        return self.push(app, .callPushReceived, number: number, push)
    }

    /// The app was woken, has fetched what is new, and is suspended again.
    mutating func fetched(_ app: AppID, number: UInt32 = 1, _ result: FetchResult = .newData) {
        report(app, .launched)
        request(app, .push(.fetched(number, result)))
        report(app, .suspended)
    }
}

@Suite("Pushes to apps")
struct PushRuleTests {
    // MARK: PUSH-1

    @Test("PUSH-1: a background push wakes a suspended app and relaunches a terminated one", arguments: [true, false])
    func wakes(isGone: Bool) {
        var phone = Phone()
        let app = phone.appWithPushes()
        if isGone { phone.purge(app) }
        let event = phone.fetch(app)
        #expect(phone.verdicts == [isGone ? .relaunch : .resume])
        #expect(phone.reasons == [.wokenByPush])
        #expect(phone.last?.rule == .push1)
        #expect(phone.delivered == [event])
    }

    @Test("PUSH-1: an app that called its completion handler is suspended, and one that did not runs for 30 s and ends")
    func handler() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.fetch(app)
        phone.wait(.seconds(20))
        #expect(phone.router.state(of: app) == .background)
        phone.fetched(app)
        #expect(phone.router.state(of: app) == .suspended)
        #expect(phone.pushDeeds == [.fetchedForPush])
        phone.forget()
        phone.fetch(app, number: 2)
        phone.wait(.seconds(29))
        #expect(phone.exits.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.exits.map(\.code) == [TerminationCode.fetchHandler])
        #expect(phone.exits.map(\.cause) == [.watchdog])
        #expect(phone.pushDeeds == [.endedForAnswer])
    }

    @Test("PUSH-1: an answer that nobody waits for is refused")
    func strangeAnswer() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.fetch(app)
        phone.request(app, .push(.fetched(7, .noData)))
        #expect(phone.faults == [.unknownRequest])
        #expect(phone.router.state(of: app) == .background)
    }

    @Test("PUSH-1: iOS 6 gives no app time for a push")
    func beforeBackgroundPushes() {
        var phone = Phone(.ios6)
        let app = phone.appWithPushes()
        phone.fetch(app)
        #expect(phone.reasons == [.noBackgroundPushes])
        #expect(phone.last?.rule == .push1)
        #expect(phone.last?.wouldHave == .resume)
        phone.user(.launch, app)
        phone.forget()
        phone.fetch(app)
        #expect(phone.verdicts == [.foregroundDeliver])
    }

    @Test("MODE-2: without remote-notification a push wakes nobody, and reaches an app that runs")
    func withoutMode() {
        var phone = Phone()
        let app = phone.appWithPushes([])
        phone.fetch(app)
        #expect(phone.reasons == [.modeMissing])
        #expect(phone.verdicts == [.deny])
        phone.user(.launch, app)
        phone.forget()
        phone.fetch(app)
        #expect(phone.verdicts == [.foregroundDeliver])
    }

    @Test("LAUNCH-2: a force-quit app is not launched by a background push")
    func forceQuit() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.user(.forceQuit, app)
        phone.forget()
        phone.fetch(app)
        #expect(phone.reasons == [.forceQuit])
    }

    @Test("LAUNCH-5: of the background pushes before the first unlock the newest is given at the unlock")
    func beforeUnlock() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.hear(.phone(.reboot))
        phone.forget()
        phone.fetch(app, number: 1)
        let newest = phone.fetch(app, number: 2)
        #expect(phone.reasons == [.beforeFirstUnlock, .beforeFirstUnlock])
        phone.hear(.phone(.unlock))
        #expect(phone.delivered == [newest])
    }

    @Test("LAUNCH-6: a push for an app that never registered, or did no more, reaches nobody")
    func notRegistered() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.user(.launch, app)
        phone.request(app, .push(.unregister))
        phone.request(app, .push(.unregisterCalls))
        phone.forget()
        phone.fetch(app)
        phone.callIn(app)
        #expect(phone.reasons == [.noRegistration, .noRegistration])
    }

    // MARK: PUSH-2

    @Test("PUSH-2: from iOS 13 a background push needs its type and a priority below 10")
    func priority() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.fetch(app) { $0.priority = .high }
        phone.fetch(app) { $0.type = .alert }
        #expect(phone.reasons == [.priorityForbids, .priorityForbids])
        #expect(phone.last?.rule == .push2)
        phone.fetch(app) { $0.priority = .low }
        #expect(phone.last?.reason == .wokenByPush)
        var older = Phone(.ios12)
        let olderApp = older.appWithPushes()
        older.fetch(olderApp) { ($0.priority, $0.type) = (.high, .alert) }
        #expect(older.reasons == [.wokenByPush])
    }

    @Test("PUSH-2: a push with an alert may have the priority 10, and wakes its app as well")
    func visiblePriority() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.alert(app) { $0.isContentAvailable = true }
        #expect(phone.decisions.first?.reason == .wokenByPush)
        #expect(phone.shownPushes == [Phone.banner])
    }

    // MARK: PUSH-3

    /// Three wakes, as many as an hour has.
    private func spend(_ phone: inout Phone, _ app: AppID) {
        for number in 1...3 {
            phone.fetch(app, number: UInt32(number))
            phone.fetched(app, number: UInt32(number))
        }
        phone.forget()
    }

    @Test("PUSH-3: the fourth background push of an hour is held, and given when the first no longer counts")
    func rationed() {
        var phone = Phone()
        let app = phone.appWithPushes()
        spend(&phone, app)
        let held = phone.fetch(app, number: 4)
        #expect(phone.verdicts == [.defer])
        #expect(phone.reasons == [.heldBySystem])
        #expect(phone.last?.rule == .push3)
        phone.wait(.seconds(3_599))
        #expect(phone.delivered.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.delivered == [held])
        #expect(phone.reasons == [.heldBySystem, .wokenByPush])
        #expect(phone.last?.supersedes == phone.decisions.first?.id)
    }

    @Test("PUSH-3: of held pushes the newest is kept, and a launch by the user gives it at once (LAUNCH-8)")
    func newestHeld() {
        var phone = Phone()
        let app = phone.appWithPushes()
        spend(&phone, app)
        phone.fetch(app, number: 4)
        let newest = phone.fetch(app, number: 5)
        #expect(phone.reasons == [.heldBySystem, .heldBySystem, .newerPushKept])
        phone.user(.launch, app)
        #expect(phone.delivered == [newest])
        #expect(phone.last?.verdict == .foregroundDeliver)
    }

    @Test("PUSH-3: a push that reaches a running app takes the place of the one that is held")
    func newerDelivered() {
        var phone = Phone()
        let app = phone.appWithPushes()
        spend(&phone, app)
        phone.fetch(app, number: 4)
        phone.alert(app, number: 5) { $0.isContentAvailable = true }
        #expect(phone.reasons.contains(.newerPushKept))
    }

    @Test(
        "PUSH-3: the end of an app, a force quit and a restart drop what is held",
        arguments: [Input.terminate(AppID(0), .memory), .user(AppID(0), .forceQuit), .phone(.reboot)]
    )
    func dropped(end: Input) {
        var phone = Phone()
        let app = phone.appWithPushes()
        spend(&phone, app)
        phone.fetch(app, number: 4)
        phone.forget()
        phone.hear(end)
        #expect(phone.reasons == [.heldPushDropped])
        #expect(phone.last?.rule == .push3)
        phone.forget()
        phone.wait(.seconds(7_200))
        #expect(phone.decisions.isEmpty)
    }

    @Test("PUSH-3: a force quit drops what is held for an app that does not run")
    func droppedWithoutProcess() {
        var phone = Phone()
        let app = phone.appWithPushes()
        spend(&phone, app)
        phone.purge(app)
        phone.fetch(app, number: 4)
        phone.forget()
        phone.user(.forceQuit, app)
        #expect(phone.reasons == [.heldPushDropped])
    }

    @Test("PUSH-3: neither a running app nor a push with an alert is rationed, and before iOS 13 nothing is")
    func notRationed() {
        var phone = Phone()
        let app = phone.appWithPushes()
        spend(&phone, app)
        phone.alert(app, number: 4) { $0.isContentAvailable = true }
        #expect(phone.decisions.first?.verdict == .resume)
        phone.forget()
        phone.fetch(app, number: 5)
        #expect(phone.verdicts == [.backgroundDeliver])
        var older = Phone(.ios12)
        let olderApp = older.appWithPushes()
        spend(&older, olderApp)
        older.fetch(olderApp, number: 4)
        #expect(older.verdicts == [.resume])
    }

    // MARK: PUSH-4

    @Test(
        "PUSH-4: APNs keeps a push until the phone is in reach",
        arguments: [(PhoneChange.airplaneModeOn, PhoneChange.airplaneModeOff), (.shutDown, .boot)]
    )
    func stored(away: PhoneChange, back: PhoneChange) {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.purge(app)
        phone.hear(.phone(.removePasscode))
        phone.hear(.phone(away))
        phone.forget()
        let event = phone.fetch(app)
        #expect(phone.verdicts == [.defer])
        #expect(phone.reasons == [.storedByServer])
        #expect(phone.last?.rule == .push4)
        #expect(phone.last?.wouldHave == .relaunch)
        phone.hear(.phone(back))
        #expect(phone.delivered == [event])
        #expect(phone.last?.reason == .wokenByPush)
    }

    @Test("PUSH-4: APNs keeps one push for each topic, the newest")
    func oneStored() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.hear(.phone(.airplaneModeOn))
        phone.forget()
        phone.fetch(app, number: 1)
        let call = phone.callIn(app, number: 2)
        let newest = phone.fetch(app, number: 3)
        #expect(phone.reasons == [.storedByServer, .storedByServer, .storedByServer, .newerPushStored])
        phone.forget()
        phone.hear(.phone(.airplaneModeOff))
        #expect(phone.delivered == [call, newest])
    }

    @Test("PUSH-4: a push that expires at APNs is dropped, and one with apns-expiration 0 is tried once")
    func expires() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.hear(.phone(.airplaneModeOn))
        phone.forget()
        phone.fetch(app, .once)
        #expect(phone.verdicts == [.drop])
        #expect(phone.reasons == [.pushExpired])
        #expect(phone.last?.wouldHave == .defer)
        phone.fetch(app, .at(phone.now.advanced(by: .seconds(60))))
        phone.forget()
        phone.wait(.seconds(60))
        #expect(phone.reasons == [.pushExpired])
        #expect(phone.last?.rule == .push4)
        phone.hear(.phone(.airplaneModeOff))
        phone.forget()
        phone.fetch(app, .once)
        #expect(phone.verdicts == [.resume])
    }

    @Test("PUSH-4: APNs keeps a push without apns-expiration for 30 days")
    func storage() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.hear(.phone(.airplaneModeOn))
        phone.fetch(app)
        phone.forget()
        phone.wait(.seconds(30 * 24 * 3_600 - 1))
        #expect(phone.decisions.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.reasons == [.pushExpired])
    }

    @Test("PUSH-4: a push takes the place of what is displayed with its collapse identifier")
    func collapses() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.alert(app, number: 1) { $0.isCollapsible = true }
        #expect(phone.pushDeeds.isEmpty)
        phone.alert(app, number: 2) { ($0.isCollapsible, $0.content.body) = (true, "newer") }
        #expect(phone.pushDeeds == [.collapsedNotification])
        #expect(phone.router.deliveredNotifications(of: app).map(\.content.body) == ["newer"])
    }

    // MARK: PUSH-5

    @Test("PUSH-5: APNs refuses payloads of more than 4096 bytes, and of VoIP pushes of more than 5120")
    func sizes() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.fetch(app) { $0.size = 4_097 }
        phone.callIn(app) { $0.size = 5_121 }
        #expect(phone.reasons == [.payloadTooLarge, .payloadTooLarge])
        #expect(phone.last?.rule == .push5)
        phone.alert(app) { $0.size = 4_097 }
        #expect(phone.shown.isEmpty)
        phone.forget()
        phone.fetch(app) { $0.size = 4_096 }
        #expect(phone.verdicts == [.resume])
        phone.callIn(app) { $0.size = 5_120 }
        #expect(phone.verdicts == [.resume, .backgroundDeliver])
    }

    // MARK: PUSH-12

    @Test("PUSH-12: a VoIP push launches its app at the first unlock, and with the switch before it")
    func callsBeforeUnlock() {
        for isOn in [false, true] {
            var profile = Profile.ios17
            profile.areas.push.beforeFirstUnlock = isOn
            var phone = Phone(profile)
            let app = phone.appWithPushes()
            phone.hear(.phone(.reboot))
            phone.forget()
            phone.callIn(app)
            #expect(phone.verdicts == [isOn ? .relaunch : .deny])
            #expect(phone.last?.snapshot.firstUnlockLifted == isOn)
            phone.hear(.phone(.unlock))
            #expect(phone.verdicts == (isOn ? [.relaunch] : [.deny, .relaunch]))
        }
    }

    // MARK: PUSH-1 and Background App Refresh

    @Test(
        "PUSH-1: with the switch a background push wakes nobody while Background App Refresh is off",
        arguments: [true, false]
    )
    func refreshOff(isNeeded: Bool) {
        var profile = Profile.ios17
        profile.areas.push.needsRefresh = isNeeded
        var phone = Phone(profile)
        let app = phone.appWithPushes()
        phone.hear(.phone(.backgroundRefreshOff))
        phone.fetch(app)
        #expect(phone.reasons == [isNeeded ? .refreshOff : .wokenByPush])
        phone.hear(.phone(.backgroundRefreshOn))
        phone.forget()
        phone.fetch(app, number: 2)
        #expect(phone.reasons == [isNeeded ? .wokenByPush : .alreadyRunning])
    }

    // MARK: PUSH-6

    @Test("PUSH-6: a VoIP push launches its app at once, even after a force quit and in Low Power Mode")
    func callsAfterForceQuit() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.user(.forceQuit, app)
        phone.hear(.phone(.lowPowerModeOn))
        phone.forget()
        let event = phone.callIn(app)
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.reasons == [.calledByPush])
        #expect(phone.last?.rule == .push6)
        #expect(phone.last?.checks[.notForceQuit] == .notApplicable)
        #expect(phone.delivered == [event])
    }

    @Test("PUSH-6: there is no PushKit before iOS 8, and without the voip mode a VoIP push wakes nobody")
    func withoutPushKit() {
        var phone = Phone(.ios6)
        let app = phone.appWithPushes()
        phone.user(.launch, app)
        phone.forget()
        phone.request(app, .push(.registerCalls))
        #expect(phone.faults == [.unavailable])
        phone.callIn(app)
        #expect(phone.reasons == [.noRegistration])
        var other = Phone()
        let silent = other.appWithPushes([.remoteNotification])
        other.callIn(silent)
        #expect(other.reasons == [.modeMissing])
    }

    // MARK: PUSH-10

    @Test("PUSH-10: in the foreground, and with a call that goes on, no report is owed", arguments: [0, 1, 2])
    func spared(place: Int) {
        var phone = Phone()
        let app = phone.appWithPushes()
        switch place {
        case 0: phone.user(.launch, app)
        case 1:
            phone.callIn(app)
            phone.request(app, .push(.reportCall))
            phone.request(app, .push(.callHandled(1)))
            phone.report(app, .suspended)
        default:
            phone.user(.launch, app)
            phone.request(app, .push(.callBegan))
            phone.leave(app)
        }
        phone.forget()
        phone.callIn(app, number: 2)
        phone.request(app, .push(.callHandled(2)))
        phone.wait(.seconds(60))
        #expect(phone.exits.isEmpty)
        #expect(phone.pushDeeds == [place == 0 ? .sparedReportInFront : .sparedReportOnCall])
        #expect(phone.router.areas.push.apps[app].unreported == 0)
    }

    @Test("PUSH-10: an app whose calls are over owes reports again, and a new process", arguments: [false, true])
    func owesAgain(isAnotherProcess: Bool) {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.callIn(app)
        phone.request(app, .push(.reportCall))
        phone.request(app, .push(.callHandled(1)))
        if !isAnotherProcess {
            phone.request(app, .push(.callEnded))
            phone.request(app, .push(.callEnded))
        }
        phone.report(app, .suspended)
        if isAnotherProcess { phone.purge(app) }
        phone.forget()
        phone.callIn(app, number: 2)
        phone.report(app, .launched)
        phone.request(app, .push(.callHandled(2)))
        #expect(phone.exits.map(\.cause) == [.crash])
    }

    @Test("PUSH-10: a call that is over while its app is suspended counts no more")
    func overWhileSuspended() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.callIn(app)
        phone.request(app, .push(.reportCall))
        phone.request(app, .push(.callHandled(1)))
        phone.report(app, .suspended)
        phone.forget()
        phone.request(app, .push(.callEnded))
        #expect(phone.faults.isEmpty)
        phone.callIn(app, number: 2)
        phone.request(app, .push(.callHandled(2)))
        #expect(phone.exits.map(\.cause) == [.crash])
    }

    @Test("PUSH-10, LIFE-11: the wake of a call that need not be reported ends with its callback")
    func sparedWake() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.callIn(app)
        phone.request(app, .push(.reportCall))
        phone.request(app, .push(.callHandled(1)))
        phone.report(app, .suspended)
        phone.callIn(app, number: 2)
        #expect(!phone.router.isFreezing(app))
        phone.request(app, .push(.callHandled(2)))
        #expect(phone.router.isFreezing(app))
    }

    // MARK: PUSH-7

    @Test("PUSH-7: an app whose push callback returns without a reported call ends, and one that reported it goes on")
    func reports() {
        var phone = Phone()
        let app = phone.appWithPushes()
        let event = phone.callIn(app)
        phone.request(app, .push(.reportCall))
        phone.request(app, .push(.callHandled(1)))
        #expect(phone.exits.isEmpty)
        #expect(phone.pushDeeds == [.reportedCall])
        phone.request(app, .push(.callEnded))
        phone.report(app, .suspended)
        phone.forget()
        let second = phone.callIn(app, number: 2)
        phone.request(app, .push(.callHandled(2)))
        #expect(phone.exits.map(\.cause) == [.crash])
        #expect(phone.exits.map(\.causedBy) == [second])
        #expect(phone.pushDeeds == [.endedForCall])
        #expect(event != second)
    }

    @Test("PUSH-7: an app that never comes so far ends with 0xbaadca11, and one that reported in time does not")
    func reportsTooLate() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.callIn(app)
        phone.wait(.seconds(29))
        #expect(phone.exits.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.exits.map(\.code) == [TerminationCode.unreportedCall])
        #expect(phone.exits.map(\.cause) == [.policy])
        phone.forget()
        phone.callIn(app)
        phone.report(app, .launched)
        phone.request(app, .push(.reportCall))
        phone.wait(.seconds(60))
        #expect(phone.exits.isEmpty)
    }

    @Test(
        "PUSH-7: neither before iOS 13 nor built with an older SDK must an app report calls",
        arguments: [("ios12", SDKVersion.unknown), ("ios17", SDKVersion(12, 4))]
    )
    func needNotReport(profile: String, sdk: SDKVersion) {
        var phone = Phone(Profile.named(profile)!)
        let app = phone.appWithPushes(sdk: sdk)
        phone.callIn(app)
        phone.request(app, .push(.callHandled(1)))
        phone.wait(.seconds(60))
        #expect(phone.exits.isEmpty)
    }

    // MARK: PUSH-8

    @Test("PUSH-8: after three calls that it did not report an app is launched for no more until it is installed anew")
    func strikes() {
        var phone = Phone()
        let app = phone.appWithPushes()
        for number in 1...3 {
            phone.callIn(app, number: UInt32(number))
            phone.report(app, .launched)
            phone.request(app, .push(.callHandled(UInt32(number))))
        }
        phone.forget()
        phone.callIn(app, number: 4)
        #expect(phone.reasons == [.callsNotReported])
        #expect(phone.last?.rule == .push8)
        #expect(phone.last?.snapshot.unreportedCalls == 3)
        phone.hear(.uninstall(app))
        phone.hear(.install(app, AppManifest(bundle: NameID(100), modes: BackgroundModes([.voip]))))
        phone.open(app)
        phone.request(app, .push(.registerCalls))
        phone.hear(.terminate(app, .memory))
        phone.report(app, .returned(.willTerminate))
        phone.forget()
        phone.callIn(app, number: 5)
        #expect(phone.verdicts == [.relaunch])
    }

    @Test("PUSH-8: a crash over a call counts, and other ends do not", arguments: [true, false])
    func crashes(isCrash: Bool) {
        var phone = Phone()
        let app = phone.appWithPushes()
        for number in 1...3 {
            phone.callIn(app, number: UInt32(number))
            phone.report(app, .launched)
            phone.report(app, .exited(isCrash ? -11 : 0))
        }
        phone.forget()
        phone.callIn(app, number: 4)
        #expect(phone.verdicts == [isCrash ? .deny : .relaunch])
    }

    // MARK: PUSH-9

    @Test("PUSH-9: the user sees a push with an alert, whatever became of its app, and no app runs for it")
    func shown() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.user(.forceQuit, app)
        phone.forget()
        let event = phone.alert(app)
        #expect(phone.reasons == [.pushForUser, .shownBySystem])
        #expect(phone.decisions.first?.rule == .push9)
        #expect(phone.last?.parent == event)
        #expect(phone.shownPushes == [Phone.banner])
        #expect(phone.delivered.isEmpty)
    }

    @Test(
        "PUSH-9: without it a push for the user alone would be asked all that one for its app is, a force quit, too",
        arguments: [(true, [BackgroundMode.remoteNotification]), (false, []), (false, [.remoteNotification])]
            as [(Bool, [BackgroundMode])]
    )
    func withoutIt(isBarred: Bool, modes: [BackgroundMode]) {
        var phone = Phone()
        let app = phone.appWithPushes(modes)
        if isBarred { phone.user(.forceQuit, app) } else { phone.purge(app) }
        phone.forget()
        phone.alert(app)
        let decision = phone.decisions.first
        #expect(decision?.reason == .pushForUser)
        #expect(decision?.checks[.notForceQuit] == .notEvaluated)
        #expect(decision?.wouldHave == (isBarred || modes.isEmpty ? .deny : .relaunch))
    }

    @Test("PUSH-9: a push that neither shows nor asks anything does nothing, and one with a badge sets the number")
    func badgeAlone() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.push(app, number: 1, Push())
        phone.alert(app) { ($0.isNotification, $0.content.badge) = (false, 4) }
        #expect(phone.reasons == [.pushForUser, .pushForUser])
        #expect(phone.shown.isEmpty)
        #expect(phone.router.badge(of: app) == 4)
    }

    @Test("PUSH-9: what is decided twice is shown once")
    func shownOnce() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.hear(.phone(.reboot))
        phone.forget()
        phone.alert(app) { $0.isContentAvailable = true }
        phone.hear(.phone(.unlock))
        #expect(phone.decisions.contains { $0.verdict == .relaunch })
        #expect(phone.shown.count == 1)
    }

    /// The extension of the app with the number 0 is over.
    private func endExtension(
        _ phone: inout Phone,
        _ app: AppID,
        memory: UInt32 = 10,
        failed: Bool = false
    ) {
        var event = WakeEvent(kind: .serviceExtensionEnded, local: 1, failed: failed, app: app)
        var push = Push()
        push.content.body = "decrypted"
        push.extensionMemory = memory
        event.push = push
        phone.hear(.event(event))
    }

    @Test("PUSH-9: the service extension changes what the user sees, with its app force-quit")
    func extended() {
        var phone = Phone()
        let app = phone.appWithPushes(serviceExtension: true)
        phone.user(.forceQuit, app)
        phone.forget()
        phone.alert(app) { $0.isMutable = true }
        #expect(phone.extensionsRun == [1])
        #expect(phone.shown.isEmpty)
        endExtension(&phone, app)
        #expect(phone.shown.map(\.content.body) == ["decrypted"])
        #expect(phone.decisions.contains { $0.kind == .serviceExtensionEnded && $0.verdict == .coalesce })
    }

    @Test("PUSH-9: an extension that crashes or takes too much memory changes nothing", arguments: [true, false])
    func extensionFails(crashes: Bool) {
        var phone = Phone()
        let app = phone.appWithPushes(serviceExtension: true)
        phone.alert(app) { $0.isMutable = true }
        endExtension(&phone, app, memory: crashes ? 10 : 25, failed: crashes)
        #expect(phone.shown.map(\.content.body) == ["as it came"])
        #expect(phone.reasons.contains(.originalShown))
    }

    @Test("PUSH-9: after 30 s the user sees the notification as it came")
    func extensionTooLate() {
        var phone = Phone()
        let app = phone.appWithPushes(serviceExtension: true)
        phone.alert(app) { $0.isMutable = true }
        phone.wait(.seconds(29))
        #expect(phone.shown.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.shown.map(\.content.body) == ["as it came"])
        #expect(phone.reasons.contains(.originalShown))
        #expect(phone.actions.contains(.push(.endExtension(app, 1))))
        phone.forget()
        endExtension(&phone, app)
        #expect(phone.shown.isEmpty)
    }

    @Test(
        "PUSH-9: an extension is told once when its time is nearly over, unless it has answered",
        arguments: [true, false]
    )
    func extensionWarned(answers: Bool) {
        var phone = Phone()
        let app = phone.appWithPushes(serviceExtension: true)
        phone.alert(app) { $0.isMutable = true }
        phone.wait(.seconds(24))
        if answers { endExtension(&phone, app) }
        let warning = Action.push(.warnExtension(app, 1))
        #expect(!phone.actions.contains(warning))
        phone.wait(.seconds(1))
        phone.wait(.seconds(4))
        #expect(phone.actions.count { $0 == warning } == (answers ? 0 : 1))
    }

    @Test("PUSH-9: no extension runs without mutable-content, without one in the bundle, or before iOS 10")
    func noExtension() {
        for (profile, has, isMutable) in [(Profile.ios17, true, false), (.ios17, false, true), (.ios8, true, true)] {
            var phone = Phone(profile)
            let app = phone.appWithPushes(serviceExtension: has)
            phone.alert(app) { $0.isMutable = isMutable }
            #expect(phone.extensionsRun.isEmpty)
            #expect(phone.shown.count == 1)
        }
    }

    // MARK: NEWS-1

    @Test(
        "NEWS-1: a push about a new issue launches a Newsstand app, up to iOS 12",
        arguments: ["ios6", "ios12", "ios13"]
    )
    func newsstand(profile: String) {
        var phone = Phone(Profile.named(profile)!)
        let app = phone.appWithPushes([.newsstandContent])
        phone.purge(app)
        var push = Push()
        push.isContentAvailable = true
        phone.push(app, .newsstandPushReceived, push)
        let isThere = profile != "ios13"
        #expect(phone.verdicts == [isThere ? .relaunch : .deny])
        #expect(phone.reasons == [isThere ? .newIssue : .newsstandGone])
        #expect(phone.last?.rule == .news1)
    }

    // MARK: PWR-2

    @Test("PWR-2: Low Power Mode holds background pushes, and the newest is given when it is off")
    func lowPower() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.hear(.phone(.lowPowerModeOn))
        phone.forget()
        phone.fetch(app, number: 1)
        let newest = phone.fetch(app, number: 2)
        #expect(phone.reasons == [.lowPowerMode, .lowPowerMode, .newerPushKept])
        #expect(phone.decisions.first?.rule == .pwr2)
        phone.wait(.seconds(7_200))
        #expect(phone.delivered.isEmpty)
        phone.hear(.phone(.lowPowerModeOff))
        phone.wait(.milliseconds(1))
        #expect(phone.delivered == [newest])
    }

    @Test("PWR-2: in Low Power Mode the user sees pushes, and a running app has them")
    func lowPowerShows() {
        var phone = Phone()
        let app = phone.appWithPushes()
        phone.hear(.phone(.lowPowerModeOn))
        phone.alert(app) { $0.isContentAvailable = true }
        #expect(phone.shown.count == 1)
        phone.user(.launch, app)
        phone.forget()
        phone.fetch(app, number: 2)
        #expect(phone.verdicts == [.foregroundDeliver])
        var older = Phone(.ios8)
        let olderApp = older.appWithPushes()
        older.hear(.phone(.lowPowerModeOn))
        older.forget()
        older.fetch(olderApp)
        #expect(older.verdicts == [.resume])
    }
}

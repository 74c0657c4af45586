import Testing
import WakeModel

@testable import WakeRouter

@Suite("Background fetch and the task scheduler")
struct BackgroundTaskRuleTests {
    static let refresh = NameID(900)
    static let clean = NameID(901)
    static let third = NameID(902)
    /// Midnight of a day, on a phone at Greenwich.
    static let clock = PhoneClock(epoch: 1_767_225_600_000_000_000, zone: 0)

    // MARK: Fetch

    @Test(
        "FETCH-1: an app with the mode and an interval is launched for a fetch, and not again before the interval is over"
    )
    func fetch() {
        var profile = Profile.ios8
        profile.areas.backgroundTask.spacing = .milliseconds(1)
        var (phone, app) = Phone.fetching(profile, interval: .seconds(3_600))
        phone.waitFor(app, .fetchDue)
        #expect(phone.reasons == [.fetched])
        #expect(phone.last?.rule == .fetch1)
        phone.answerFetch(app)
        let first = phone.now
        phone.forget()
        phone.waitFor(app, .fetchDue)
        #expect(phone.now.since(first) >= .seconds(3_590))
    }

    @Test("BGT-15: from iOS 17 on a processing request outlives a force quit, and runs on external power")
    func outlivesForceQuit() {
        for profile in [Profile.ios13, .ios17] {
            var phone = Phone(profile)
            let app = phone.scheduling()
            phone.submit(app, Self.clean, processing: true)
            phone.user(.forceQuit, app)
            phone.report(app, .exited(0))
            phone.hear(.phone(.displayOff))
            phone.forget()
            phone.wait(.seconds(7_200))
            #expect(!phone.verdicts.contains(.relaunch))
            phone.hear(.phone(.chargerConnected))
            phone.wait(.seconds(7_200))
            #expect(phone.verdicts.contains(.relaunch) == (profile == .ios17))
            #expect(phone.decisions.contains(where: \.snapshot.forceQuitLifted) == (profile == .ios17))
        }
    }

    @Test("FETCH-1: without an interval nothing is fetched")
    func neverFetches() {
        var (phone, app) = Phone.fetching(.ios8, interval: nil)
        phone.wait(.seconds(2 * 86_400))
        #expect(phone.decisions.isEmpty)
        #expect(phone.router.tasks(of: app, at: phone.now).isEmpty)
    }

    @Test("FETCH-1: without the mode the fetch is denied")
    func fetchWithoutMode() {
        var (phone, _) = Phone.fetching(.ios8, interval: .zero, modes: [])
        phone.wait(.seconds(86_400))
        #expect(phone.reasons == [.modeMissing])
    }

    @Test("FETCH-1: there is no fetch before iOS 7")
    func fetchOfOld() {
        let (phone, app) = Phone.fetching(.ios6, interval: .zero)
        #expect(phone.router.tasks(of: app, at: phone.now).isEmpty)
    }

    @Test(
        "FETCH-2: a late answer ends the app, with the code of its time",
        arguments: [(Profile.ios8, 0x8bad_f00d), (.ios13, 0x2182_bad4)] as [(Profile, Int64)]
    )
    func lateFetch(profile: Profile, code: Int64) {
        var (phone, app) = Phone.fetching(profile, interval: .zero)
        phone.waitFor(app, .fetchDue)
        phone.wait(.seconds(29))
        #expect(phone.exits.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.exits.map(\.code) == [code])
        #expect(phone.deeds(.endedForFetch) == [app])
        #expect(phone.deeds(.loweredForOverrun) == [app])
    }

    @Test("FETCH-2: who answers in time is suspended, and lives")
    func fetchInTime() {
        var (phone, app) = Phone.fetching(.ios13, interval: .zero)
        phone.waitFor(app, .fetchDue)
        phone.wait(.seconds(20))
        phone.answerFetch(app)
        #expect(phone.router.isFreezing(app))
        phone.report(app, .suspended)
        phone.wait(.seconds(60))
        #expect(phone.exits.isEmpty)
        #expect(phone.deeds(.endedForFetch) == [])
    }

    @Test(
        "FETCH-3: quick, truthful answers raise the chances; slow ones, and new data without any download, lower them",
        arguments: [
            (1, FetchResult.newData, true, Deed.raisedChances), (1, .noData, false, .raisedChances),
            (20, .newData, true, .loweredChances), (1, .newData, false, .loweredChances),
        ] as [(Int64, FetchResult, Bool, Deed)]
    )
    func chances(seconds: Int64, result: FetchResult, downloaded: Bool, deed: Deed) {
        var (phone, app) = Phone.fetching(.ios8, interval: .zero)
        phone.waitFor(app, .fetchDue)
        let begin = phone.now
        phone.wait(.seconds(seconds))
        phone.answerFetch(app, result, downloaded: downloaded)
        #expect(phone.deeds(deed) == [app])
        phone.report(app, .suspended)
        phone.forget()
        phone.waitFor(app, .fetchDue)
        // A quarter of an hour, doubled twice as a rule.
        #expect(phone.now.since(begin) == .seconds(deed == .raisedChances ? 1_800 : 7_200))
    }

    @Test(
        "FETCH-3: a failed fetch raises no chances, and lowers them where it was slow",
        arguments: [1, 20] as [Int64]
    )
    func failedFetch(seconds: Int64) {
        var (phone, app) = Phone.fetching(.ios8, interval: .zero)
        phone.waitFor(app, .fetchDue)
        phone.wait(.seconds(seconds))
        phone.answerFetch(app, .failed)
        #expect(phone.deeds(.raisedChances) == [])
        #expect(phone.deeds(.loweredChances) == (seconds == 20 ? [app] : []))
    }

    @Test("FETCH-3, BGT-12: with its chances used up the app waits, though the lever brings the next look forward")
    func chancesUsedUp() {
        var (phone, app) = Phone.fetching(.ios8, interval: .zero)
        phone.waitFor(app, .fetchDue)
        phone.answerFetch(app)
        phone.report(app, .suspended)
        phone.forget()
        phone.lever(.scheduled, app, .none)
        #expect(phone.reasons == [.ledToEvents, .chancesLow])
        phone.lever(.allowed, app, .none)
        #expect(phone.last?.reason == .leverUsed)
    }

    @Test("FETCH-4: the refresh comes shortly before the time at which the user opens the app")
    func habit() {
        var (phone, app) = Phone.withHabit(hour: 8)
        // Home at one minute past eight; it asks not to be refreshed before a quarter of an hour.
        phone.waitFor(app, .refreshTaskDue)
        let expected = Instant(nanoseconds: Int64(3 * 86_400 + 8 * 3_600 - 600) * 1_000_000_000)
        #expect(phone.now == expected)
        #expect(phone.last?.reason == .refreshTaskRuns)
        #expect(phone.last?.snapshot.task.habitDays == 3)
    }

    @Test("FETCH-4: at another time the user is not expected, and the lever of the scheduler says so")
    func notExpected() {
        var (phone, app) = Phone.withHabit(hour: 8)
        phone.wait(.seconds(4 * 3_600))
        phone.lever(.scheduled, app, Self.refresh)
        #expect(phone.last?.reason == .useNotExpected)
        #expect(phone.last?.wouldHave == .resume)
    }

    @Test("FETCH-4: an app that is rarely used is rarely refreshed")
    func rarelyUsed() {
        var (phone, app) = Phone.fetching(.ios8, interval: .zero)
        var runs: [Instant] = []
        while phone.now < Instant(nanoseconds: 6 * 86_400_000_000_000) {
            phone.forget()
            phone.waitFor(app, .fetchDue)
            runs.append(phone.now)
            phone.answerFetch(app)
            phone.report(app, .suspended)
        }
        let gaps = zip(runs, runs.dropFirst()).map { $1.since($0) }
        #expect(gaps.min() == .seconds(900))
        #expect(gaps.max().map { $0 >= .seconds(6 * 900) } == true)
    }

    @Test(
        "FETCH-5: with Background App Refresh off, or in Low Power Mode, nothing is fetched",
        arguments: [true, false]
    )
    func paused(lowPower: Bool) {
        var (phone, app) = Phone.fetching(.ios12, interval: .zero)
        phone.hear(.phone(lowPower ? .lowPowerModeOn : .backgroundRefreshOff))
        phone.waitFor(app, .fetchDue)
        #expect(phone.reasons == [.fetchPaused])
        phone.wait(.seconds(86_400))
        #expect(phone.reasons == [.fetchPaused])
        phone.hear(.phone(lowPower ? .lowPowerModeOff : .backgroundRefreshOn))
        phone.wait(.seconds(1))
        #expect(phone.reasons == [.fetchPaused, .fetched])
    }

    @Test("FETCH-5: Low Power Mode came with iOS 9")
    func lowPowerOfOld() {
        var (phone, app) = Phone.fetching(.ios8, interval: .zero)
        phone.hear(.phone(.lowPowerModeOn))
        phone.waitFor(app, .fetchDue)
        #expect(phone.reasons == [.fetched])
    }

    @Test(
        "FETCH-6: beside permitted identifiers the interval does nothing; before iOS 13 it does",
        arguments: [true, false]
    )
    func disabled(isNew: Bool) {
        let (phone, app) = Phone.fetching(isNew ? .ios13 : .ios12, interval: .zero, identifiers: [])
        #expect(phone.deeds(.ignoredFetchInterval) == (isNew ? [app] : []))
        #expect(phone.router.tasks(of: app, at: phone.now).isEmpty == isNew)
    }

    // MARK: Requests

    @Test("BGT-1: an identifier that Info.plist does not permit is error 3, and so is a missing mode")
    func notPermitted() {
        var phone = Phone()
        let app = phone.scheduling(modes: [.fetch])
        phone.submit(app, NameID(999))
        phone.submit(app, Self.clean, processing: true)
        #expect(phone.faults == [.taskNotPermitted, .taskNotPermitted])
        #expect(phone.deeds(.refusedTaskRequest) == [app, app])
        phone.submit(app, Self.refresh)
        #expect(phone.router.tasks(of: app, at: phone.now).map(\.identifier) == [Self.refresh])
    }

    @Test("BGT-1: there is no scheduler before iOS 13")
    func noScheduler() {
        var phone = Phone(.ios12)
        let app = phone.scheduling()
        phone.submit(app, Self.refresh)
        #expect(phone.faults.contains(.tasksUnavailable))
    }

    @Test("BGT-2: one refresh and ten processing requests are pending, and more are error 2")
    func tooMany() {
        var phone = Phone()
        let app = phone.scheduling(identifiers: (0..<12).map { NameID(900 + $0) })
        phone.submit(app, Self.refresh)
        phone.submit(app, Self.clean)
        #expect(phone.faults == [.tooManyTaskRequests])
        for number in 1..<12 { phone.submit(app, NameID(900 + UInt32(number)), processing: true) }
        #expect(phone.faults == [.tooManyTaskRequests, .tooManyTaskRequests])
        #expect(phone.deeds(.refusedTooManyTaskRequests) == [app, app])
        #expect(phone.router.tasks(of: app, at: phone.now).count == 11)
    }

    @Test("BGT-2: the same identifier replaces")
    func replaces() {
        var phone = Phone()
        let app = phone.scheduling()
        phone.submit(app, Self.refresh)
        phone.submit(app, Self.refresh, after: .seconds(3_600))
        #expect(phone.faults == [])
        #expect(phone.deeds(.replacedTaskRequest) == [app])
        #expect(phone.router.tasks(of: app, at: phone.now).map(\.begins) == [phone.now.advanced(by: .seconds(3_600))])
        phone.request(app, .backgroundTask(.cancel(Self.refresh)))
        #expect(phone.router.tasks(of: app, at: phone.now).isEmpty)
    }

    @Test("BGT-1, BGT-2: an app that waits for an answer hears what became of what it asked, and what is pending")
    func answers() {
        var phone = Phone()
        let app = phone.install([.fetch, .processing], taskIdentifiers: [Self.refresh, Self.clean])
        phone.user(.launch, app)
        phone.request(app, .backgroundTask(.register(Self.third, answer: 1)))
        phone.request(app, .backgroundTask(.register(Self.refresh, answer: 2)))
        phone.report(app, .launched)
        for (identifier, answer) in [(Self.refresh, 3), (Self.clean, 4), (Self.third, 5)] as [(NameID, UInt64)] {
            let submission = BackgroundTaskSubmission(identifier: identifier, isProcessing: false)
            phone.request(app, .backgroundTask(.submit(submission, clock: Self.clock, answer: answer)))
        }
        phone.request(app, .backgroundTask(.list(answer: 6)))
        let refresh = BackgroundTaskSubmission(identifier: Self.refresh, isProcessing: false)
        #expect(
            phone.taskAnswers == [
                1: .decided(.taskNotPermitted), 2: .decided(nil), 3: .decided(nil), 4: .decided(.tooManyTaskRequests),
                5: .decided(.taskNotPermitted), 6: .pending([refresh]),
            ]
        )
    }

    @Test("BGT-3: an app that is ended for a launch handler gets no answer")
    func noAnswer() {
        var phone = Phone()
        let app = phone.scheduling()
        phone.request(app, .backgroundTask(.register(Self.refresh, answer: 1)))
        #expect(phone.exits.count == 1)
        #expect(phone.taskAnswers.isEmpty)
    }

    @Test("BGT-3: a launch handler after the launch ends the app, and a second one for an identifier")
    func handlers() {
        var phone = Phone()
        var app = phone.scheduling()
        phone.request(app, .backgroundTask(.register(Self.refresh)))
        #expect(phone.deeds(.endedForLateHandler) == [app])
        #expect(phone.exits.map(\.cause) == [.crash])
        app = phone.install([.fetch], taskIdentifiers: [Self.refresh])
        phone.user(.launch, app)
        phone.request(app, .backgroundTask(.register(Self.refresh)))
        #expect(phone.exits.count == 1)
        phone.request(app, .backgroundTask(.register(Self.refresh)))
        #expect(phone.deeds(.endedForSecondHandler) == [app])
        #expect(phone.exits.count == 2)
    }

    @Test("BGT-3: a suspended app without a launch handler is not handed the task")
    func noHandler() {
        var phone = Phone()
        let app = phone.scheduling(handlers: [])
        phone.submit(app, Self.refresh)
        phone.leave(app)
        phone.forget()
        phone.waitFor(app, .refreshTaskDue)
        #expect(phone.reasons == [.noLaunchHandler])
    }

    @Test("BGT-4: one request is one launch, and who submits again is launched again")
    func once() {
        var phone = Phone.refreshing()
        let app = AppID(0)
        phone.waitFor(app, .refreshTaskDue)
        #expect(phone.deeds(.consumedTaskRequest) == [app])
        phone.submit(app, Self.refresh, after: .seconds(60))
        phone.completeAll(app)
        phone.report(app, .suspended)
        phone.forget()
        phone.waitFor(app, .refreshTaskDue)
        phone.completeAll(app)
        phone.report(app, .suspended)
        phone.forget()
        phone.wait(.seconds(86_400))
        #expect(phone.decisions.isEmpty)
    }

    @Test("BGT-5: nothing runs before earliestBeginDate")
    func beginDate() {
        var phone = Phone.refreshing(after: .seconds(7_200))
        let begin = phone.now
        phone.wait(.seconds(3_600))
        phone.lever(.scheduled, AppID(0), Self.refresh)
        #expect(phone.last?.reason == .beforeBeginDate)
        phone.forget()
        phone.waitFor(AppID(0), .refreshTaskDue)
        #expect(phone.now.since(begin) == .seconds(7_200))
        #expect(phone.last?.reason == .refreshTaskRuns)
    }

    @Test("BGT-5: a date a week ahead is forgotten, unless the user uses the app meanwhile", arguments: [true, false])
    func farDate(used: Bool) {
        var phone = Phone.refreshing(after: .seconds(7 * 86_400), stays: .seconds(1))
        phone.wait(.seconds(6 * 86_400))
        if used {
            phone.user(.launch, AppID(0))
            phone.leave(AppID(0))
        }
        phone.forget()
        phone.wait(.seconds(2 * 86_400))
        #expect(phone.reasons.first == (used ? .refreshTaskRuns : .farDateUnused))
    }

    @Test("BGT-5, SYS-1: a clock that is set an hour ahead brings earliestBeginDate nearer")
    func clockSet() {
        var phone = Phone.refreshing(after: .seconds(7_200))
        let app = AppID(0)
        let begins = phone.router.tasks(of: app, at: phone.now).first?.begins
        var clock = Self.clock
        clock.epoch += 3_600_000_000_000
        phone.hear(.clock(clock))
        let after = phone.router.tasks(of: app, at: phone.now).first?.begins
        #expect(begins.flatMap { begins in after.map { begins.since($0) } } == .seconds(3_600))
    }

    // MARK: Running

    @Test("BGT-6: refresh has 30 s a launch, whatever else is handed over, and the expiration handler runs before")
    func perLaunch() {
        var phone = Phone.refreshing()
        let app = AppID(0)
        phone.waitFor(app, .refreshTaskDue)
        phone.wait(.seconds(20))
        phone.submit(app, Self.third)
        phone.lever(.allowed, app, Self.third)
        #expect(phone.last?.verdict == .backgroundDeliver)
        phone.wait(.seconds(4))
        #expect(phone.expirations.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.expirations.count == 2)
        phone.wait(.seconds(4))
        #expect(phone.exits.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.deeds(.endedForTaskRequest) == [app])
    }

    @Test("BGT-6: the processing tasks of one launch begin together and end together")
    func together() {
        var phone = Phone.processing([Self.clean, Self.third], needsPower: false)
        phone.hear(.phone(.displayOff))
        phone.forget()
        phone.wait(.seconds(600))
        #expect(phone.decisions.map(\.verdict) == [.resume, .backgroundDeliver])
        phone.wait(.seconds(295))
        #expect(phone.expirations.count == 2)
    }

    @Test("BGT-7: processing waits for the phone to lie idle, for power and for a network where they are required")
    func waitsForPower() {
        var phone = Phone.processing([Self.clean], needsPower: true, needsNetwork: true)
        #expect(phone.reasons == [.phoneInUse])
        phone.hear(.phone(.displayOff))
        phone.wait(.seconds(7_200))
        #expect(phone.reasons == [.phoneInUse])
        #expect(phone.router.tasks(of: AppID(0), at: phone.now).first?.unmet == [.externalPower])
        phone.hear(.phone(.airplaneModeOn))
        phone.hear(.phone(.chargerConnected))
        phone.wait(.seconds(7_200))
        #expect(phone.router.tasks(of: AppID(0), at: phone.now).first?.unmet == [.networkThere])
        phone.lever(.scheduled, AppID(0), Self.clean)
        #expect(phone.last?.reason == .noNetwork)
        phone.hear(.phone(.airplaneModeOff))
        phone.wait(.seconds(2))
        #expect(phone.last?.reason == .processingTaskRuns)
        #expect(phone.last?.verdict == .resume)
    }

    @Test("BGT-7: without a charger a task that requires one is denied")
    func noPower() {
        var phone = Phone.processing([Self.clean], needsPower: true)
        phone.hear(.phone(.displayOff))
        phone.wait(.seconds(7_200))
        phone.lever(.scheduled, AppID(0), Self.clean)
        #expect(phone.last?.reason == .noExternalPower)
    }

    @Test("BGT-7: processing has minutes, and the user picking up the phone ends it", arguments: [true, false])
    func pickedUp(taken: Bool) {
        var phone = Phone.runningProcessing()
        let app = AppID(0)
        phone.wait(.seconds(100))
        #expect(phone.expirations.isEmpty)
        if taken { phone.hear(.phone(.displayOn)) }
        #expect(phone.expirations.count == (taken ? 1 : 0))
        #expect(phone.deeds(.interruptedProcessing) == (taken ? [app] : []))
        phone.wait(.seconds(5))
        #expect(phone.deeds(.endedForTaskRequest) == (taken ? [app] : []))
    }

    @Test("BGT-7: refresh goes on while the user has the phone in his hand")
    func refreshGoesOn() {
        var phone = Phone.refreshing()
        phone.hear(.phone(.displayOff))
        phone.waitFor(AppID(0), .refreshTaskDue)
        phone.hear(.phone(.displayOn))
        #expect(phone.expirations.isEmpty)
    }

    @Test("BGT-7: refresh that runs beside interrupted processing goes on")
    func refreshBeside() {
        var phone = Phone.runningProcessing()
        let app = AppID(0)
        phone.submit(app, Self.refresh)
        phone.lever(.scheduled, app, Self.refresh)
        phone.lever(.allowed, app, Self.refresh)
        #expect(phone.router.taskNumber(Self.refresh, of: app) != nil)
        phone.hear(.phone(.displayOn))
        #expect(phone.expirations.count == 1)
        #expect(phone.deeds(.expiredTaskRequest).count == 1)
    }

    @Test("FETCH-6, BGT-12: no lever has a fetch run whose calls do nothing")
    func leverWithoutFetch() {
        var phone = Phone()
        let app = phone.install([.fetch, .processing], taskIdentifiers: [Self.refresh])
        phone.hear(.user(app, .launch))
        phone.forget()
        phone.lever(.regardless, app, .none)
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("BGT-7, CPU-1: with external power the processor monitor is off", arguments: [true, false])
    func processor(power: Bool) {
        var phone = Phone.runningProcessing(needsPower: power)
        let app = AppID(0)
        phone.request(app, .measured(.processor(100)))
        phone.wait(.seconds(120))
        #expect(phone.deeds(.endedForProcessorTime) == (power ? [] : [app]))
    }

    @Test("BGT-8: setTaskCompleted is owed even after expiration; who says it in time lives, and is suspended")
    func completed() {
        var phone = Phone.refreshing()
        let app = AppID(0)
        phone.waitFor(app, .refreshTaskDue)
        phone.wait(.seconds(26))
        #expect(phone.deeds(.expiredTaskRequest) == [app])
        phone.completeAll(app)
        #expect(phone.deeds(.completedTaskRequest) == [app])
        #expect(phone.router.isFreezing(app))
        #expect(phone.exits.isEmpty)
    }

    @Test("BGT-8, CPU-2: who does not complete its task is ended, and its later chances fall")
    func notCompleted() {
        var phone = Phone.refreshing()
        let app = AppID(0)
        phone.waitFor(app, .refreshTaskDue)
        phone.wait(.seconds(30))
        #expect(phone.deeds(.endedForTaskRequest) == [app])
        #expect(phone.deeds(.loweredForOverrun) == [app])
        #expect(phone.exits.map(\.code) == [0x2182_bad4])
    }

    @Test("BGT-9: what an extension submits launches the app itself", arguments: [true, false])
    func ofExtension(isOfExtension: Bool) {
        var phone = Phone()
        let app = phone.scheduling()
        phone.submit(app, Self.clean, processing: true, isOfExtension: isOfExtension)
        #expect(phone.deeds(.submittedByExtension) == (isOfExtension ? [app] : []))
        phone.leave(app)
        phone.hear(.phone(.displayOff))
        phone.hear(.terminate(app, .memory))
        phone.wait(.seconds(700))
        #expect(phone.last?.verdict == .relaunch)
    }

    @Test("BGT-10: nothing is run before the first unlock, and after it what waits is")
    func firstUnlock() {
        var phone = Phone.refreshing(after: .seconds(60))
        phone.hear(.phone(.reboot))
        phone.forget()
        phone.wait(.seconds(7_200))
        #expect(phone.reasons == [.beforeFirstUnlock])
        phone.hear(.phone(.unlock))
        phone.wait(.seconds(2))
        #expect(phone.reasons == [.beforeFirstUnlock, .refreshTaskRuns])
    }

    @Test("BGT-11: who asked in the background and was not used recently is not run", arguments: [true, false])
    func eligible(recently: Bool) {
        var phone = Phone.refreshing()
        let app = AppID(0)
        phone.waitFor(app, .refreshTaskDue)
        phone.submit(app, Self.refresh, after: .seconds((recently ? 1 : 3) * 86_400))
        phone.completeAll(app)
        phone.report(app, .suspended)
        phone.forget()
        phone.wait(.seconds(4 * 86_400))
        #expect(phone.reasons.first == (recently ? .refreshTaskRuns : .notEligible))
    }

    // MARK: Levers

    @Test(
        "BGT-12: the levers are as strong as they say",
        arguments: [(TaskLever.scheduled, Verdict.deny), (.allowed, .deny), (.regardless, .resume)]
    )
    func strengths(lever: TaskLever, verdict: Verdict) {
        var phone = Phone.refreshing()
        phone.hear(.phone(.lowPowerModeOn))
        phone.lever(lever, AppID(0), Self.refresh)
        #expect(phone.last?.verdict == verdict)
        #expect(phone.last?.snapshot.task.lever == lever)
        // What is forced uses up nothing.
        #expect(phone.router.tasks(of: AppID(0), at: phone.now).count == 1)
    }

    @Test("BGT-12: a lever for what nobody asked for finds nobody")
    func nobody() {
        var phone = Phone.refreshing()
        phone.lever(.allowed, AppID(0), Self.third)
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("BGT-12: a simulated expiration calls the expiration handler of what runs, and of nothing else")
    func simulatedExpiration() {
        var phone = Phone.refreshing()
        let app = AppID(0)
        phone.waitFor(app, .refreshTaskDue)
        phone.forget()
        phone.expire(app, Self.third)
        #expect(phone.reasons == [.noRegistration])
        phone.expire(app, Self.refresh)
        #expect(phone.last?.reason == .leverUsed)
        #expect(phone.last?.rule == .bgt12)
        #expect(phone.deeds(.expiredTaskRequest) == [app])
        phone.wait(.seconds(5))
        #expect(phone.deeds(.endedForTaskRequest) == [app])
    }

    // MARK: Power and switches

    @Test("PWR-2: Low Power Mode pauses refresh and processing")
    func lowPower() {
        var phone = Phone.refreshing()
        phone.hear(.phone(.lowPowerModeOn))
        phone.waitFor(AppID(0), .refreshTaskDue)
        #expect(phone.reasons == [.lowPowerMode])
        phone.hear(.phone(.lowPowerModeOff))
        phone.wait(.seconds(2))
        #expect(phone.last?.reason == .refreshTaskRuns)
    }

    @Test(
        "PWR-3: with Background App Refresh off a request is error 1, and what waits does not run",
        arguments: [true, false]
    )
    func refreshOff(ofApp: Bool) {
        var phone = Phone.refreshing()
        let app = AppID(0)
        if ofApp { phone.user(.refuseRefresh, app) } else { phone.hear(.phone(.backgroundRefreshOff)) }
        phone.waitFor(app, .refreshTaskDue)
        #expect(phone.reasons == [.refreshOff])
        phone.user(.launch, app)
        phone.submit(app, Self.refresh)
        #expect(phone.faults == [.tasksUnavailable])
        #expect(phone.deeds(.refusedWithoutRefresh) == [app])
    }

    @Test("SYS-2: what died with the bench on its way is handed over again")
    func benchRestarted() throws {
        var phone = Phone.refreshing()
        let app = AppID(0)
        phone.waitFor(app, .refreshTaskDue)
        let decision = try #require(phone.last)
        phone.hear(.benchRestarted)
        var event = WakeEvent(kind: .refreshTaskDue, subject: Self.refresh, app: app)
        event.local = 1
        event.id = decision.event
        phone.forget()
        phone.hear(.redeliver(app, event, supersedes: decision.id))
        #expect(phone.verdicts == [.relaunch])
    }
}

extension Phone {
    private static let tasks = BackgroundTaskRuleTests.self

    /// The times at which expiration handlers were called, by their tasks.
    fileprivate var expirations: [UInt32] {
        actions.compactMap { if case .tell(_, .taskExpiration(let number, _)) = $0 { number } else { nil } }
    }

    /// A suspended app that fetches.
    fileprivate static func fetching(
        _ profile: Profile,
        interval: Instant.Span?,
        modes: [BackgroundMode] = [.fetch],
        identifiers: [NameID]? = nil
    ) -> (Phone, AppID) {
        var phone = Phone(profile)
        let app = phone.install(modes, taskIdentifiers: identifiers)
        phone.user(.launch, app)
        phone.report(app, .launched)
        phone.request(app, .backgroundTask(.setFetchInterval(interval, clock: tasks.clock)))
        let deeds = phone.deeds(.ignoredFetchInterval)
        phone.leave(app)
        if deeds.isEmpty { phone.forget() }
        return (phone, app)
    }

    /// What apps were told that waited for the scheduler, by their numbers.
    fileprivate var taskAnswers: [UInt64: TaskAnswer] {
        var answers: [UInt64: TaskAnswer] = [:]
        for case .tell(_, .taskAnswer(let number, let answer)) in actions { answers[number] = answer }
        return answers
    }

    /// An app in the foreground that may use the scheduler.
    fileprivate mutating func scheduling(
        modes: [BackgroundMode] = [.fetch, .processing],
        identifiers: [NameID] = [tasks.refresh, tasks.clean, tasks.third],
        handlers: [NameID]? = nil
    ) -> AppID {
        let app = install(modes, taskIdentifiers: identifiers)
        user(.launch, app)
        for identifier in handlers ?? identifiers { request(app, .backgroundTask(.register(identifier))) }
        report(app, .launched)
        return app
    }

    fileprivate mutating func submit(
        _ app: AppID,
        _ identifier: NameID,
        processing: Bool = false,
        after span: Instant.Span? = nil,
        needsPower: Bool = false,
        needsNetwork: Bool = false,
        isOfExtension: Bool = false
    ) {
        let submission = BackgroundTaskSubmission(
            identifier: identifier,
            isProcessing: processing,
            begins: span.map { now.advanced(by: $0) },
            needsPower: needsPower,
            needsNetwork: needsNetwork,
            isOfExtension: isOfExtension
        )
        request(app, .backgroundTask(.submit(submission, clock: Self.tasks.clock)))
    }

    /// A suspended app that asked for a refresh in the foreground; the first at once is over a minute ahead.
    fileprivate static func refreshing(after span: Instant.Span = .seconds(60), stays: Instant.Span = .zero) -> Phone {
        var phone = Phone()
        let app = phone.scheduling()
        phone.submit(app, tasks.refresh, after: span)
        phone.wait(stays)
        phone.leave(app)
        phone.forget()
        return phone
    }

    /// A suspended app that asked for processing, which was tried in vain while the phone is in use.
    fileprivate static func processing(_ identifiers: [NameID], needsPower: Bool, needsNetwork: Bool = false) -> Phone {
        var phone = Phone()
        let app = phone.scheduling()
        for identifier in identifiers {
            phone.submit(app, identifier, processing: true, needsPower: needsPower, needsNetwork: needsNetwork)
        }
        phone.leave(app)
        phone.wait(.seconds(2))
        return phone
    }

    fileprivate static func runningProcessing(needsPower: Bool = false) -> Phone {
        var phone = processing([tasks.clean], needsPower: needsPower)
        phone.hear(.phone(.chargerConnected))
        phone.hear(.phone(.displayOff))
        phone.forget()
        phone.waitFor(AppID(0), .processingTaskDue)
        return phone
    }

    /// On three days the user opened an app at an hour for a minute; it asked for a refresh a quarter of an hour later.
    fileprivate static func withHabit(hour: Int64) -> (Phone, AppID) {
        var phone = Phone()
        let app = phone.scheduling()
        phone.leave(app)
        for day in 0..<3 {
            let open = Instant(nanoseconds: (Int64(day) * 86_400 + hour * 3_600) * 1_000_000_000)
            phone.wait(open.since(phone.now))
            phone.user(.launch, app)
            phone.wait(.seconds(60))
            phone.submit(app, tasks.refresh, after: .seconds(900))
            if day < 2 { phone.request(app, .backgroundTask(.cancelAll)) }
            phone.leave(app)
        }
        phone.forget()
        return (phone, app)
    }

    /// Time passes until an event of a kind was decided for an app, a week at most; a process that is launched has launched.
    fileprivate mutating func waitFor(_ app: AppID, _ kind: EventKind) {
        let end = now.advanced(by: .seconds(7 * 86_400))
        while let next = router.nextDeadline, next <= end {
            wait(next.since(now))
            if decisions.contains(where: { $0.kind == kind && $0.app == app }) { break }
        }
        report(app, .launched)
    }

    fileprivate mutating func answerFetch(_ app: AppID, _ result: FetchResult = .newData, downloaded: Bool? = true) {
        request(app, .backgroundTask(.fetched(router.areas.backgroundTask.lastNumber, result, downloaded: downloaded)))
    }

    fileprivate mutating func completeAll(_ app: AppID) {
        for run in router.areas.backgroundTask.apps[app].running {
            request(app, .backgroundTask(.complete(run.number, success: true)))
        }
    }

    fileprivate mutating func lever(_ lever: TaskLever, _ app: AppID, _ identifier: NameID) {
        hear(
            .event(
                WakeEvent(kind: .taskLaunchSimulated, local: UInt32(lever.rawValue), subject: identifier, app: app)
            )
        )
    }

    fileprivate mutating func expire(_ app: AppID, _ identifier: NameID) {
        hear(.event(WakeEvent(kind: .taskExpirationSimulated, subject: identifier, app: app)))
    }
}

import Testing
import WakeModel

@testable import WakeRouter

@Suite("Background transfers")
struct TransferRuleTests {
    // MARK: On and on

    @Test("XFER-1: a transfer goes on while its app is suspended, and after its end", arguments: [true, false])
    func goesOn(ends: Bool) {
        var phone = Phone()
        let app = phone.downloader()
        #expect(phone.begun == [1])
        phone.leave(app)
        if ends {
            phone.forget()
            phone.hear(.terminate(app, .memory))
        }
        #expect(phone.has(.carriedOnTransfers))
        #expect(!phone.transferCommands.contains(.suspend(1)) && !phone.transferCommands.contains(.cancel(1)))
    }

    @Test("XFER-1: nothing is said of an app that has nothing under way")
    func nothingUnderWay() {
        var phone = Phone()
        let app = phone.downloader(tasks: 0)
        phone.leave(app)
        #expect(!phone.has(.carriedOnTransfers))
    }

    @Test("XFER-1: an iOS without background sessions makes none", arguments: [Profile.ios6, .ios8])
    func profiles(profile: Profile) {
        var phone = Phone(profile)
        let app = phone.downloader()
        #expect(phone.faults.contains(.unavailable) == (profile == .ios6))
        #expect(phone.begun == (profile == .ios6 ? [] : [1]))
        #expect(phone.router.state(of: app) == .active)
    }

    // MARK: Wakes

    @Test("XFER-2: the last of a session's tasks wakes the suspended app, and tells it all, once each")
    func lastWakes() {
        var phone = Phone()
        let app = phone.suspendedDownloader(tasks: 2)
        let first = phone.end(app, 1)
        #expect(phone.verdicts == [.coalesce])
        #expect(phone.reasons == [.sessionNotDone])
        #expect(phone.last?.wouldHave == .resume)
        #expect(phone.last?.snapshot.transfersLeft == 1)
        phone.forget()
        let second = phone.end(app, 2, .failed)
        #expect(phone.decisions.first?.verdict == .resume)
        #expect(phone.decisions.first?.reason == .sessionDone)
        #expect(phone.receivers == [0, 5, 5, 5])
        #expect(phone.delivered.first == second)
        let told = phone.actions.compactMap { action -> EventID? in
            guard case .raise(let event, _) = action, event.kind == .transferEnded else { return nil }
            return event.parent
        }
        #expect(Set(told) == [first, second])
        #expect(phone.decisions.last?.kind == .transferEventsFinished)
        phone.forget()
        phone.end(app, 2)
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("XFER-2: a terminated app is relaunched, and told when it joins the session again")
    func relaunch() {
        var phone = Phone()
        let app = phone.terminatedDownloader()
        phone.end(app)
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.reasons == [.sessionDone])
        #expect(phone.receivers == [0])
        phone.forget()
        phone.report(app, .launched)
        #expect(phone.receivers.isEmpty)
        phone.join(app)
        #expect(phone.receivers == [5, 5])
        #expect(phone.reasons.first == .sessionJoined)
    }

    @Test("XFER-2: without sessionSendsLaunchEvents nobody is woken, and the result waits", arguments: [true, false])
    func withoutLaunchEvents(isGone: Bool) {
        var phone = Phone()
        let app =
            isGone
            ? phone.terminatedDownloader { $0.sendsLaunchEvents = false }
            : phone.suspendedDownloader { $0.sendsLaunchEvents = false }
        phone.end(app)
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.launchEventsOff])
        #expect(phone.last?.wouldHave == (isGone ? .relaunch : .resume))
        phone.forget()
        phone.user(.launch, app)
        if isGone {
            phone.join(app)
            phone.report(app, .launched)
        }
        #expect(phone.receivers == [5])
    }

    @Test("XFER-2: an app that runs is told at once, and gets no time by it")
    func live() {
        var phone = Phone()
        let app = phone.downloader()
        phone.forget()
        let event = phone.end(app)
        #expect(phone.verdicts == [.foregroundDeliver])
        #expect(phone.delivered == [event])
        #expect(phone.receivers == [5])
    }

    @Test("XFER-2: progress and a wait for the network are for who runs", arguments: [true, false])
    func progress(runs: Bool) {
        var phone = Phone()
        let app = runs ? phone.downloader() : phone.suspendedDownloader()
        phone.forget()
        phone.hear(.event(WakeEvent(kind: .transferProgressed, local: 1, subject: Phone.session, app: app)))
        #expect(phone.verdicts == [runs ? .foregroundDeliver : .drop])
        #expect(phone.reasons == [runs ? .inForeground : .progressWakesNobody])
    }

    @Test("XFER-2: what another wake finds kept is told to the app that it wakes")
    func otherWake() {
        var phone = Phone()
        let app = phone.install([.bluetoothCentral])
        phone.open(app)
        phone.subscribe(app)
        phone.join(app)
        phone.download(app, 1)
        phone.download(app, 2)
        phone.leave(app)
        phone.end(app, 1)
        phone.forget()
        phone.notify()
        #expect(phone.receivers.contains(5))
        #expect(phone.reasons.contains(.sessionJoined))
    }

    // MARK: Sessions

    @Test("XFER-3: a session made again says which of its tasks stand still")
    func joinedSuspended() {
        var phone = Phone()
        let app = phone.downloader(tasks: 2)
        phone.transfer(app, .suspend(2))
        #expect(phone.router.transferTasks(of: app, in: Phone.session).map(\.isSuspended) == [false, true])
    }

    @Test("XFER-3: a session made again has its tasks, and what was told once is not told again")
    func joined() {
        var phone = Phone()
        let app = phone.terminatedDownloader(tasks: 2)
        phone.end(app, 1)
        phone.user(.launch, app)
        phone.join(app, by: 9)
        #expect(phone.has(.joinedSession))
        #expect(phone.receivers == [9])
        phone.take(app)
        #expect(phone.router.transferTasks(of: app, in: Phone.session).map(\.number) == [2])
        phone.report(app, .launched)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.forget()
        phone.user(.launch, app)
        phone.join(app)
        #expect(phone.receivers.isEmpty)
    }

    @Test(
        "XFER-3: a result that a process was given and did not take comes again, whatever ended the process",
        arguments: [ExitCause.memory, .crash, .bench]
    )
    func notTaken(cause: ExitCause) {
        var phone = Phone()
        let app = phone.downloader()
        let event = phone.end(app)
        phone.forget()
        switch cause {
        case .crash: phone.report(app, .exited(-11))
        case .bench: phone.hear(.benchRestarted)
        default: phone.hear(.terminate(app, cause, .critical))
        }
        #expect(phone.router.transferTasks(of: app, in: Phone.session).map(\.number) == [1])
        phone.forget()
        phone.user(.launch, app)
        phone.join(app)
        #expect(phone.receivers == [5])
        let parents = phone.actions.compactMap { if case .raise(let event, _) = $0 { event.parent } else { nil } }
        #expect(parents == [event])
    }

    @Test("XFER-3: what was brought is removed when the app has taken it, and not before", arguments: [true, false])
    func released(wasKept: Bool) {
        var phone = Phone()
        let app = wasKept ? phone.terminatedDownloader() : phone.downloader()
        phone.end(app)
        if wasKept { phone.join(app) }
        #expect(!phone.transferCommands.contains(.release(1)))
        phone.take(app)
        #expect(phone.transferCommands.contains(.release(1)))
        let event = phone.delivered.last ?? .none
        #expect(!phone.router.keepsUntilTaken(event, for: app))
    }

    @Test("XFER-3: results that are not taken are all kept, as many as a session has tasks")
    func manyNotTaken() {
        var phone = Phone()
        let count = UInt32(TransferRequest.tasksLimit)
        let app = phone.downloader(tasks: count)
        for transfer in 1...count { phone.end(app, transfer) }
        phone.hear(.benchRestarted)
        phone.forget()
        phone.user(.launch, app)
        phone.join(app)
        #expect(phone.receivers == Array(repeating: 5, count: Int(count)))
    }

    @Test("XFER-2, SYS-2: results that were on their way when the bench died announce their session once")
    func announcedOnce() {
        var phone = Phone()
        let app = phone.downloader(tasks: 3)
        var given: [(EventID, DecisionID)] = []
        for transfer in 1...UInt32(3) {
            given.append((phone.end(app, transfer), phone.last?.id ?? .none))
        }
        phone.hear(.benchRestarted)
        phone.forget()
        for (transfer, (event, decision)) in given.enumerated() {
            let task = UInt32(transfer + 1)
            var again = WakeEvent.transferEnded(task, of: app, task: task, Phone.session, .finished)
            again.id = event
            phone.hear(.redeliver(app, again, supersedes: decision))
        }
        #expect(phone.verdicts == [.relaunch, .coalesce, .coalesce])
        #expect(phone.reasons == [.sessionDone, .sessionAnnounced, .sessionAnnounced])
        #expect(phone.receivers == [0])
        phone.forget()
        phone.join(app)
        #expect(phone.receivers == [5, 5, 5, 5])
        #expect(phone.decisions.map(\.kind).last == .transferEventsFinished)
    }

    @Test("XFER-3: two sessions of one process have two identifiers")
    func twice() {
        var phone = Phone()
        let app = phone.downloader()
        phone.join(app, by: 6)
        #expect(phone.faults == [.duplicateSession])
        phone.join(app, NameID(71), by: 6)
        #expect(phone.faults == [.duplicateSession])
    }

    @Test("XFER-3: a session that is invalidated takes no tasks, and may be made again")
    func invalidated() {
        var phone = Phone()
        let app = phone.downloader()
        phone.transfer(app, .invalidate(cancels: true))
        #expect(phone.failures == [.cancelled])
        phone.download(app, 2)
        #expect(phone.faults.contains(.unknownSession))
        phone.forget()
        phone.join(app, by: 6)
        phone.download(app, 1, by: 6)
        #expect(phone.faults.isEmpty)
        #expect(phone.begun == [2])
    }

    @Test("XFER-3, SYS-2: a result that was on its way when the bench died is told to the next process")
    func benchDied() throws {
        var phone = Phone()
        let app = phone.downloader()
        let event = phone.end(app)
        let decision = try #require(phone.last?.id)
        phone.forget()
        phone.hear(.benchRestarted)
        var again = WakeEvent.transferEnded(1, of: app, task: 1, Phone.session, .finished)
        again.id = event
        phone.hear(.redeliver(app, again, supersedes: decision))
        #expect(phone.verdicts == [.relaunch])
        phone.join(app)
        #expect(phone.receivers == [0, 5, 5])
    }

    // MARK: Challenges

    @Test(
        "XFER-4: a challenge relaunches the app, which hears it when it has joined, and its answer goes to the server"
    )
    func challenge() {
        var phone = Phone()
        let app = phone.terminatedDownloader(tasks: 2)
        phone.challenge(app)
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.reasons == [.challengeWakes])
        phone.join(app)
        #expect(phone.receivers == [0, 5, 5])
        phone.forget()
        let answer = ChallengeAnswer.credential(user: "anna", password: "secret")
        phone.transfer(app, .answer(1, answer))
        #expect(phone.transferCommands == [.answer(1, challenge: 1, answer)])
        phone.transfer(app, .answer(1, answer))
        #expect(phone.faults == [.unknownRequest])
    }

    @Test("XFER-4: a challenge to an app that runs is its own to answer, and wakes nobody")
    func challengeLive() {
        var phone = Phone()
        let app = phone.downloader()
        phone.forget()
        phone.challenge(app)
        #expect(phone.verdicts == [.foregroundDeliver])
        #expect(phone.receivers == [5])
    }

    // MARK: Resume data

    @Test("XFER-9: a download that is cancelled with its bytes kept ends when the source has failed it")
    func cancelKeepingBytes() {
        var phone = Phone()
        let app = phone.downloader()
        phone.forget()
        phone.transfer(app, .cancelKeepingBytes(1))
        #expect(phone.transferCommands == [.cancelKeepingBytes(1)])
        #expect(phone.failures.isEmpty)
        phone.end(app, 1, .failed)
        #expect(phone.verdicts.count == 1)
    }

    @Test("XFER-9: a download that has not begun has nothing to keep, and is cancelled at once")
    func cancelBeforeItsBegin() {
        var phone = Phone()
        let app = phone.downloader(tasks: 0)
        phone.transfer(app, .create(1, TransferOrder(.download, url: Phone.url)))
        phone.forget()
        phone.transfer(app, .cancelKeepingBytes(1))
        #expect(phone.transferCommands.isEmpty)
        #expect(phone.failures == [.cancelled])
    }

    // MARK: Force quit

    @Test("XFER-5: a force quit cancels what is under way; the next launch is told so, and no other comes of it")
    func forceQuit() {
        var phone = Phone()
        let app = phone.suspendedDownloader(tasks: 2)
        phone.user(.forceQuit, app)
        #expect(phone.has(.cancelledTransfers))
        #expect(phone.transferCommands == [.cancel(1), .cancel(2)])
        phone.end(app)
        #expect(phone.reasons == [.noRegistration])
        phone.forget()
        phone.user(.launch, app)
        phone.join(app)
        #expect(phone.failures == [.forceQuit, .forceQuit])
        #expect(phone.receivers == [5, 5])
    }

    @Test("XFER-5: what another end leaves under way is not cancelled")
    func otherEnd() {
        var phone = Phone()
        let app = phone.terminatedDownloader(cause: .cpu)
        #expect(!phone.has(.cancelledTransfers))
        phone.end(app)
        #expect(phone.verdicts == [.relaunch])
    }

    // MARK: Moments

    @Test("XFER-6: a discretionary transfer waits for charger, Wi-Fi and rest, and stops when one of them goes")
    func discretionary() {
        var phone = Phone()
        _ = phone.downloader { $0.isDiscretionary = true }
        #expect(phone.begun.isEmpty)
        #expect(phone.has(.heldForGoodMoment))
        phone.hear(.phone(.chargerConnected))
        #expect(phone.begun.isEmpty)
        phone.hear(.phone(.displayOff))
        #expect(phone.begun == [1])
        phone.hear(.phone(.callBegan))
        #expect(phone.transferCommands.last == .suspend(1))
        phone.hear(.phone(.callEnded))
        phone.hear(.phone(.wifiLeft))
        #expect(phone.transferCommands.last == .suspend(1))
        #expect(phone.resumptions == [false, true])
    }

    @Test("XFER-6: on Wi-Fi and at rest a discretionary transfer still waits for the charger")
    func charger() {
        var phone = Phone()
        _ = phone.downloader { $0.isDiscretionary = true }
        phone.hear(.phone(.displayOff))
        #expect(phone.begun.isEmpty)
        phone.hear(.phone(.chargerConnected))
        #expect(phone.begun == [1])
    }

    @Test("XFER-6: what is created in the background waits like a discretionary transfer, and no other does")
    func createdInBackground() {
        var phone = Phone()
        let app = phone.suspendedDownloader()
        phone.end(app)
        phone.forget()
        phone.download(app, 2)
        #expect(phone.has(.treatedAsDiscretionary))
        #expect(phone.begun.isEmpty)
        phone.rest()
        phone.wait(.seconds(60))
        #expect(phone.begun == [2])
    }

    @Test("PWR-2: Low Power Mode pauses a discretionary transfer, and no other", arguments: [true, false])
    func lowPower(isDiscretionary: Bool) {
        var phone = Phone()
        _ = phone.downloader { $0.isDiscretionary = isDiscretionary }
        phone.rest()
        phone.forget()
        phone.hear(.phone(.lowPowerModeOn))
        #expect(phone.has(.pausedForLowPower) == isDiscretionary)
        #expect(phone.transferCommands == (isDiscretionary ? [.suspend(1)] : []))
        phone.hear(.phone(.lowPowerModeOff))
        #expect(phone.begun == (isDiscretionary ? [1] : []))
    }

    @Test(
        "XFER-6: a transfer that is to spare mobile data waits for Wi-Fi, and its app may know",
        arguments: [true, false]
    )
    func cellular(allows: Bool) {
        var phone = Phone()
        phone.hear(.phone(.wifiLeft))
        _ = phone.downloader { $0.allowsCellular = allows }
        #expect(phone.begun == (allows ? [1] : []))
        #expect(phone.decisions.map(\.kind).contains(.transferWaiting) == !allows)
        phone.hear(.phone(.wifiJoined))
        #expect(phone.begun == [1])
    }

    // MARK: Time

    @Test("XFER-7: earliestBeginDate is a lower bound from iOS 11 on", arguments: [Profile.ios8, .ios12])
    func beginDate(profile: Profile) {
        var phone = Phone(profile)
        let app = phone.downloader(tasks: 0)
        var wishes = TransferWishes()
        wishes.earliestBegin = phone.now.advanced(by: .seconds(100))
        wishes.bytesToReceive = 5_000
        phone.download(app, 1, wishes)
        #expect(phone.router.transferWishes(of: app, 1)?.bytesToReceive == 5_000)
        #expect(phone.begun == (profile == .ios8 ? [1] : []))
        #expect(phone.has(.heldForBeginDate) == (profile == .ios12))
        phone.wait(.seconds(99))
        #expect(phone.begun == (profile == .ios8 ? [1] : []))
        phone.wait(.seconds(1))
        #expect(phone.begun == [1])
    }

    @Test("XFER-7: a transfer that takes longer than timeoutIntervalForResource ends, and that wakes its app")
    func resourceTimeout() {
        var phone = Phone()
        let app = phone.suspendedDownloader { $0.resourceTimeout = .seconds(600) }
        phone.wait(.seconds(599))
        #expect(phone.decisions.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.has(.timedOutTransfer))
        #expect(phone.transferCommands == [.cancel(1)])
        #expect(phone.failures.first == .timedOut)
        #expect(phone.verdicts.first == .resume)
        #expect(phone.router.state(of: app) == .background)
    }

    @Test("XFER-7: without a figure of its own a transfer has seven days")
    func sevenDays() {
        var phone = Phone()
        _ = phone.suspendedDownloader()
        phone.wait(.seconds(7 * 86_400 - 60))
        #expect(!phone.has(.timedOutTransfer))
        phone.wait(.seconds(60))
        #expect(phone.has(.timedOutTransfer))
    }

    @Test(
        "XFER-7, XFER-9: an interruption is tried again, from where it stopped where the server allows it",
        arguments: [true, false]
    )
    func retried(isResumable: Bool) {
        var phone = Phone()
        let app = phone.suspendedDownloader()
        phone.end(app, 1, isResumable ? .interruptedResumable : .interrupted)
        #expect(phone.verdicts == [.coalesce])
        #expect(phone.reasons == [.transferRetried])
        #expect(phone.has(isResumable ? .resumedTransfer : .retriedTransfer))
        #expect(!phone.has(isResumable ? .retriedTransfer : .resumedTransfer))
        phone.wait(.seconds(5))
        #expect(phone.resumptions == [isResumable])
        phone.end(app)
        #expect(phone.verdicts.dropFirst().first == .resume)
    }

    // MARK: The resume rate limiter

    /// An app whose transfers follow each other in the background, without waiting for a good moment.
    private func chained() -> (Phone, AppID) {
        var profile = Profile.ios17
        profile.areas.transfer.backgroundIsDiscretionary = false
        var phone = Phone(profile)
        let app = phone.suspendedDownloader()
        return (phone, app)
    }

    /// A transfer ends and wakes the app, which begins the next and is suspended again; how long the next waited.
    private func follow(_ phone: inout Phone, _ app: AppID, _ transfer: TransferNumber) -> Int64 {
        phone.end(app, transfer)
        phone.forget()
        let since = phone.now
        phone.download(app, transfer + 1)
        phone.transfer(app, .handledEvents(Phone.session))
        phone.report(app, .suspended)
        for _ in 0..<2_000 where phone.begun.isEmpty { phone.wait(.seconds(1)) }
        return phone.now.since(since).nanoseconds / 1_000_000_000
    }

    @Test("XFER-8: each resume doubles the wait of what is created in the background, from none")
    func doubles() {
        var (phone, app) = chained()
        #expect((1...4).map { follow(&phone, app, $0) } == [60, 120, 240, 480])
        #expect(phone.has(.heldForResumes))
    }

    @Test("XFER-8: the foreground resets the wait, and what waits begins")
    func foregroundResets() {
        var (phone, app) = chained()
        _ = follow(&phone, app, 1)
        phone.end(app, 2)
        phone.download(app, 3)
        phone.transfer(app, .handledEvents(Phone.session))
        phone.report(app, .suspended)
        #expect(!phone.begun.contains(3))
        phone.user(.launch, app)
        #expect(phone.begun.contains(3))
        phone.leave(app)
        #expect(follow(&phone, app, 3) == 60)
    }

    @Test("XFER-8: a wait that passes without a resume resets it")
    func waitPasses() {
        var (phone, app) = chained()
        _ = follow(&phone, app, 1)
        phone.wait(.seconds(60))
        #expect(follow(&phone, app, 2) == 60)
    }

    @Test("XFER-8: it is not raised where the app ran at the end")
    func ranAtTheEnd() {
        var (phone, app) = chained()
        phone.user(.launch, app)
        phone.user(.home, app)
        phone.request(app, .beginTask(token: 1))
        phone.report(app, .returned(.didEnterBackground))
        phone.end(app)
        #expect(phone.verdicts.last == .backgroundDeliver)
        #expect(!phone.has(.lengthenedResumeDelay))
        phone.download(app, 2)
        #expect(phone.begun == [2])
    }

    @Test("XFER-8: an app that the user launched is told of its session, and its wait is not raised")
    func launchedByHand() {
        var phone = Phone()
        let app = phone.terminatedDownloader()
        phone.user(.launch, app)
        phone.report(app, .launched)
        phone.end(app)
        #expect(phone.verdicts == [.foregroundDeliver])
        #expect(phone.reasons == [.sessionDone])
        #expect(phone.receivers == [0])
        #expect(!phone.has(.lengthenedResumeDelay))
    }

    // MARK: What is taken

    @Test(
        "XFER-9: HTTP and HTTPS, and nothing else",
        arguments: [
            ("http://a", true), ("HTTPS://a", true), ("ftp://a", false), ("httpx://a", false), ("https", true),
            ("file:///a", false), ("", false),
        ]
    )
    func schemes(url: String, isTaken: Bool) {
        var phone = Phone()
        let app = phone.downloader(tasks: 0)
        phone.download(app, 1, url: url)
        #expect(phone.begun == (isTaken ? [1] : []))
        #expect(phone.has(.refusedScheme) == !isTaken)
        #expect(phone.failures == (isTaken ? [] : [.unsupportedURL]))
    }

    @Test("XFER-9: downloads, and uploads from a file", arguments: TransferKind.allCases)
    func kinds(kind: TransferKind) {
        var phone = Phone()
        let app = phone.downloader(tasks: 0)
        phone.transfer(app, .create(1, TransferOrder(kind, url: Phone.url)))
        phone.transfer(app, .resume(1))
        let isTaken = kind == .download || kind == .upload
        #expect(phone.begun == (isTaken ? [1] : []))
        #expect(phone.has(.refusedTransfer) == !isTaken)
        #expect(phone.faults == (isTaken ? [] : [.notFromFile, .unknownTransfer]))
    }

    // MARK: The completion handler

    @Test(
        "XFER-10: a completion handler that is not called in time ends the app, from iOS 13 on",
        arguments: [Profile.ios12, .ios13]
    )
    func handler(profile: Profile) {
        var phone = Phone(profile)
        let app = phone.suspendedDownloader()
        phone.end(app)
        phone.wait(.seconds(29))
        #expect(phone.router.state(of: app) == .background)
        phone.wait(.seconds(1))
        #expect(phone.has(.endedForTransferHandler) == (profile == .ios13))
        #expect(phone.exits.map(\.code) == (profile == .ios13 ? [0x2182_bad3] : []))
        #expect(phone.actions.contains(.freeze(app)) == (profile == .ios12))
    }

    @Test("XFER-10: with the completion handler the wake is over")
    func handled() {
        var phone = Phone()
        let app = phone.suspendedDownloader()
        phone.end(app)
        phone.transfer(app, .handledEvents(Phone.session))
        #expect(phone.actions.contains(.freeze(app)))
        phone.report(app, .suspended)
        phone.wait(.seconds(60))
        #expect(phone.exits.isEmpty)
        phone.transfer(app, .handledEvents(Phone.session))
        #expect(phone.faults == [.notRunning])
    }

    // MARK: Newsstand

    @Test("NEWS-2: each issue wakes its app, with its file or its error", arguments: [TransferEnd.finished, .failed])
    func newsstand(end: TransferEnd) {
        var phone = Phone(.ios12)
        let app = phone.terminatedDownloader([.newsstandContent], tasks: 2) { $0.kind = .newsstand }
        phone.end(app, 1, end)
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.reasons == [.newsstandDone])
        phone.join(app) { $0.kind = .newsstand }
        #expect(phone.receivers == [0, 5])
        phone.report(app, .launched)
        phone.wait(.seconds(30))
        #expect(phone.actions.contains(.freeze(app)))
        #expect(!phone.has(.lengthenedResumeDelay))
    }

    @Test("NEWS-2: without the mode, and from iOS 13 on, there are no such downloads")
    func newsstandMissing() {
        var phone = Phone(.ios12)
        _ = phone.downloader { $0.kind = .newsstand }
        #expect(phone.faults.first == .newsstandModeMissing)
        phone = Phone(.ios13)
        _ = phone.downloader([.newsstandContent]) { $0.kind = .newsstand }
        #expect(phone.faults.first == .unavailable)
    }

    @Test("NEWS-2: an update that takes the mode away takes the wake with it")
    func newsstandModeGone() {
        var phone = Phone(.ios12)
        let app = phone.terminatedDownloader([.newsstandContent]) { $0.kind = .newsstand }
        phone.hear(.install(app, AppManifest(bundle: NameID(100), modes: [])))
        phone.end(app)
        #expect(phone.reasons == [.newsstandModeMissing])
        #expect(phone.last?.wouldHave == .relaunch)
    }

    // MARK: The phone

    @Test("SYS-2: transfers stop with the phone, go on with it, and wake an app after the first unlock")
    func restart() {
        var phone = Phone()
        let app = phone.suspendedDownloader()
        phone.hear(.phone(.reboot))
        #expect(phone.transferCommands == [.suspend(1)] + phone.transferCommands.dropFirst())
        #expect(phone.resumptions == [true])
        phone.end(app)
        #expect(phone.reasons == [.beforeFirstUnlock])
        phone.hear(.phone(.unlock))
        #expect(phone.reasons == [.beforeFirstUnlock, .sessionDone])
        phone.join(app)
        #expect(phone.receivers == [0, 5, 5])
    }

    @Test("SYS-2: what the source had is begun again after the bench died")
    func benchRestarted() {
        var phone = Phone()
        _ = phone.suspendedDownloader()
        phone.hear(.benchRestarted)
        #expect(phone.begun == [1])
        #expect(phone.resumptions == [true])
    }

    @Test("SYS-2: an app that is gone from the phone takes its transfers with it")
    func uninstalled() {
        var phone = Phone()
        let app = phone.suspendedDownloader()
        phone.hear(.uninstall(app))
        #expect(phone.transferCommands == [.cancel(1)])
    }

    @Test("XFER-3: what was kept for an app that is gone from the phone is nobody's any more")
    func uninstalledWithResult() {
        var phone = Phone()
        let app = phone.suspendedDownloader(tasks: 2)
        phone.end(app, 1)
        phone.hear(.uninstall(app))
        #expect(phone.transferCommands == [.cancel(1), .cancel(2)])
    }
}

import Testing
import WakeModel

@testable import WakeRouter

/// Verbs for calls.
extension Phone {
    static let server = NameID(50)

    var voipCommands: [VoIPCommand] {
        actions.compactMap { if case .command(.voip(let command)) = $0 { command } else { nil } }
    }

    @discardableResult
    mutating func call(
        _ app: AppID,
        _ kind: EventKind = .voipData,
        socket: SocketNumber = 1,
        failed: Bool = false
    ) -> EventID {
        hear(.event(WakeEvent(kind: kind, local: socket, subject: Phone.server, failed: failed, app: app)))
    }

    mutating func voip(_ app: AppID, _ request: VoIPRequest) { hear(.request(app, .voip(request))) }

    /// An app that has marked socket 1 and is suspended; nothing before counts.
    mutating func suspendedCaller(
        _ modes: [BackgroundMode] = [.voip],
        sdk: SDKVersion = SDKVersion(9, 3)
    ) -> AppID {
        let app = install(modes, sdk: sdk)
        open(app)
        voip(app, .watch(1, peer: Phone.server))
        leave(app)
        forget()
        return app
    }

    /// The app's wake is over, and it is suspended again.
    mutating func sleepAgain(_ app: AppID) {
        wait(.seconds(10))
        report(app, .suspended)
    }
}

@Suite("VoIP")
struct VoIPRuleTests {
    @Test("VOIP-1: bytes on a marked socket wake the suspended app for its window")
    func dataWakes() {
        var phone = Phone()
        let app = phone.suspendedCaller()
        let event = phone.call(app)
        #expect(phone.verdicts == [.resume])
        #expect(phone.last?.snapshot.via == .voipSocket)
        #expect(phone.delivered == [event])
        #expect(phone.voipCommands == [.rest(app)])
        phone.wait(.seconds(10))
        #expect(phone.actions.contains(.freeze(app)))
        phone.report(app, .suspended)
        #expect(phone.voipCommands == [.rest(app), .watch(app)])
    }

    @Test("VOIP-1: sockets are watched while the app is suspended and let go with it")
    func watched() {
        var phone = Phone()
        let app = phone.install([.voip])
        phone.open(app)
        phone.voip(app, .watch(1, peer: Phone.server))
        phone.voip(app, .watch(2, peer: Phone.server))
        phone.voip(app, .unwatch(2))
        phone.leave(app)
        phone.hear(.terminate(app, .system))
        #expect(
            phone.voipCommands == [
                .open(app, 1, peer: Phone.server), .open(app, 2, peer: Phone.server), .close(app, 2), .watch(app),
                .closeAll(app),
            ]
        )
        phone.forget()
        phone.call(app)
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("VOIP-1: a number of a socket is used once, and an app has no more than the limit")
    func numbers() {
        var phone = Phone()
        let app = phone.install([.voip])
        phone.open(app)
        phone.voip(app, .watch(0, peer: Phone.server))
        phone.voip(app, .unwatch(4))
        for number in 1...VoIPRequest.socketsLimit {
            phone.voip(app, .watch(SocketNumber(number), peer: Phone.server))
        }
        phone.voip(app, .watch(1, peer: Phone.server))
        phone.voip(app, .watch(5_000, peer: Phone.server))
        #expect(phone.faults == [.unknownSocket, .unknownSocket, .duplicateSocket, .tooMany])
        #expect(phone.voipCommands.last == .close(app, 5_000))
    }

    @Test("VOIP-1: with the switch for legacy sockets off, nothing wakes the app")
    func switchedOff() {
        var profile = Profile.ios17
        profile.areas.voip.legacy = .off
        var phone = Phone(profile)
        let app = phone.suspendedCaller()
        phone.call(app)
        #expect(phone.verdicts == [.deny])
        #expect(phone.last?.reason == .legacySocketsOff)
        #expect(phone.last?.rule == .voip1)
    }

    @Test(
        "VOIP-1: from ios10 on only apps built with an older SDK have their sockets looked after",
        arguments: [
            (.ios8, SDKVersion(17), .bySDK, false), (.ios8, .unknown, .on, true),
            (.ios12, SDKVersion(9, 3), .bySDK, true),
            (.ios12, SDKVersion(10), .bySDK, false), (.ios26, SDKVersion(8), .bySDK, true),
            (.ios26, .unknown, .bySDK, false), (.ios26, .unknown, .on, true), (.ios26, SDKVersion(9), .off, false),
        ] as [(Profile, SDKVersion, LegacySockets, Bool)]
    )
    func bySDK(profile: Profile, sdk: SDKVersion, legacy: LegacySockets, wakes: Bool) {
        var profile = profile
        profile.areas.voip.legacy = legacy
        var phone = Phone(profile)
        let app = phone.suspendedCaller(sdk: sdk)
        #expect(phone.router.grantsKeepAlive(of: app, period: .seconds(600)) == wakes)
        phone.call(app)
        #expect(phone.verdicts == [wakes ? .resume : .deny])
        #expect(phone.last?.snapshot.sdk == sdk)
        if !wakes { #expect(phone.last?.reason == .legacySocketsOff) }
        // Without sockets that are looked after there is no launch after a failure or after boot either (VOIP-4, VOIP-5).
        phone.forget()
        phone.report(app, .exited(1))
        #expect(phone.verdicts == (wakes ? [.relaunch] : []))
        phone.forget()
        phone.hear(.phone(.reboot))
        phone.hear(.phone(.unlock))
        #expect(phone.verdicts == (wakes ? [.relaunch] : []))
    }

    @Test("VOIP-1: phones to ios9 look after the sockets of every app, later ones by its SDK")
    func profiles() {
        #expect(Profile.all.map(\.areas.voip.legacy) == [.on, .on, .bySDK, .bySDK, .bySDK, .bySDK])
    }

    @Test("VOIP-2: without the mode the socket is as any other, and the record says so")
    func withoutMode() {
        var phone = Phone()
        let app = phone.suspendedCaller([])
        phone.call(app)
        #expect(phone.verdicts == [.deny])
        #expect(phone.last?.reason == .modeMissing)
        #expect(phone.last?.rule == .voip2)
        #expect(phone.last?.wouldHave == .resume)
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("VOIP-3: a keep-alive period under the minimum is refused, and so is one without the mode")
    func refusedKeepAlive() {
        var phone = Phone()
        let app = phone.install([.voip])
        let other = phone.install([])
        phone.open(app)
        phone.voip(app, .setKeepAlive(period: .seconds(599)))
        phone.leave(app)
        phone.open(other)
        phone.voip(other, .setKeepAlive(period: .seconds(600)))
        #expect(phone.faults == [.keepAliveTooShort, .voipModeMissing])
        #expect(!phone.router.grantsKeepAlive(of: app, period: .seconds(599)))
        #expect(phone.router.grantsKeepAlive(of: app, period: .seconds(600)))
        phone.leave(other)
        phone.forget()
        phone.wait(.seconds(3_600))
        #expect(phone.decisions.isEmpty)
    }

    @Test("VOIP-3: the keep-alive handler runs once a period for 10 s, and the app is suspended again")
    func keepAlive() {
        var phone = Phone()
        let app = phone.install([.voip])
        phone.open(app)
        phone.voip(app, .setKeepAlive(period: .seconds(600)))
        phone.leave(app)
        phone.forget()
        for round in 1...3 {
            phone.wait(.seconds(600 - (round == 1 ? 0 : 10)))
            #expect(phone.decisions(about: .voipKeepAlive).count == round)
            #expect(phone.last?.at == Instant.zero.advanced(by: .seconds(Int64(round) * 600)))
            #expect(phone.last?.verdict == .resume)
            #expect(phone.router.state(of: app) == .background)
            phone.sleepAgain(app)
            #expect(phone.router.state(of: app) == .suspended)
        }
        #expect(phone.exits.isEmpty)
    }

    @Test("VOIP-3: a handler that is cleared is not called, nor is one of an app that is seen or was launched anew")
    func keepAliveEnds() {
        var phone = Phone()
        let cleared = phone.install([.voip])
        phone.open(cleared)
        phone.voip(cleared, .setKeepAlive(period: .seconds(600)))
        phone.voip(cleared, .clearKeepAlive)
        phone.leave(cleared)
        let seen = phone.install([.voip])
        phone.open(seen)
        phone.voip(seen, .setKeepAlive(period: .seconds(600)))
        phone.wait(.seconds(3_000))
        #expect(phone.decisions(about: .voipKeepAlive).isEmpty)
        phone.hear(.terminate(seen, .crash))
        phone.report(seen, .launched)
        phone.wait(.seconds(3_000))
        #expect(phone.decisions(about: .voipKeepAlive).isEmpty)
    }

    @Test("VOIP-4: an app with the mode is launched into the background at the first unlock after boot")
    func launchedAfterBoot() {
        var phone = Phone()
        let app = phone.install([.voip])
        let other = phone.install([.location])
        phone.hear(.phone(.reboot))
        #expect(phone.router.state(of: app) == .notRunning)
        phone.hear(.phone(.unlock))
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.last?.reason == .launchedAfterBoot)
        #expect(phone.router.state(of: app) == .background)
        #expect(phone.router.state(of: other) == .notRunning)
        phone.report(app, .launched)
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("VOIP-4: with the switch the launch is right after boot, and not once more at the unlock")
    func launchedBeforeUnlock() {
        var profile = Profile.ios17
        profile.areas.voip.legacy = .on
        profile.areas.voip.beforeFirstUnlock = true
        var phone = Phone(profile)
        let app = phone.install([.voip])
        phone.hear(.phone(.reboot))
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.last?.checks[.unlockedSinceBoot] == .notApplicable)
        #expect(phone.router.state(of: app) == .background)
        phone.hear(.phone(.unlock))
        #expect(phone.verdicts == [.relaunch])
    }

    @Test("VOIP-4: without a passcode, and where no unlock is waited for, the launch is right after boot")
    func launchedAtBoot() {
        var open = Phone(passcode: false)
        let app = open.install([.voip])
        open.hear(.phone(.reboot))
        #expect(open.router.state(of: app) == .background)
        var old = Phone(.ios6)
        let other = old.install([.voip])
        old.hear(.phone(.reboot))
        #expect(old.router.state(of: other) == .background)
    }

    @Test("VOIP-5: an exit that is not zero is followed by a launch, and an exit of zero is not")
    func launchedAfterExit() {
        var phone = Phone()
        let app = phone.suspendedCaller()
        phone.call(app)
        phone.forget()
        phone.report(app, .exited(3))
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.last?.reason == .launchedAfterExit)
        phone.report(app, .launched)
        phone.forget()
        phone.report(app, .exited(0))
        #expect(phone.decisions.isEmpty)
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("VOIP-5: a kill for memory is followed by a launch; without the mode, or after an update, none is")
    func launchedAfterKill() {
        var phone = Phone()
        let app = phone.suspendedCaller()
        phone.hear(.terminate(app, .memory))
        #expect(phone.router.state(of: app) == .background)
        let updated = phone.suspendedCaller()
        phone.hear(.terminate(updated, .update))
        #expect(phone.router.state(of: updated) == .notRunning)
        let other = phone.suspendedCaller([.audio])
        phone.hear(.terminate(other, .memory))
        #expect(phone.router.state(of: other) == .notRunning)
    }

    @Test("LAUNCH-2: after a force quit nothing brings the app back but the user")
    func forceQuit() {
        var phone = Phone()
        let app = phone.suspendedCaller()
        phone.user(.forceQuit, app)
        phone.wait(.seconds(600))
        #expect(phone.decisions.isEmpty)
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("VOIP-5, VOIP-6: an app that crashes at once is launched as often as the limit allows, and no more")
    func crashLoop() {
        var phone = Phone()
        let app = phone.install([.voip])
        phone.open(app)
        phone.report(app, .exited(-11))
        for _ in 0..<40 { phone.report(app, .exited(-11)) }
        #expect(phone.exits.count == 16)
        #expect(phone.verdicts == Array(repeating: .relaunch, count: 15) + [.deny])
        #expect(phone.last?.reason == .voipWakeLimit)
    }

    @Test("VOIP-6: the 16th wake within 300 s kills the app with 0xbad22222")
    func wakeLimit() {
        var phone = Phone()
        let app = phone.suspendedCaller()
        for _ in 0..<15 {
            phone.call(app)
            phone.sleepAgain(app)
        }
        #expect(phone.verdicts == Array(repeating: .resume, count: 15))
        phone.forget()
        let last = phone.call(app)
        #expect(phone.decisions.first?.reason == .voipWakeLimit)
        #expect(phone.decisions.first?.rule == .voip6)
        #expect(phone.decisions.first?.snapshot.voipWakes == 15)
        #expect(phone.exits.map(\.code) == [0xbad2_2222])
        #expect(phone.exits.map(\.cause) == [.policy])
        #expect(phone.exits.map(\.causedBy) == [last])
        // Not even for having failed is it launched again at once.
        #expect(phone.reasons == [.voipWakeLimit, .voipWakeLimit])
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("VOIP-6: wakes further apart than the window leave the app alone, and keep-alive handlers do not count")
    func slowWakes() {
        var phone = Phone()
        let app = phone.install([.voip])
        phone.open(app)
        phone.voip(app, .watch(1, peer: Phone.server))
        phone.voip(app, .setKeepAlive(period: .seconds(600)))
        phone.leave(app)
        for _ in 0..<60 {
            phone.wait(.seconds(11))
            phone.call(app)
            if phone.router.state(of: app) == .background { phone.sleepAgain(app) }
        }
        #expect(phone.exits.isEmpty)
        #expect(!phone.verdicts.contains(.deny))
    }

    @Test("VOIP-6: with the limit lifted the record names what lifts it")
    func limitLifted() {
        var profile = Profile.ios17
        profile.areas.voip.wakeLimit = nil
        var phone = Phone(profile)
        let app = phone.suspendedCaller()
        for _ in 0..<40 {
            phone.call(app)
            phone.request(app, .done)
            phone.report(app, .suspended)
        }
        #expect(phone.verdicts == Array(repeating: .resume, count: 40))
        #expect(phone.last?.checks[.voipWakesLeft] == .notApplicable)
        #expect(phone.last?.snapshot.voipWakeLimitLifted == true)
    }

    @Test("VOIP-7: the end and the failure of a connection wake the app too", arguments: [true, false])
    func closedWakes(failed: Bool) {
        var phone = Phone()
        let app = phone.suspendedCaller()
        let event = phone.call(app, .voipClosed, failed: failed)
        #expect(phone.verdicts == [.resume])
        #expect(phone.delivered == [event])
    }

    @Test("VOIP-7: a socket whose other end is gone is lost, and nothing comes on it", arguments: [true, false])
    func closedIsLost(hasMode: Bool) {
        var phone = Phone()
        let app = phone.suspendedCaller(hasMode ? [.voip] : [])
        #expect(phone.router.registrations(of: app).map(\.via) == [.voipSocket])
        phone.call(app, .voipClosed)
        #expect(phone.verdicts == [hasMode ? .resume : .deny])
        #expect(phone.losses == [Loss(app, .voipSocket, of: Phone.server, .lostToPeer)])
        #expect(phone.router.registrations(of: app).isEmpty)
        if hasMode { phone.sleepAgain(app) }
        phone.forget()
        phone.call(app)
        phone.call(app, .voipClosed)
        #expect(phone.reasons == [.noRegistration, .noRegistration])
        // Its number is the app's until it lets go of it, and that it is lost was said.
        phone.user(.launch, app)
        phone.voip(app, .watch(1, peer: Phone.server))
        #expect(phone.faults == [.duplicateSocket])
        phone.voip(app, .unwatch(1))
        phone.voip(app, .watch(1, peer: Phone.server))
        #expect(phone.router.registrations(of: app).map(\.via) == [.voipSocket])
        #expect(phone.losses == [])
    }

    @Test("VOIP-7: of two sockets the one whose other end is gone is lost, and the other wakes the app")
    func oneOfTwo() {
        var phone = Phone()
        let app = phone.install([.voip])
        phone.open(app)
        phone.voip(app, .watch(1, peer: Phone.server))
        phone.voip(app, .watch(2, peer: Phone.belt))
        phone.leave(app)
        phone.forget()
        phone.call(app, .voipClosed, socket: 2)
        #expect(phone.losses == [Loss(app, .voipSocket, of: Phone.belt, .lostToPeer)])
        phone.sleepAgain(app)
        phone.forget()
        phone.call(app)
        #expect(phone.verdicts == [.resume])
    }

    @Test("VOIP-7: what comes while the process is being frozen is decided once it is, and not lost")
    func whileFreezing() {
        var phone = Phone()
        let app = phone.suspendedCaller()
        phone.call(app)
        phone.wait(.seconds(10))
        phone.forget()
        let event = phone.call(app, .voipClosed)
        #expect(phone.decisions.isEmpty)
        phone.report(app, .suspended)
        #expect(phone.verdicts == [.resume])
        #expect(phone.delivered == [event])
    }

    @Test("VOIP-1: what comes while a killed process ends goes with its sockets")
    func whileEnding() {
        var phone = Phone()
        let app = phone.suspendedCaller([.voip, .audio])
        phone.call(app)
        phone.user(.forceQuit, app)
        phone.forget()
        phone.call(app)
        phone.report(app, .returned(.willTerminate))
        #expect(phone.reasons == [.registrationEnded])
    }

    @Test("VOIP-7: the watch is told when the phone has no network left, and when it has one again")
    func network() {
        var profile = Profile.ios17
        for timeout in [.seconds(120), nil] as [Instant.Span?] {
            profile.areas.voip.connectionTimeout = timeout
            var phone = Phone(profile)
            _ = phone.suspendedCaller()
            let steps: [(PhoneChange, Bool?)] = [
                (.wifiLeft, nil), (.cellularOff, false), (.airplaneModeOn, nil), (.wifiJoined, nil),
                (.airplaneModeOff, true), (.airplaneModeOnKeepingBluetooth, false), (.lowPowerModeOn, nil),
                (.airplaneModeOff, true),
            ]
            for (change, isThere) in steps {
                phone.forget()
                phone.hear(.phone(change))
                let told = isThere.map { [VoIPCommand.network(isThere: $0, timeout: timeout)] } ?? []
                #expect(phone.voipCommands == told, "\(change)")
            }
        }
        #expect(Profile.ios17.areas.voip.connectionTimeout == .seconds(30))
    }

    @Test("RESP-3: a suspended app keeps its connections for ever, or as long as the setting says unless it has calls")
    func connectionsEnd() {
        var profile = Profile.ios17
        profile.areas.voip.connectionsLast = .seconds(60)
        for (modes, profile, ends) in [
            ([], profile, true), ([.voip], profile, false), ([], Profile.ios17, false),
        ] as [([BackgroundMode], Profile, Bool)] {
            var phone = Phone(profile)
            let app = phone.suspendedCaller(modes)
            phone.wait(.seconds(59))
            #expect(phone.voipCommands.isEmpty)
            phone.wait(.seconds(3_600))
            #expect(phone.voipCommands == (ends ? [.tearDown(app)] : []))
            #expect(phone.losses == (ends ? [Loss(app, .voipSocket, of: Phone.server, .lostToTearDown)] : []))
        }
        var phone = Phone(profile)
        let app = phone.suspendedCaller([])
        phone.wait(.seconds(59))
        phone.user(.launch, app)
        phone.wait(.seconds(60))
        #expect(!phone.voipCommands.contains(.tearDown(app)))
    }
}

import Testing
import WakeModel

@testable import WakeRouter

@Suite("Sound at its edges")
struct SoundEdgeTests {
    @Test("AUD-6: an interruption by suspension says that it was one")
    func interruptedBySuspension() {
        var phone = Phone()
        let app = phone.player(modes: [])
        phone.leavePlaying(app)
        phone.report(app, .suspended)
        let interruptions = phone.raised.map(\.event).filter { $0.kind == .audioInterrupted }
        #expect(interruptions.map(\.local) == [UInt32(AudioInterruptionReason.appWasSuspended.rawValue)])
    }

    @Test("AUD-7: a category for recording refuses to play")
    func playsWhileRecording() {
        var phone = Phone()
        let app = phone.player(.record)
        phone.forget()
        phone.audio(app, .start(request: 2, plays: true, records: false))
        #expect(phone.audioAnswers == [.refused(AudioErrorCode.incompatibleCategory)])
        #expect(phone.reasons(.audioStarted, of: app) == [.categoryForbids])
    }

    @Test("AUD-8: a session that is active and silent is interrupted from the background")
    func silentSession() {
        var phone = Phone()
        let radio = phone.player()
        phone.leavePlaying(radio)
        let podcast = phone.player()
        phone.audio(podcast, .stop)
        #expect(!phone.isSounding(podcast))
        phone.forget()
        phone.audio(radio, .activate(request: 7))
        #expect(phone.reasons(.audioActivated, of: radio) == [.alreadyRunning])
        #expect(phone.audioAnswers == [.granted(frames: 1_024)])
    }

    @Test("AUD-10: who was refused the microphone is not asked about again")
    func refusedOnce() {
        var phone = Phone()
        let app = phone.player(.record)
        phone.happenSound(.microphoneAnswered, app, failed: true)
        phone.forget()
        phone.audio(app, .requestPermission)
        #expect(phone.raised.map(\.event.failed) == [true])
        #expect(phone.router.microphonePermission(of: app) == .denied)
        #expect(phone.stream(of: app)?.hears == false)
    }

    @Test("AUD-11: the count of late buffers goes on in the next process")
    func underrunsOfTwoProcesses() {
        var phone = Phone()
        let app = phone.player()
        phone.happenSound(.audioRanDry, app, local: 3)
        phone.hear(.terminate(app, .crash))
        phone.user(.launch, app)
        phone.audio(app, .start(request: 1, plays: true, records: false))
        phone.report(app, .launched)
        phone.happenSound(.audioRanDry, app, local: 2)
        #expect(phone.router.underruns(of: app) == 5)
    }

    @Test("AUD-12: where sound relaunches, the end of an interruption does, and nothing else")
    func relaunchesForInterruptionsOnly() {
        var profile = Profile.ios17
        profile.areas.audio.relaunches = true
        var phone = Phone(profile)
        let app = phone.player()
        phone.hear(.terminate(app, .crash))
        phone.forget()
        phone.happenSound(.audioRanDry, app, local: 1)
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.notRelaunchedBySound])
    }

    @Test("VOIP-6: a keep-alive handler does not count as a wake")
    func keepAliveIsNoWake() {
        var profile = Profile.ios17
        profile.areas.voip.wakeLimit = 1
        var phone = Phone(profile)
        let app = phone.install([.voip])
        phone.open(app)
        phone.voip(app, .watch(1, peer: Phone.server))
        phone.voip(app, .setKeepAlive(period: .seconds(600)))
        phone.leave(app)
        phone.wait(.seconds(600))
        phone.sleepAgain(app)
        phone.forget()
        phone.call(app)
        #expect(phone.verdicts == [.resume])
        phone.sleepAgain(app)
        phone.forget()
        phone.call(app)
        #expect(phone.decisions.first?.reason == .voipWakeLimit)
    }

    @Test("VOIP-3: the next process has no keep-alive handler until it sets one")
    func keepAliveEndsWithTheProcess() {
        var phone = Phone()
        let app = phone.install([.voip])
        phone.open(app)
        phone.voip(app, .setKeepAlive(period: .seconds(600)))
        phone.leave(app)
        phone.report(app, .exited(0))
        phone.open(app)
        phone.leave(app)
        phone.forget()
        phone.wait(.seconds(3_600))
        #expect(phone.decisions.isEmpty)
    }
}

@Suite("Regions at their edges")
struct RegionEdgeTests {
    @Test("REG-1: between the margins the boundary itself says where the phone is at registration")
    func betweenTheMargins() {
        for (metres, state) in [(900.0, RegionState.inside), (1_100, .outside)] {
            var phone = Phone()
            let app = phone.locating()
            phone.fix(metres)
            phone.locate(app, .monitor(phone.circle()))
            phone.forget()
            phone.locate(app, .requestState(identifier: Phone.home))
            #expect(phone.raised.map(\.payload) == [.regionState(state)])
        }
    }

    @Test("BCN-1, BCN-4: iOS 6 knows no beacons: neither regions of them nor ranging")
    func beaconsBeforeTheirTime() {
        var phone = Phone(.ios6)
        let app = phone.locating()
        phone.forget()
        phone.locate(app, .monitorBeacons(phone.beacons()))
        #expect(phone.kinds == [.monitoringFailed])
        phone.locate(app, .range(phone.beacons()))
        #expect(phone.faults == [.unavailable])
        #expect(phone.locationCommands.isEmpty)
    }
}

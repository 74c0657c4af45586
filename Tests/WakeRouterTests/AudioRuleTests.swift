import Testing
import WakeModel

@testable import WakeRouter

@Suite("Sound")
struct AudioRuleTests {
    @Test("AUD-1: An app with the mode that plays is not suspended, and its sound goes on")
    func playsOn() {
        var phone = Phone()
        let app = phone.player()
        #expect(phone.isSounding(app))
        phone.leavePlaying(app)
        phone.wait(.seconds(3_600))
        #expect(phone.router.state(of: app) == .background)
        #expect(phone.isSounding(app))
        #expect(phone.reasons(.audioInBackground, of: app) == [.playsOn])
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == nil)
    }

    @Test("AUD-2: When it stops in the background the app has 5 s to end its session, and is suspended")
    func stops() {
        var phone = Phone()
        let app = phone.player()
        phone.leavePlaying(app)
        phone.audio(app, .stop)
        #expect(phone.reasons(.audioStopped, of: app) == [.stoppedPlaying])
        phone.wait(.seconds(4))
        #expect(!phone.router.isFreezing(app))
        phone.wait(.seconds(1))
        #expect(phone.router.isFreezing(app))
        phone.report(app, .suspended)
        #expect(phone.router.state(of: app) == .suspended)
        #expect(phone.stream(of: app) == nil)
    }

    @Test("AUD-2: When it stops and ends its session in the background the app is suspended at once")
    func stopsWhole() {
        var phone = Phone()
        let app = phone.player()
        phone.leavePlaying(app)
        phone.audio(app, .stop)
        phone.audio(app, .deactivate(notifiesOthers: true))
        #expect(phone.router.isFreezing(app))
        phone.report(app, .suspended)
        #expect(phone.reasons(.audioInterrupted, of: app).isEmpty)
    }

    @Test("AUD-3: Without the mode sound stops in the background, and comes back with the app")
    func modeMissing() {
        var phone = Phone()
        let app = phone.player(modes: [])
        phone.user(.home, app)
        #expect(!phone.isSounding(app))
        #expect(phone.stream(of: app) != nil)
        #expect(phone.reasons(.audioInBackground, of: app) == [.soundModeMissing])
        phone.user(.launch, app)
        #expect(phone.isSounding(app))
    }

    @Test("AUD-6: Suspension ends an active session, and the app hears so when it runs again")
    func suspendedSession() {
        var phone = Phone()
        let app = phone.player(modes: [])
        phone.leave(app)
        #expect(phone.stream(of: app) == nil)
        #expect(phone.decisions.last?.verdict == .defer)
        phone.forget()
        phone.user(.launch, app)
        #expect(phone.decisions.map(\.kind) == [.audioInterrupted])
        #expect(phone.reasons == [.deliveredLater])
        #expect(phone.last?.rule == .launch6)
        #expect(phone.delivered.count == 1)
    }

    @Test("AUD-4: Silence for longer than the limit ends the protection, in the background alone")
    func silence() {
        var profile = Profile.ios17
        profile.areas.audio.silenceLimit = .seconds(10)
        var phone = Phone(profile)
        let app = phone.player()
        #expect(phone.stream(of: app)?.silenceLimit == .seconds(10))
        phone.happenSound(.audioSilent, app)
        #expect(phone.reasons(.audioSilent, of: app) == [.inForeground])
        phone.happenSound(.audioAudible, app)
        phone.leavePlaying(app)
        phone.forget()
        phone.happenSound(.audioSilent, app)
        #expect(phone.reasons(.audioSilent, of: app) == [.silentTooLong])
        #expect(!phone.isSounding(app))
        phone.report(app, .suspended)
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("AUD-4: Without a limit silence is told, counted in the background alone, and ends nothing")
    func silenceCounted() {
        var phone = Phone()
        let app = phone.player()
        #expect(phone.stream(of: app)?.silenceLimit == .seconds(10))
        phone.happenSound(.audioSilent, app)
        phone.wait(.seconds(60))
        #expect(phone.router.silence(of: app, at: phone.now) == .zero)
        phone.leavePlaying(app)
        phone.forget()
        phone.wait(.seconds(30))
        #expect(phone.router.silence(of: app, at: phone.now) == .seconds(30))
        phone.happenSound(.audioAudible, app)
        phone.wait(.seconds(40))
        #expect(phone.router.silence(of: app, at: phone.now) == .seconds(30))
        // Told ten seconds after it began.
        phone.happenSound(.audioSilent, app)
        #expect(phone.reasons(.audioSilent, of: app) == [.playsOn])
        #expect(phone.last?.checks[.audible] == .notApplicable)
        #expect(phone.isSounding(app))
        phone.wait(.seconds(20))
        #expect(phone.router.silence(of: app, at: phone.now) == .seconds(60))
        phone.hear(.terminate(app, .memory, .critical))
        phone.wait(.seconds(20))
        phone.user(.launch, app)
        #expect(phone.router.silence(of: app, at: phone.now) == .seconds(60))
    }

    @Test("AUD-10: The user's word on the microphone outlives the process", arguments: [true, false])
    func permissionOutlives(granted: Bool) {
        var phone = Phone()
        let app = phone.player()
        phone.happenSound(.microphoneAnswered, app, failed: !granted)
        let word: MicrophonePermission = granted ? .granted : .denied
        #expect(phone.router.microphonePermission(of: app) == word)
        phone.hear(.terminate(app, .memory, .critical))
        phone.open(app)
        #expect(phone.router.microphonePermission(of: app) == word)
    }

    @Test("AUD-5: A non-mixable session interrupts the other one, and mixable ones play together")
    func whoPlays() {
        var phone = Phone()
        let radio = phone.player()
        phone.leavePlaying(radio)
        let chimes = phone.player(.playback, [.mixWithOthers])
        phone.leavePlaying(chimes)
        #expect(phone.isSounding(radio) && phone.isSounding(chimes))
        phone.forget()
        let podcast = phone.player()
        #expect(phone.isSounding(podcast) && phone.isSounding(chimes) && !phone.isSounding(radio))
        #expect(phone.reasons(.audioInterrupted, of: radio) == [.interrupted])
        #expect(phone.reasons(.audioInterrupted, of: chimes).isEmpty)
    }

    @Test("AUD-5: A session that ducks lowers the others as long as it is active")
    func ducks() {
        var phone = Phone()
        let radio = phone.player()
        phone.leavePlaying(radio)
        let guide = phone.player(.playback, [.duckOthers])
        #expect(phone.stream(of: radio)?.gain == AudioFormat.duckedGain)
        #expect(phone.stream(of: guide)?.gain == AudioFormat.fullGain)
        phone.audio(guide, .deactivate(notifiesOthers: true))
        #expect(phone.stream(of: radio)?.gain == AudioFormat.fullGain)
    }

    @Test("AUD-5: A call silences everyone, and nobody begins before its end")
    func call() {
        var phone = Phone()
        let radio = phone.player()
        phone.leavePlaying(radio)
        let chimes = phone.player(.playback, [.mixWithOthers])
        phone.hear(.phone(.callBegan))
        #expect(!phone.isSounding(radio) && !phone.isSounding(chimes))
        phone.audio(chimes, .start(request: 2, plays: true, records: false))
        #expect(phone.audioAnswers.last == .refused(AudioErrorCode.insufficientPriority))
        #expect(phone.reasons(.audioActivated, of: chimes).last == .callHasPriority)
        phone.forget()
        phone.hear(.phone(.callEnded))
        #expect(phone.reasons(.audioInterruptionEnded, of: radio) == [.shouldResume])
        #expect(phone.reasons(.audioInterruptionEnded, of: chimes) == [.shouldResume])
    }

    @Test("AUD-6: The end of an interruption wakes a suspended app with the mode, and waits for one without")
    func interruptionEnds() {
        var phone = Phone()
        let radio = phone.player()
        phone.leavePlaying(radio)
        phone.hear(.phone(.callBegan))
        phone.wait(.seconds(10))
        phone.report(radio, .suspended)
        #expect(phone.router.state(of: radio) == .suspended)
        phone.forget()
        phone.hear(.phone(.callEnded))
        #expect(phone.verdicts == [.resume])
        phone.audio(radio, .start(request: 2, plays: true, records: false))
        #expect(phone.audioAnswers == [.granted(frames: 1_024)])
        #expect(phone.isSounding(radio))
    }

    @Test("AUD-6: Who deactivates without telling others leaves them interrupted")
    func endIsNotGuaranteed() {
        for told in [true, false] {
            var phone = Phone()
            let radio = phone.player()
            phone.leavePlaying(radio)
            let game = phone.player(.soloAmbient, modes: [])
            phone.forget()
            phone.audio(game, .deactivate(notifiesOthers: told))
            #expect(phone.reasons(.audioInterruptionEnded, of: radio) == (told ? [.shouldResume] : []))
        }
    }

    @Test("AUD-7: The category decides what goes on in the background", arguments: AudioCategory.allCases)
    func categories(category: AudioCategory) {
        var phone = Phone()
        let app = phone.player(category)
        #expect(phone.isSounding(app))
        phone.leavePlaying(app)
        let goesOn = category != .ambient && category != .soloAmbient
        #expect(phone.isSounding(app) == goesOn)
        #expect(phone.reasons(.audioInBackground, of: app) == [goesOn ? .playsOn : .categoryForbids])
    }

    @Test("AUD-7: A category without the direction refuses the start")
    func wrongCategory() {
        var phone = Phone()
        let app = phone.player(.playback, records: true)
        #expect(phone.audioAnswers == [.refused(AudioErrorCode.incompatibleCategory)])
        #expect(phone.reasons(.audioStarted, of: app) == [.categoryForbids])
        #expect(phone.stream(of: app) == nil)
    }

    @Test("AUD-8: A non-mixable session from the background does not interrupt who plays")
    func cannotInterrupt() {
        var phone = Phone()
        let radio = phone.player()
        phone.leavePlaying(radio)
        let podcast = phone.player()
        phone.leavePlaying(podcast)
        phone.audio(radio, .activate(request: 7))
        #expect(phone.audioAnswers.last == .refused(560_557_684))
        #expect(phone.reasons(.audioActivated, of: radio).last == .cannotInterruptOthers)
        #expect(phone.isSounding(podcast))
        phone.audio(radio, .setCategory(.playback, [.mixWithOthers]))
        phone.audio(radio, .start(request: 8, plays: true, records: false))
        #expect(phone.isSounding(radio) && phone.isSounding(podcast))
    }

    @Test("AUD-9: A buffer is granted within the limits, and grows when the screen is locked")
    func buffers() {
        var phone = Phone()
        let app = phone.player(.playAndRecord)
        #expect(phone.stream(of: app)?.frames == 1_024)
        phone.hear(.phone(.lock))
        #expect(phone.stream(of: app)?.frames == 4_096)
        phone.audio(app, .start(request: 2, plays: true, records: true))
        #expect(phone.stream(of: app)?.frames == 1_024)
        phone.audio(app, .start(request: 3, plays: true, records: false))
        for (wish, frames) in [(1, 240), (20, 960), (500, 4_096)] as [(Int64, UInt32)] {
            phone.audio(app, .preferBuffer(.milliseconds(wish)))
            #expect(phone.stream(of: app)?.frames == frames)
        }
        phone.audio(app, .preferBuffer(.zero))
        phone.hear(.phone(.unlock))
        #expect(phone.stream(of: app)?.frames == 1_024)
    }

    @Test("AUD-10: Recording asks for the microphone, and who was refused hears nothing")
    func microphone() {
        var phone = Phone()
        let asked = phone.player(.record)
        #expect(phone.reasons(.microphoneAnswered, of: asked).count == 1)
        #expect(phone.stream(of: asked)?.hears == true)
        let refused = phone.install([.audio])
        phone.happenSound(.microphoneAnswered, refused, failed: true)
        phone.user(.launch, refused)
        phone.audio(refused, .setCategory(.record, []))
        phone.audio(refused, .start(request: 1, plays: false, records: true))
        #expect(phone.stream(of: refused)?.hears == false)
        #expect(phone.router.microphonePermission(of: refused) == .denied)
    }

    @Test("AUD-11: Late buffers are counted")
    func underruns() {
        var phone = Phone()
        let app = phone.player()
        phone.happenSound(.audioRanDry, app, local: 3)
        phone.happenSound(.audioRanDry, app, local: 2)
        #expect(phone.reasons(.audioRanDry, of: app) == [.ranDry, .ranDry])
        #expect(phone.router.underruns(of: app) == 5)
    }

    @Test("AUD-12: Sound does not bring a terminated app back, unless the guide of 2014 holds")
    func neverRelaunches() {
        for relaunches in [false, true] {
            var profile = Profile.ios17
            profile.areas.audio.relaunches = relaunches
            var phone = Phone(profile)
            let app = phone.player()
            phone.leavePlaying(app)
            phone.hear(.phone(.callBegan))
            phone.hear(.terminate(app, .memory))
            phone.report(app, .returned(.willTerminate))
            #expect(phone.router.state(of: app) == .notRunning)
            #expect(phone.stream(of: app) == nil)
            phone.forget()
            phone.hear(.phone(.callEnded))
            #expect(phone.verdicts == [relaunches ? .relaunch : .deny])
            #expect(phone.reasons == [relaunches ? .relaunched : .notRelaunchedBySound])
        }
    }

    @Test("VOIP-8, AUD-3: A call of the app's own goes on in the background with the audio mode, and stops without")
    func voipCall() {
        for hasMode in [true, false] {
            var phone = Phone()
            let app = phone.player(.playAndRecord, modes: hasMode ? [.voip, .audio] : [.voip], records: true)
            phone.leavePlaying(app)
            #expect(phone.isSounding(app) == hasMode)
        }
    }

    @Test("TASK-2: The time for background tasks counts from the end of the sound")
    func tasksBesideSound() {
        var phone = Phone()
        let app = phone.player()
        phone.leavePlaying(app)
        phone.request(app, .beginTask(token: 1))
        phone.wait(.seconds(600))
        phone.audio(app, .stop)
        phone.forget()
        phone.wait(.seconds(24))
        #expect(phone.exits.isEmpty)
        #expect(phone.router.state(of: app) == .background)
        phone.wait(.seconds(6))
        #expect(phone.exits.map(\.cause) == [.watchdog])
    }

    @Test("A route change reaches every app with a session, and waits for a suspended one")
    func routes() {
        var phone = Phone()
        let radio = phone.player()
        phone.leavePlaying(radio)
        let silent = phone.player(.playback, [.mixWithOthers], modes: [])
        phone.leave(silent)
        let other = phone.install([.audio])
        phone.user(.launch, other)
        phone.forget()
        phone.happenSound(.audioRouteChanged, nil, local: 2)
        #expect(phone.decisions.map(\.app) == [radio, silent])
        #expect(phone.verdicts == [.backgroundDeliver, .defer])
    }

    @Test("A source that ends a stream ends the protection")
    func lost() {
        var phone = Phone()
        let app = phone.player()
        phone.leavePlaying(app)
        phone.happenSound(.audioStopped, app, failed: true)
        #expect(phone.stream(of: app) == nil)
        phone.report(app, .suspended)
        #expect(phone.router.state(of: app) == .suspended)
    }
}

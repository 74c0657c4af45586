import Testing
import WakeModel

@testable import WakeRouter

@Suite("Ends of calls")
struct CallEndTests {
    /// An app that played in the background until a call came, and is suspended.
    private func interrupted(_ phone: inout Phone) -> AppID {
        let radio = phone.player()
        phone.leavePlaying(radio)
        phone.hear(.phone(.callBegan))
        phone.wait(.seconds(10))
        phone.report(radio, .suspended)
        phone.forget()
        return radio
    }

    @Test("AUD-6: the end of a call without shouldResume waits for a suspended app to run")
    func withoutResume() {
        var phone = Phone()
        let radio = interrupted(&phone)
        phone.hear(.phone(.callEndedWithoutResume))
        #expect(phone.verdicts == [.defer])
        #expect(phone.reasons(.audioInterruptionEnded, of: radio) == [.answerWaits])
        #expect(phone.raised.map { $0.event.failed } == [true])
        #expect(phone.router.state(of: radio) == .suspended)
        phone.user(.launch, radio)
        #expect(phone.reasons(.audioInterruptionEnded, of: radio) == [.answerWaits, .deliveredLater])
    }

    @Test("AUD-6: an app in the foreground hears of the end without shouldResume at once")
    func withoutResumeInFront() {
        var phone = Phone()
        let radio = phone.player()
        phone.hear(.phone(.callBegan))
        phone.forget()
        phone.hear(.phone(.callEndedWithoutResume))
        #expect(phone.decisions.map(\.verdict) == [.foregroundDeliver])
        #expect(phone.reasons(.audioInterruptionEnded, of: radio) == [.inForeground])
    }

    @Test("AUD-6: of a call's end that is not told no app hears, and each may begin again by itself")
    func untold() {
        var phone = Phone()
        let radio = interrupted(&phone)
        phone.hear(.phone(.callEndedUntold))
        #expect(phone.decisions.isEmpty)
        #expect(phone.deeds(.leftInterrupted) == [radio])
        #expect(!phone.router.areas.isInCall)
        phone.hear(.phone(.callEnded))
        #expect(phone.decisions.isEmpty)
        phone.user(.launch, radio)
        phone.audio(radio, .start(request: 2, plays: true, records: false))
        #expect(phone.audioAnswers.last == .granted(frames: 1_024))
        #expect(phone.isSounding(radio))
    }
}

import Testing
import WakeModel

@testable import WakeReports

@Suite("The prose of reasons")
struct ReasonTextTests {
    @Test("Places of a sentence are filled in their order, and other marks stay")
    func places() throws {
        let sentence = try Sentence("<exit>; `set: {a: b}` <window>", line: 1)
        #expect(sentence.text { "[\($0.rawValue)]" } == "[exit]; `set: {a: b}` [window]")
        #expect(try Sentence("as it is", line: 1).text { _ in "" } == "as it is")
    }

    @Test("A place that is none is refused with its line", arguments: ["since <yesterday>", "since <exit", "<>"])
    func strangers(text: String) {
        do throws(TableError) {
            _ = try Sentence(text, line: 7)
            Issue.record("accepted")
        } catch {
            #expect(error.table == "reasons.tsv" && error.line == 7)
        }
    }

    @Test("Every reason says why, whatever the background mode", arguments: Reason.allCases)
    func complete(reason: Reason) {
        for mode in BackgroundMode.allCases {
            #expect(!ReasonText.because(reason, of: mode).text { _ in "" }.isEmpty)
            #expect(ReasonText.advice(reason, of: mode)?.isEmpty != true)
        }
    }

    @Test("Advice is about the background mode of the event, and general where that mode has none of its own")
    func advice() {
        #expect(ReasonText.advice(.modeMissing, of: .voip) == "Add voip to UIBackgroundModes in Info.plist")
        #expect(ReasonText.advice(.noRegistration, of: .voip) == "Mark the socket for VoIP while the app runs")
        #expect(ReasonText.advice(.bluetoothOff, of: .voip) == "Turn Bluetooth on")
        #expect(ReasonText.advice(.resumed, of: .voip) == nil)
    }

    @Test("Each thing that a record can show of a check is what some check looks at")
    func observations() {
        #expect(Observer.byCheck.count == Check.allCases.count)
        #expect(Set(Check.allCases.map(\.row.observed)) == Set(Observer.all.keys))
    }

    @Test("Everything that the user or the phone can do has a word in acts.tsv, and else a set-up and the clock alone")
    func acts() {
        let names = PhoneChange.allCases.map { "\($0)" } + UserAction.allCases.map { "\($0)" } + ["setUp", "clock"]
        #expect(Set(names) == Set(Act.words.keys))
    }

    @Test("Each word of waits.tsv is one of a registration")
    func waits() {
        #expect(Set(Why.phrases.keys).isSubset(of: Registration.allCases.map(\.word)))
    }
}

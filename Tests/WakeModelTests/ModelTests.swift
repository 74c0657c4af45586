import Testing
import WakeModel

@Suite("The words of the model")
struct ModelTests {
    @Test("An instant never runs over: what is too late is the distant future")
    func saturation() {
        #expect(Instant.distantFuture.advanced(by: .seconds(1)) == .distantFuture)
        #expect(Instant.zero.advanced(by: .seconds(2)).since(.zero) == .seconds(2))
        #expect(Instant.Span(.seconds(Int64.max)) == Instant.Span(nanoseconds: .max))
        #expect(Instant.Span(.seconds(Int64.min)) == Instant.Span(nanoseconds: .min))
        #expect(Instant.Span(.milliseconds(1500)).milliseconds == 1500)
    }

    @Test("A name has one number, in the order of the first sight")
    func names() {
        let table = NameTable()
        let heart = table.intern("com.acme.heart")
        #expect(heart == NameID(1))
        #expect(table.intern("belt") == NameID(2))
        #expect(table.intern("com.acme.heart") == heart)
        #expect(table.text(heart) == "com.acme.heart")
        #expect(table.intern("") == .none)
        #expect(table.known("belt") == NameID(2))
        #expect(table.known("never seen") == nil)
        #expect(table.count == 3)
    }

    @Test("A name that was never interned is a mistake of ours")
    func unknownName() async {
        await #expect(processExitsWith: .failure) { _ = NameTable().text(NameID(7)) }
    }

    @Test("Each background mode has its word of Info.plist, and an unknown one has no effect (MODE-1)")
    func modes() {
        for mode in BackgroundMode.allCases { #expect(BackgroundMode(plistValue: mode.plistValue) == mode) }
        #expect(BackgroundMode(plistValue: "bluetooth") == nil)
        let modes = BackgroundModes([.fetch, .bluetoothCentral])
        #expect(modes.contains(.bluetoothCentral))
        #expect(!modes.contains(.audio))
        #expect(modes.members == [.bluetoothCentral, .fetch])
    }

    @Test("Each rule has an id that reads back")
    func rules() {
        for rule in RuleID.allCases { #expect(RuleID(text: rule.text) == rule) }
        #expect(Set(RuleID.allCases.map(\.text)).count == RuleID.allCases.count)
        #expect(RuleID(text: "LAUNCH-99") == nil)
    }

    @Test("Each word of a closed list reads back")
    func words() {
        for verdict in Verdict.allCases { #expect(Verdict(word: verdict.word) == verdict) }
        for reason in Reason.allCases { #expect(Reason(word: reason.word) == reason) }
        for cause in ExitCause.allCases { #expect(ExitCause(word: cause.word) == cause) }
        for kind in EventKind.allCases { #expect(EventKind(word: kind.word) == kind) }
        for source in Source.allCases { #expect(Source(word: source.word) == source) }
        for callback in LifecycleCallback.allCases { #expect(LifecycleCallback(word: callback.word) == callback) }
        #expect(Verdict(word: "wake") == nil)
    }

    @Test("The first failing check in the order of the rulebook decides")
    func decisive() {
        var results = CheckResults()
        #expect(results.decisive == nil)
        for check in Check.allCases { results[check] = .pass }
        #expect(results.decisive == nil)
        results[.runsInBackground] = .fail
        results[.modePresent] = .fail
        results[.notForceQuit] = .notApplicable
        #expect(results.decisive == .modePresent)
        results[.modePresent] = .pass
        #expect(results.decisive == .runsInBackground)
        #expect(results[.notForceQuit] == .notApplicable)
    }

    @Test("A distance is found from its chord again, from nothing to half the way round")
    func chords() {
        for metres in [0, 0.5, 50, 12_345.5, 1_000_000, 10_000_000, 20_015_000] {
            #expect(abs(Sphere.metres(chord: Sphere.chord(metres: metres)) - metres) < 0.01)
        }
    }

    @Test("A profile is found by its word")
    func profiles() {
        for profile in Profile.all { #expect(Profile.named(profile.name) == profile) }
        #expect(Profile.named("ios5") == nil)
    }
}

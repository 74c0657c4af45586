import Testing

@testable import WakeModel

@Suite("Settings of a profile")
struct ProfileSettingTests {
    /// A value other than the one at hand.
    private func other(_ setting: ProfileSetting, than value: SettingValue) -> SettingValue {
        switch (setting.kind, value) {
        case (.flag, .flag(let flag)): .flag(!flag)
        case (.count(let range, _), .count(let count)):
            .count(count == range.upperBound ? range.lowerBound : range.upperBound)
        case (.count(let range, _), _): .count(range.upperBound)
        case (.time(let range), .time(let time)):
            .time(time == range.upperBound ? range.lowerBound : range.upperBound)
        case (.time(let range), _): .time(range.upperBound)
        case (.code, .code(let code)): .code(code + 1)
        case (.words(let words), _): .word(words.first { .word($0) != value } ?? "")
        case (.flag, _), (.code, _): .off
        }
    }

    /// What a profile has beside its name, each with its name and value; the areas' own too.
    private func figures(of profile: Profile) -> [String] {
        let own = Mirror(reflecting: profile).children.filter { $0.label != "name" && $0.label != "areas" }
        let areas = Mirror(reflecting: profile.areas).children.flatMap { area in
            Mirror(reflecting: area.value).children.map { ("\(area.label!).\($0.label!)", $0.value) }
        }
        return own.map { "\($0.label!) \($0.value)" } + areas.map { "\($0.0) \($0.1)" }
    }

    @Test("Every switch and figure of a profile is a setting, each once")
    func complete() {
        let figures = figures(of: .ios17)
        #expect(ProfileSetting.all.count == figures.count)
        #expect(Set(ProfileSetting.all.map(\.name)).count == figures.count)
        for setting in ProfileSetting.all {
            var profile = Profile.ios17
            #expect(setting.set(other(setting, than: setting.value(profile)), of: &profile), "\(setting.name)")
            let changed = zip(figures, self.figures(of: profile)).filter { $0 != $1 }
            #expect(changed.count == 1, "\(setting.name) changes one figure")
        }
    }

    @Test("Every shipped profile holds values that its settings allow, and comes back from its bytes")
    func shipped() throws {
        for profile in Profile.all {
            for setting in ProfileSetting.all { #expect(setting.allows(setting.value(profile)), "\(setting.name)") }
            var changed = profile
            for setting in ProfileSetting.all {
                _ = setting.set(other(setting, than: setting.value(profile)), of: &changed)
            }
            #expect(changed != profile)
            for profile in [profile, changed] {
                #expect(try ByteReader.read(from: ByteWriter.bytes(of: profile)) == profile)
            }
        }
    }

    @Test("A value of another kind or beyond the range is not taken")
    func refused() throws {
        for (name, value) in [
            ("taskBudget", .off), ("taskBudget", .time(.zero)), ("taskBudget", .count(3)),
            ("wakeWindow", .word("last")),
            ("voip.wakeLimit", .count(0)), ("regionLimit", .count(10_001)), ("nonsense", .off),
        ] as [(String, SettingValue)] {
            #expect(SettingChange(name, value) == nil)
        }
        let change = try #require(SettingChange("voip.wakeLimit", .off))
        #expect(Profile.ios17.with([change]).areas.voip.wakeLimit == nil)
    }

    @Test("Of two changes of one setting the later counts")
    func later() throws {
        let first = try #require(SettingChange("wakeWindow", .word("first")))
        let each = try #require(SettingChange("wakeWindow", .word("each")))
        #expect(Profile.ios17.with([first]).wakeWindow == .first)
        #expect(Profile.ios17.with([first, each]).wakeWindow == .each)
    }
}

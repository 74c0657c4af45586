import Testing
import WakeModel

@testable import WakeDevices

@Suite("Settings of a scenario")
struct SettingTests {
    private func read(_ lines: String) throws -> [SettingChange] {
        let text = "scenario: s\napps: [{scripted: com.example.a, name: a}]\n\(lines)\n"
        return try Scenario.parse(Array(text.utf8), file: "s.yaml").settings
    }

    @Test("Every setting is read as it is listed, of every profile")
    func all() throws {
        for profile in Profile.all {
            let lines = ProfileSetting.all.map { "  \($0.name): \(SettingText.text($0.value(profile)))" }
            let changes = try read((["settings:"] + lines).joined(separator: "\n"))
            #expect(changes.map(\.name) == ProfileSetting.all.map(\.name))
            var same = Profile.ios6.with(changes)
            same.name = profile.name
            #expect(same == profile)
            for setting in ProfileSetting.all {
                let text = "\(setting.name)=\(SettingText.text(setting.value(profile)))"
                #expect(try SettingText.change(text).value == setting.value(profile))
            }
        }
    }

    @Test("A name with a dot may be a mapping in a mapping, and voip a key of its own")
    func nested() throws {
        let expected = [SettingChange("voip.legacy", .word("on"))!, SettingChange("voip.wakeLimit", .off)!]
        for lines in [
            "settings: {voip.legacy: on, voip.wakeLimit: off}", "settings: {voip: {legacy: on, wakeLimit: off}}",
            "voip: {legacy: on, wakeLimit: off}", "settings: {voip: {legacy: yes}}\nvoip: {wakeLimit: off}",
        ] {
            #expect(try read(lines) == expected)
        }
    }

    @Test(
        "A setting that is none, or a value that it does not take, is one line with its place",
        arguments: [
            ("settings: {taskBuget: 1m}", "s.yaml:3: unknown setting 'taskBuget'; expected 'taskBudget'"),
            ("voip: {wakeLimt: off}", "s.yaml:3: unknown setting 'voip.wakeLimt'; expected 'voip.wakeLimit'"),
            ("settings: {taskBudget: off}", "s.yaml:3: 'off'; expected a time such as 30s, 1ms to 3660d"),
            ("settings: {regionLimit: many}", "s.yaml:3: 'many'; expected a whole number, 0 to 10000 regions"),
            ("settings: {wakeWindow: last}", "s.yaml:3: 'last'; expected one of each, first"),
            ("settings: {silenceLimit: 0}", "s.yaml:3: '0'; expected a time such as 30s, 1ms to 3660d, off"),
            ("settings: {voip.legacy: on}\nvoip: {legacy: on}", "s.yaml:4: 'voip.legacy' again"),
            ("settings: first", "s.yaml:3: 'first'; expected a mapping"),
            ("settings: {a: {b: 1}}", "s.yaml:3: unknown setting 'a.b'; expected one that 'wakebench rules"),
        ]
    )
    func refused(lines: String, message: String) {
        let error = #expect(throws: FileError.self) { try read(lines) }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "nothing")")
    }

    @Test("A time is written in its shortest form, and read back")
    func times() {
        for (text, span) in [
            ("0", .zero), ("250ms", .milliseconds(250)), ("10m", .seconds(600)), ("1m30s", .seconds(90)),
            ("1d1h", .seconds(90_000)), ("3660d", DurationText.longest),
            ("152.5ms", Instant.Span(nanoseconds: 152_500_000)),
            ("1s0.000001ms", Instant.Span(nanoseconds: 1_000_000_001)),
        ] as [(String, Instant.Span)] {
            #expect(DurationText.text(span) == text)
            #expect(DurationText.span(text) == span)
        }
    }
}

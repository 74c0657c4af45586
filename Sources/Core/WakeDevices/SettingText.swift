import WakeModel

/// The settings of a profile as they are written in scenarios and on command lines.
package enum SettingText {
    /// A setting set to what a text says; nil when it says no value of it.
    package static func change(_ setting: ProfileSetting, to text: String) -> SettingChange? {
        if setting.canBeOff, text == "off" { return SettingChange(setting.name, .off) }
        return value(text, of: setting.kind).flatMap { SettingChange(setting.name, $0) }
    }

    /// `NAME=VALUE`, as `--set` has it.
    ///
    /// - Throws: ``SettingError`` that names the nearest setting, or what the setting takes.
    package static func change(_ text: String) throws(SettingError) -> SettingChange {
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard sides.count == 2 else {
            throw SettingError(text: "'\(excerpt(text))'; expected NAME=VALUE such as wakeWindow=first")
        }
        guard let setting = ProfileSetting.named(sides[0]) else {
            let near = nearest(to: sides[0], among: ProfileSetting.all.map(\.name))
            throw SettingError(
                text: "unknown setting '\(excerpt(sides[0]))'; "
                    + (near.map { "did you mean \($0)?" } ?? "'wakebench rules --settings' lists them")
            )
        }
        guard let change = change(setting, to: sides[1]) else {
            throw SettingError(text: "\(setting.name) '\(excerpt(sides[1]))'; expected \(expected(of: setting))")
        }
        return change
    }

    private static func value(_ text: String, of kind: ProfileSetting.Kind) -> SettingValue? {
        switch kind {
        case .flag: word(text, among: ["on", "off"]).map { .flag($0 == "on") }
        case .count: UInt32(text).map { .count($0) }
        case .time: DurationText.span(text).map { .time($0) }
        case .code: code(text).map { .code($0) }
        case .words(let words): word(text, among: words).map { .word($0) }
        }
    }

    private static func code(_ text: String) -> Int64? {
        if text.hasPrefix("0x") { return UInt32(text.dropFirst(2), radix: 16).map { Int64($0) } }
        return UInt32(text).map { Int64($0) }
    }

    /// YAML has two more spellings of `on` and of `off`.
    static let spellings = ["true": "on", "yes": "on", "false": "off", "no": "off"]

    static func word(_ text: String, among words: [String]) -> String? {
        words.contains(text) ? text : spellings[text].flatMap { words.contains($0) ? $0 : nil }
    }

    /// A value as it is written.
    package static func text(_ value: SettingValue) -> String {
        switch value {
        case .flag(let flag): flag ? "on" : "off"
        case .count(let count): "\(count)"
        case .time(let time): DurationText.text(time)
        case .code(let code): "0x" + String(code, radix: 16)
        case .word(let word): word
        case .off: "off"
        }
    }

    /// What values a setting takes, such as `0 to 10000 regions`.
    package static func range(of setting: ProfileSetting) -> String {
        let range =
            switch setting.kind {
            case .flag: "on, off"
            case .count(let range, let unit): "\(range.lowerBound) to \(range.upperBound) \(unit)"
            case .time(let range): "\(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
            case .code: "0x0 to 0xffffffff"
            case .words(let words): words.joined(separator: ", ")
            }
        return range + (setting.canBeOff ? ", off" : "")
    }

    /// What stands in an error.
    static func expected(of setting: ProfileSetting) -> String {
        switch setting.kind {
        case .flag, .words: "one of \(range(of: setting))"
        case .count: "a whole number, \(range(of: setting))"
        case .time: "a time such as 30s, \(range(of: setting))"
        case .code: "a number, \(range(of: setting))"
        }
    }
}

/// Why a setting of a command line cannot be taken: one line.
package struct SettingError: Error, Hashable, Sendable {
    package let text: String
}

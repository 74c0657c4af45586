/// Which windows count of a run of wakes (LIFE-11).
package enum WakeWindow: UInt8, CaseIterable, Codable, Sendable {
    /// Each event that the app is given opens a window of its own.
    case each
    /// Only the first event's window counts.
    case first

    /// The word used in settings.
    package var word: String {
        switch self {
        case .each: "each"
        case .first: "first"
        }
    }
}

/// For which apps the phone looks after sockets marked for VoIP (VOIP-1).
package enum LegacySockets: UInt8, CaseIterable, Codable, Sendable {
    case on
    case off
    /// For those built with an SDK below 10.
    case bySDK

    /// The word used in settings.
    package var word: String {
        switch self {
        case .on: "on"
        case .off: "off"
        case .bySDK: "by-sdk"
        }
    }
}

/// What a switch or figure of a profile is set to.
package enum SettingValue: Hashable, Sendable {
    case flag(Bool)
    /// A number, of the unit that the setting has.
    case count(UInt32)
    case time(Instant.Span)
    /// What a process ends with.
    case code(Int64)
    case word(String)
    /// No limit.
    case off
}

/// A switch or figure of a profile, by the name under which scenarios and command lines set it.
///
/// ``all`` is the one table of them: reading, listing, and naming in records derive from it.
package struct ProfileSetting: Sendable {
    /// What values a setting takes.
    package enum Kind: Hashable, Sendable {
        case flag
        case count(ClosedRange<UInt32>, unit: String)
        case time(ClosedRange<Instant.Span>)
        case code
        case words([String])
    }

    /// Such as `taskBudget` or `voip.wakeLimit`.
    package let name: String
    package let kind: Kind
    /// Whether `off` is a value: no limit.
    package let canBeOff: Bool
    /// The rule that it is a figure or switch of.
    package let rule: RuleID
    /// One line, without a full stop.
    package let meaning: String
    /// What a profile has.
    package let value: @Sendable (Profile) -> SettingValue
    private let set: @Sendable (inout Profile, SettingValue) -> Bool

    /// Sets it, where the value is one of its kind and within its range.
    ///
    /// - Returns: whether it is.
    package func set(_ value: SettingValue, of profile: inout Profile) -> Bool {
        allows(value) && set(&profile, value)
    }

    /// Whether the value is one of its kind and within its range.
    package func allows(_ value: SettingValue) -> Bool {
        switch (value, kind) {
        case (.off, _): canBeOff
        case (.flag, .flag), (.code, .code): true
        case (.count(let count), .count(let range, _)): range.contains(count)
        case (.time(let time), .time(let range)): range.contains(time)
        case (.word(let word), .words(let words)): words.contains(word)
        case (.flag, _), (.count, _), (.time, _), (.code, _), (.word, _): false
        }
    }

    /// The setting of a name; nil when there is none.
    package static func named(_ name: String) -> ProfileSetting? { all.first { $0.name == name } }
}

extension ProfileSetting {
    typealias Path<Value> = WritableKeyPath<Profile, Value> & Sendable

    static func flag(_ name: String, _ path: Path<Bool>, _ rule: RuleID, _ meaning: String) -> ProfileSetting {
        ProfileSetting(
            name: name,
            kind: .flag,
            canBeOff: false,
            rule: rule,
            meaning: meaning,
            value: { .flag($0[keyPath: path]) },
            set: { profile, value in
                guard case .flag(let flag) = value else { return false }
                profile[keyPath: path] = flag
                return true
            }
        )
    }

    static func count(
        _ name: String,
        _ path: Path<UInt32>,
        _ range: ClosedRange<UInt32>,
        _ unit: String,
        _ rule: RuleID,
        _ meaning: String
    ) -> ProfileSetting {
        ProfileSetting(
            name: name,
            kind: .count(range, unit: unit),
            canBeOff: false,
            rule: rule,
            meaning: meaning,
            value: { .count($0[keyPath: path]) },
            set: { profile, value in
                guard case .count(let count) = value else { return false }
                profile[keyPath: path] = count
                return true
            }
        )
    }

    /// A number that may be lifted.
    static func limit(
        _ name: String,
        _ path: Path<UInt32?>,
        _ range: ClosedRange<UInt32>,
        _ unit: String,
        _ rule: RuleID,
        _ meaning: String
    ) -> ProfileSetting {
        ProfileSetting(
            name: name,
            kind: .count(range, unit: unit),
            canBeOff: true,
            rule: rule,
            meaning: meaning,
            value: { $0[keyPath: path].map { .count($0) } ?? .off },
            set: { profile, value in
                switch value {
                case .count(let count): profile[keyPath: path] = count
                case .off: profile[keyPath: path] = nil
                case .flag, .time, .code, .word: return false
                }
                return true
            }
        )
    }

    static func time(
        _ name: String,
        _ path: Path<Instant.Span>,
        _ rule: RuleID,
        _ meaning: String
    ) -> ProfileSetting {
        ProfileSetting(
            name: name,
            kind: .time(times),
            canBeOff: false,
            rule: rule,
            meaning: meaning,
            value: { .time($0[keyPath: path]) },
            set: { profile, value in
                guard case .time(let time) = value else { return false }
                profile[keyPath: path] = time
                return true
            }
        )
    }

    /// A time that may be lifted.
    static func limit(
        _ name: String,
        _ path: Path<Instant.Span?>,
        _ rule: RuleID,
        _ meaning: String
    ) -> ProfileSetting {
        ProfileSetting(
            name: name,
            kind: .time(times),
            canBeOff: true,
            rule: rule,
            meaning: meaning,
            value: { $0[keyPath: path].map { .time($0) } ?? .off },
            set: { profile, value in
                switch value {
                case .time(let time): profile[keyPath: path] = time
                case .off: profile[keyPath: path] = nil
                case .flag, .count, .code, .word: return false
                }
                return true
            }
        )
    }

    static func code(_ name: String, _ path: Path<Int64>, _ rule: RuleID, _ meaning: String) -> ProfileSetting {
        ProfileSetting(
            name: name,
            kind: .code,
            canBeOff: false,
            rule: rule,
            meaning: meaning,
            value: { .code($0[keyPath: path]) },
            set: { profile, value in
                guard case .code(let code) = value else { return false }
                profile[keyPath: path] = code
                return true
            }
        )
    }

    static func choice<Choice: CaseIterable & Equatable & Sendable>(
        _ name: String,
        _ path: Path<Choice>,
        _ word: @escaping @Sendable (Choice) -> String,
        _ rule: RuleID,
        _ meaning: String
    ) -> ProfileSetting {
        ProfileSetting(
            name: name,
            kind: .words(Choice.allCases.map(word)),
            canBeOff: false,
            rule: rule,
            meaning: meaning,
            value: { .word(word($0[keyPath: path])) },
            set: { profile, value in
                guard case .word(let text) = value,
                    let choice = Choice.allCases.first(where: { word($0) == text })
                else { return false }
                profile[keyPath: path] = choice
                return true
            }
        )
    }

    /// Some time, and at most ten years: all that a file can say.
    private static let times = Instant.Span.milliseconds(1)...Instant.Span.seconds(3_660 * 24 * 3_600)
}

/// One switch or figure that a scenario or a command line sets.
package struct SettingChange: Hashable, Sendable {
    /// Of a ``ProfileSetting``.
    package let name: String
    package let value: SettingValue

    /// Nil when there is no setting of that name, or it takes no such value.
    package init?(_ name: String, _ value: SettingValue) {
        guard ProfileSetting.named(name)?.allows(value) == true else { return nil }
        self.name = name
        self.value = value
    }

    package var setting: ProfileSetting {
        guard let setting = ProfileSetting.named(name) else { preconditionFailure("there is no setting \(name)") }
        return setting
    }
}

extension Profile {
    /// The profile with some switches and figures set; of two changes of one setting the later counts.
    package func with(_ changes: [SettingChange]) -> Profile {
        var profile = self
        for change in changes where !change.setting.set(change.value, of: &profile) {
            preconditionFailure("\(change.name) does not take \(change.value)")
        }
        return profile
    }
}

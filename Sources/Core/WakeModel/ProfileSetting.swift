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

    /// A figure whose type says what values it takes.
    init<Figure: SettingFigure>(_ name: String, _ path: Path<Figure>, _ rule: RuleID, _ meaning: String) {
        self.init(name, path, Figure.kind, rule, meaning)
    }

    /// A number of some unit.
    init<Figure: SettingFigure>(
        _ name: String,
        _ path: Path<Figure>,
        _ range: ClosedRange<UInt32>,
        _ unit: String,
        _ rule: RuleID,
        _ meaning: String
    ) {
        self.init(name, path, .count(range, unit: unit), rule, meaning)
    }

    /// A time with bounds of its own.
    init<Figure: SettingFigure>(
        _ name: String,
        _ path: Path<Figure>,
        _ range: ClosedRange<Instant.Span>,
        _ rule: RuleID,
        _ meaning: String
    ) {
        self.init(name, path, .time(range), rule, meaning)
    }

    private init<Figure: SettingFigure>(
        _ name: String,
        _ path: Path<Figure>,
        _ kind: Kind,
        _ rule: RuleID,
        _ meaning: String
    ) {
        self.name = name
        self.kind = kind
        self.canBeOff = Figure.canBeOff
        self.rule = rule
        self.meaning = meaning
        value = { $0[keyPath: path].setting }
        set = { profile, value in
            guard let figure = Figure(value) else { return false }
            profile[keyPath: path] = figure
            return true
        }
    }

    typealias Path<Figure> = WritableKeyPath<Profile, Figure> & Sendable

    /// A quarter of the way around the Earth: distances up to it grow with their chords.
    static let metres: UInt32 = 10_000_000

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

/// What a profile may have of a setting.
package protocol SettingFigure: Sendable {
    static var kind: ProfileSetting.Kind { get }
    /// Whether there may be no limit.
    static var canBeOff: Bool { get }
    /// Nil where the value is of another kind.
    init?(_ value: SettingValue)
    var setting: SettingValue { get }
}

extension SettingFigure {
    package static var canBeOff: Bool { false }
}

extension Bool: SettingFigure {
    package static var kind: ProfileSetting.Kind { .flag }
    package init?(_ value: SettingValue) {
        guard case .flag(let flag) = value else { return nil }
        self = flag
    }
    package var setting: SettingValue { .flag(self) }
}

extension UInt32: SettingFigure {
    package static var kind: ProfileSetting.Kind { .count(.min ... .max, unit: "") }
    package init?(_ value: SettingValue) {
        guard case .count(let count) = value else { return nil }
        self = count
    }
    package var setting: SettingValue { .count(self) }
}

extension Instant.Span: SettingFigure {
    /// Some time, and at most ten years: all that a file can say.
    package static var kind: ProfileSetting.Kind { .time(.milliseconds(1)...(.seconds(3_660 * 24 * 3_600))) }
    package init?(_ value: SettingValue) {
        guard case .time(let time) = value else { return nil }
        self = time
    }
    package var setting: SettingValue { .time(self) }
}

extension Int64: SettingFigure {
    package static var kind: ProfileSetting.Kind { .code }
    package init?(_ value: SettingValue) {
        guard case .code(let code) = value else { return nil }
        self = code
    }
    package var setting: SettingValue { .code(self) }
}

/// A limit that may be lifted.
extension Optional: SettingFigure where Wrapped: SettingFigure {
    package static var kind: ProfileSetting.Kind { Wrapped.kind }
    package static var canBeOff: Bool { true }
    package init?(_ value: SettingValue) {
        if value == .off {
            self = .none
            return
        }
        guard let figure = Wrapped(value) else { return nil }
        self = figure
    }
    package var setting: SettingValue { self?.setting ?? .off }
}

extension SettingFigure where Self: Worded {
    package static var kind: ProfileSetting.Kind { .words(allCases.map(\.word)) }
    package init?(_ value: SettingValue) {
        guard case .word(let word) = value else { return nil }
        self.init(word: word)
    }
    package var setting: SettingValue { .word(word) }
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

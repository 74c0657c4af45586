import WakeModel

/// The parts of a decision line that are the same in many lines, made once.
final class DecisionFragments {
    let phone: Fragment
    /// `,"source":"bluetooth","kind":"peripheral-connected","subject":`
    let kinds: [Fragment]
    let verdicts: [Fragment]
    let reasons: [Fragment]
    let rules: [Fragment]
    let wouldHave: [Fragment]
    /// `"pending-connect"`
    let registrations: [Fragment]
    /// `"user-force-quit"`
    let exitCauses: [Fragment]
    /// By mode, then by reason: kinds of one background mode share theirs. Made when first needed: a run has a handful of all.
    private var fixes: [Fragment?]
    /// `"ForceQuit":`
    let reasonKeys: [Fragment]
    /// `,"cleared_by":["user launch","reboot"]`
    let forceQuitClearedBy: Fragment
    /// What each check shows of the profile, such as `,"limit_ms":10000`.
    let figures: [Fragment]
    /// By check, result and whether it decided.
    private let checks: [Fragment]
    private var modeLists: [UInt16: Fragment] = [:]
    private var numbers = Numbers()

    /// Numbers fragments.
    private struct Numbers {
        /// Above the bytes and marks that records are signed with, below where literals lie.
        private var next: UInt64 = 0x1000

        mutating func fragment(_ bytes: [UInt8]) -> Fragment {
            next += 1
            return Fragment(number: next, bytes: bytes)
        }

        mutating func fragment(_ text: String) -> Fragment { fragment(Array(text.utf8)) }

        mutating func fragment(_ write: (inout LineBuffer) -> Void) -> Fragment {
            fragment(DecisionFragments.line(write))
        }
    }

    init(_ header: LogHeader, profile: Profile) {
        let changes = Self.changes(header.settings)
        var numbers = Numbers()
        phone = numbers.fragment { line in
            line.append(",\"phone\":")
            line.append(quoted: header.phone)
            line.append(",\"t\":")
        }
        kinds = EventKind.allCases.map { kind in
            numbers.fragment(",\"source\":\"\(kind.source.word)\",\"kind\":\"\(kind.word)\",\"subject\":")
        }
        verdicts = Verdict.allCases.map { numbers.fragment(",\"verdict\":\"\($0.word)\"") }
        reasons = Reason.allCases.map { numbers.fragment(",\"reason\":\"\($0.word)\"") }
        rules = RuleID.allCases.map { rule in
            let assumed = RuleCatalogue.entry(rule).assumed.map { ",\"assumed\":\"\($0)\"" } ?? ""
            return numbers.fragment(Array(",\"rule\":\"\(rule.text)\"\(assumed)".utf8) + (changes[rule] ?? []))
        }
        wouldHave = Verdict.allCases.map { numbers.fragment("\"verdict\":\"\($0.word)\"") }
        registrations = Registration.allCases.map { numbers.fragment("\"\($0.word)\"") }
        exitCauses = ExitCause.allCases.map { numbers.fragment("\"\($0.word)\"") }
        fixes = Array(repeating: nil, count: BackgroundMode.allCases.count * Reason.allCases.count)
        reasonKeys = Reason.allCases.map { numbers.fragment("\"\($0.word)\":") }
        forceQuitClearedBy = numbers.fragment { line in
            line.append(",\"cleared_by\":")
            line.append(list: ["user launch"] + (profile.rebootLiftsForceQuit ? ["reboot"] : []))
        }
        figures = Observer.byCheck.map { observer in numbers.fragment { observer.figures(profile, &$0) } }
        checks = Self.checks(&numbers, changes: changes)
        self.numbers = numbers
    }

    /// By check, result and whether it decided.
    private static func checks(_ numbers: inout Numbers, changes: [RuleID: [UInt8]]) -> [Fragment] {
        var checks: [Fragment] = []
        for check in Check.allCases {
            let set = changes[check.rule] ?? []
            for result in CheckResult.allCases {
                checks.append(numbers.fragment(Self.check(check, result, decisive: false) + set))
                checks.append(numbers.fragment(Self.check(check, result, decisive: true) + set))
            }
        }
        return checks
    }

    /// An object with the rule, the question and the result, open at its end.
    func check(_ check: Check, _ result: CheckResult, decisive: Bool) -> Fragment {
        checks[(Int(check.rawValue) * 4 + Int(result.rawValue)) * 2 + (decisive ? 1 : 0)]
    }

    /// What to do about a reason.
    func fix(_ reason: Reason, of kind: EventKind) -> Fragment {
        let place = Int(kind.mode.rawValue) * Reason.allCases.count + Int(reason.rawValue)
        if let fix = fixes[place] { return fix }
        let list = ReasonText.advice(reason, of: kind.mode).map { [$0] } ?? []
        let fix = numbers.fragment { $0.append(list: list) }
        fixes[place] = fix
        return fix
    }

    /// `"bluetooth-central, fetch"`, or `"none"`.
    func modes(_ modes: BackgroundModes) -> Fragment {
        if let list = modeLists[modes.rawValue] { return list }
        let words = modes.members.map(\.plistValue)
        let list = numbers.fragment { $0.append(quoted: words.isEmpty ? "none" : words.joined(separator: ", ")) }
        modeLists[modes.rawValue] = list
        return list
    }

    static let reasonsByWord = Reason.allCases.sorted { $0.word < $1.word }

    /// What was set of the figures and switches of each rule, such as `,"set":{"wakeWindow":"first"}`.
    private static func changes(_ settings: [String: String]) -> [RuleID: [UInt8]] {
        var byRule: [RuleID: [ProfileSetting]] = [:]
        for setting in ProfileSetting.all where settings[setting.name] != nil {
            byRule[setting.rule, default: []].append(setting)
        }
        return byRule.mapValues { members in
            line { line in
                for (position, setting) in members.enumerated() {
                    line.append(position == 0 ? ",\"set\":{" as StaticString : ",")
                    line.append(quoted: setting.name)
                    line.append(":")
                    line.append(quoted: settings[setting.name] ?? "")
                }
                line.append("}")
            }
        }
    }

    private static func check(_ check: Check, _ result: CheckResult, decisive: Bool) -> [UInt8] {
        line { line in
            line.append("{\"rule\":")
            line.append(quoted: check.rule.text)
            line.append(",\"name\":")
            line.append(quoted: check.statement)
            line.append(",\"result\":")
            line.append(quoted: result.word)
            if decisive { line.append(",\"decisive\":true") }
            guard result == .fail else { return }
            line.append(",\"confidence\":")
            let entry = RuleCatalogue.entry(check.rule)
            line.append(quoted: entry.confidence.word)
            guard let assumed = entry.assumed else { return }
            line.append(",\"assumed\":")
            line.append(quoted: assumed)
        }
    }

    private static func line(_ write: (inout LineBuffer) -> Void) -> [UInt8] {
        var line = LineBuffer()
        write(&line)
        return line.bytes
    }
}

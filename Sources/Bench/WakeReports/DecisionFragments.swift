import WakeModel
import WakeRouter

/// The parts of a decision line that are the same in many lines, made once.
final class DecisionFragments {
    let phone: Fragment
    /// `,"source":"bluetooth","kind":"peripheral-connected","subject":`
    let kinds: [Fragment]
    let verdicts: [Fragment]
    let reasons: [Fragment]
    let rules: [Fragment]
    let wouldHave: [Fragment]
    /// By source, then by reason.
    private let fixes: [Fragment]
    /// `"ForceQuit":`
    let reasonKeys: [Fragment]
    /// `,"cleared_by":["user launch","reboot"]`
    let forceQuitClearedBy: Fragment
    /// `,"limit":15,"window_ms":300000}`
    let voipWakeLimit: Fragment
    /// `,"limit_ms":10000`
    let silenceLimit: Fragment
    /// `,"dwell_ms":20000`
    let dwell: Fragment
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
    }

    init(_ header: LogHeader, profile: Profile) {
        let changes = Self.changes(header.settings)
        var numbers = Numbers()
        let head = Self.line { line in
            line.append(",\"phone\":")
            line.append(quoted: header.phone)
            line.append(",\"t\":")
        }
        self.phone = numbers.fragment(head)
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
        var fixes: [Fragment] = []
        for kind in EventKind.allCases {
            for reason in Reason.allCases {
                let list = Advice.fix(reason, of: kind).map { [$0] } ?? []
                fixes.append(numbers.fragment(Self.line { $0.append(list: list) }))
            }
        }
        self.fixes = fixes
        reasonKeys = Reason.allCases.map { numbers.fragment("\"\($0.word)\":") }
        let forceQuitClearedBy = Self.line {
            $0.append(",\"cleared_by\":")
            $0.append(list: ["user launch"] + (profile.rebootLiftsForceQuit ? ["reboot"] : []))
        }
        let voipWakeLimit = Self.line {
            if let limit = profile.voipWakeLimit {
                $0.append(",\"limit\":")
                $0.append(UInt64(limit))
            }
            $0.append(",\"window_ms\":")
            $0.append(profile.voipWakeWindow.milliseconds)
            $0.append("}")
        }
        let silenceLimit = Self.line {
            guard let limit = profile.audioSilenceLimit else { return }
            $0.append(",\"limit_ms\":")
            $0.append(limit.milliseconds)
        }
        let dwell = Self.line {
            $0.append(",\"dwell_ms\":")
            $0.append(profile.regionDwell.milliseconds)
        }
        self.forceQuitClearedBy = numbers.fragment(forceQuitClearedBy)
        self.voipWakeLimit = numbers.fragment(voipWakeLimit)
        self.silenceLimit = numbers.fragment(silenceLimit)
        self.dwell = numbers.fragment(dwell)
        var checks: [Fragment] = []
        for check in Check.allCases {
            for result in CheckResult.allCases {
                checks.append(
                    numbers.fragment(Self.check(check, result, decisive: false) + (changes[check.rule] ?? []))
                )
                checks.append(numbers.fragment(Self.check(check, result, decisive: true) + (changes[check.rule] ?? [])))
            }
        }
        self.checks = checks
        self.numbers = numbers
    }

    /// An object with the rule, the question and the result, open at its end.
    func check(_ check: Check, _ result: CheckResult, decisive: Bool) -> Fragment {
        checks[(Int(check.rawValue) * 4 + Int(result.rawValue)) * 2 + (decisive ? 1 : 0)]
    }

    /// What to do about a reason.
    func fix(_ reason: Reason, of kind: EventKind) -> Fragment {
        fixes[Int(kind.rawValue) * Reason.allCases.count + Int(reason.rawValue)]
    }

    /// A list of background modes.
    func modes(_ modes: BackgroundModes) -> Fragment {
        if let list = modeLists[modes.rawValue] { return list }
        let list = numbers.fragment(Self.line { $0.append(list: modes.members.map(\.plistValue)) })
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

import WakeModel
import WakeRouter

/// The parts of a decision line that are the same in many lines, made once.
final class DecisionFragments {
    let phone: [UInt8]
    /// `,"source":"bluetooth","kind":"peripheral-connected","subject":`
    let kinds: [[UInt8]]
    let verdicts: [[UInt8]]
    let reasons: [[UInt8]]
    let rules: [[UInt8]]
    let wouldHave: [[UInt8]]
    /// By source, then by reason.
    private let fixes: [[UInt8]]
    let censusOfOneWoken: [UInt8]
    let censusOfOne: [[UInt8]]
    /// Of an event that is for no app, by reason.
    let censusOfNobody: [[UInt8]]
    /// `,"cleared_by":["user launch","reboot"]`
    let forceQuitClearedBy: [UInt8]
    /// `,"limit":15,"window_ms":300000}`
    let voipWakeLimit: [UInt8]
    /// `,"limit_ms":10000`
    let silenceLimit: [UInt8]
    /// `,"dwell_ms":20000`
    let dwell: [UInt8]
    /// By check, result and whether it decided.
    private let checks: [[UInt8]]
    private var modeLists: [UInt16: [UInt8]] = [:]

    init(phone: String, profile: Profile) {
        self.phone = Self.line { line in
            line.append(",\"phone\":")
            line.append(quoted: phone)
            line.append(",\"t\":")
        }
        kinds = EventKind.allCases.map { kind in
            Array(",\"source\":\"\(kind.source.word)\",\"kind\":\"\(kind.word)\",\"subject\":".utf8)
        }
        verdicts = Verdict.allCases.map { Array(",\"verdict\":\"\($0.word)\"".utf8) }
        reasons = Reason.allCases.map { Array(",\"reason\":\"\($0.word)\"".utf8) }
        rules = RuleID.allCases.map { Array(",\"rule\":\"\($0.text)\"".utf8) }
        wouldHave = Verdict.allCases.map { Array("\"verdict\":\"\($0.word)\"".utf8) }
        fixes = EventKind.allCases.flatMap { kind in
            Reason.allCases.map { reason in
                Self.line { $0.append(list: Advice.fix(reason, of: kind).map { [$0] } ?? []) }
            }
        }
        let none = [UInt64](repeating: 0, count: Reason.allCases.count)
        censusOfOneWoken = Self.census(apps: 1, woke: 1, counts: none)
        func alone(_ reason: Reason, apps: UInt64) -> [UInt8] {
            var counts = none
            counts[Int(reason.rawValue)] = 1
            return Self.census(apps: apps, woke: 0, counts: counts)
        }
        censusOfOne = Reason.allCases.map { alone($0, apps: 1) }
        censusOfNobody = Reason.allCases.map { alone($0, apps: 0) }
        forceQuitClearedBy = Self.line {
            $0.append(",\"cleared_by\":")
            $0.append(list: ["user launch"] + (profile.rebootLiftsForceQuit ? ["reboot"] : []))
        }
        voipWakeLimit = Self.line {
            if let limit = profile.voipWakeLimit {
                $0.append(",\"limit\":")
                $0.append(UInt64(limit))
            }
            $0.append(",\"window_ms\":")
            $0.append(profile.voipWakeWindow.milliseconds)
            $0.append("}")
        }
        silenceLimit = Self.line {
            guard let limit = profile.audioSilenceLimit else { return }
            $0.append(",\"limit_ms\":")
            $0.append(limit.milliseconds)
        }
        dwell = Self.line {
            $0.append(",\"dwell_ms\":")
            $0.append(profile.regionDwell.milliseconds)
        }
        var checks: [[UInt8]] = []
        for check in Check.allCases {
            for result in CheckResult.allCases {
                checks.append(Self.check(check, result, decisive: false))
                checks.append(Self.check(check, result, decisive: true))
            }
        }
        self.checks = checks
    }

    /// An object with the rule, the question and the result, open at its end.
    func check(_ check: Check, _ result: CheckResult, decisive: Bool) -> [UInt8] {
        checks[(Int(check.rawValue) * 4 + Int(result.rawValue)) * 2 + (decisive ? 1 : 0)]
    }

    /// What to do about a reason.
    func fix(_ reason: Reason, of kind: EventKind) -> [UInt8] {
        fixes[Int(kind.rawValue) * Reason.allCases.count + Int(reason.rawValue)]
    }

    /// A list of background modes.
    func modes(_ modes: BackgroundModes) -> [UInt8] {
        if let list = modeLists[modes.rawValue] { return list }
        let list = Self.line { $0.append(list: modes.members.map(\.plistValue)) }
        modeLists[modes.rawValue] = list
        return list
    }

    private static let reasonsByWord = Reason.allCases.sorted { $0.word < $1.word }

    static func census(apps: UInt64, woke: UInt64, counts: [UInt64]) -> [UInt8] {
        line { line in
            line.append("{\"apps\":")
            line.append(apps)
            line.append(",\"woke\":")
            line.append(woke)
            line.append(",\"by_reason\":{")
            var first = true
            for reason in reasonsByWord where counts[Int(reason.rawValue)] > 0 {
                if !first { line.append(",") }
                first = false
                line.append(quoted: reason.word)
                line.append(":")
                line.append(counts[Int(reason.rawValue)])
            }
            line.append("}}")
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

import WakeModel

/// Which rules of the rulebook this version decides by.
package enum RuleCoverage {
    /// How far a rule goes.
    package enum Standing: Hashable, Sendable {
        case decided
        /// What is missing, as the end of a sentence.
        case inPart(without: String)
        case undecided

        /// The word in lists.
        package var word: String {
            switch self {
            case .decided: "decided"
            case .inPart: "in part"
            case .undecided: "not yet"
            }
        }
    }

    /// How far this version goes with a rule.
    package static func standing(of rule: RuleID) -> Standing {
        if let missing = missing[rule] { return .inPart(without: missing) }
        return owners.contains(rule) || deeds.contains(rule) ? .decided : .undecided
    }

    /// How far this version goes with a background mode: as far as with the rule that gives it its effect.
    package static func standing(of mode: BackgroundMode) -> Standing { standing(of: rule(of: mode)) }

    /// The rule that gives a background mode its effect.
    package static func rule(of mode: BackgroundMode) -> RuleID {
        switch mode {
        case .audio: .aud1
        case .location: .loc3
        case .voip: .voip2
        case .newsstandContent: .news1
        case .externalAccessory: .ea1
        case .bluetoothCentral: .btc1
        case .bluetoothPeripheral: .btp1
        case .fetch: .fetch1
        case .remoteNotification: .push1
        case .processing: .bgt1
        }
    }

    /// The rules with a check, a reason, or a switch or figure of a profile.
    private static let owners = Set(
        Check.allCases.map(\.rule) + Reason.allCases.map(\.rule) + ProfileSetting.all.map(\.rule)
            + Router.rulesOfWaiting
    )

    /// The rules that show in what the phone does and not in a record: moves, callbacks, answers and ends. Tests name each.
    private static let deeds: Set<RuleID> = [
        .life1, .life3, .life5, .life6, .life10, .launch7, .task1, .task5, .task6, .task7, .task8, .mode1, .mode3,
        .loc9,
        .reg5, .reg6, .bcn3, .aud9, .aud10, .voip7, .voip8, .btc5, .btc7, .btc9, .btp2, .btp3, .opt1, .sys3,
    ]

    /// What is missing of the rules that are decided in part.
    private static let missing: [RuleID: String] = [
        .launch2: "VoIP pushes (PUSH-6)",
        .launch8: "pushes",
        .mode2: "the modes whose sources are missing: "
            + BackgroundMode.allCases.filter { !isOwned(rule(of: $0)) }.map(\.plistValue).joined(separator: ", "),
        .resp3: "sockets that were never marked for VoIP",
        .cpu2: "the kill where an answer is demanded, and lower chances later",
        .pwr1: "all but the time of the location receiver (LOC-9)",
        .sys1: "shutdown, display off, charger and network",
        .sys2: "transfers, background tasks and notifications, which are missing themselves",
    ]

    private static func isOwned(_ rule: RuleID) -> Bool { owners.contains(rule) || deeds.contains(rule) }
}

import WakeModel

/// What the energy of an app goes to in the bench's own model (PWR-1): a charge a row of Tables/energy.tsv.
///
/// No phone is measured: the figures are assumed, so that accounts compare apps with each other, and a run with the one before.
package struct EnergyModel: Sendable {
    /// What is charged for.
    package enum Charge: String, CaseIterable, Worded, Sendable {
        /// A suspended app was resumed.
        case wake
        /// A process was started for an event.
        case relaunch
        /// A second in the background.
        case background
        /// An event of the radio that the app was given.
        case radio
        /// A second of the location receiver (LOC-9).
        case receiver
        /// A second of a processor that the app's processes used, as measured.
        case processor
        /// A million bytes that the system carried for the app, up or down.
        case traffic
    }

    /// A row of energy.tsv.
    package struct Row: Sendable {
        package let charge: Charge
        /// What is counted, such as `wake` or `second`.
        package let unit: String
        /// Whose events are charged for, as records name it; nil for what is no event.
        package let source: String?
        /// For one of them.
        package var millijoules: Double
        package let meaning: String
    }

    /// In the order of ``Charge``.
    package private(set) var rows: [Row]

    /// The figures that are shipped.
    package init() {
        do throws(TableError) {
            rows = try Self.rows(EmbeddedFile.energyTSV)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Reads energy.tsv.
    ///
    /// - Throws: with the line, where a charge is missing, is there twice or is none, or a cell says nothing.
    static func rows(_ bytes: [UInt8]) throws(TableError) -> [Row] {
        let table = try Table("energy.tsv", bytes, columns: ["charge", "unit", "source", "millijoules", "meaning"])
        var rows: [Row] = []
        for (charge, row) in zip(Charge.allCases, try table.rows(of: Charge.self, by: "charge", name: \.rawValue)) {
            rows.append(
                Row(
                    charge: charge,
                    unit: try row.filled("unit"),
                    source: row["source"],
                    millijoules: try row.value("millijoules") {
                        Double($0).flatMap { Self.allowed.contains($0) ? $0 : nil }
                    },
                    meaning: try row.filled("meaning")
                )
            )
        }
        return rows
    }

    /// Millijoules that one charge may cost.
    package static let allowed = 0.0...1_000_000

    /// What one of a charge costs, in millijoules.
    package subscript(charge: Charge) -> Double {
        get { rows[Charge.allCases.firstIndex(of: charge)!].millijoules }
        set { rows[Charge.allCases.firstIndex(of: charge)!].millijoules = newValue }
    }
}

/// Where the energy of one app went in a run (PWR-1).
package struct EnergyAccount: Sendable {
    /// The bundle identifier.
    package let app: String
    /// How much of each charge there was, in its unit.
    package private(set) var counts: [EnergyModel.Charge: Double] = [:]

    /// In millijoules.
    package func total(by model: EnergyModel) -> Double {
        EnergyModel.Charge.allCases.reduce(0) { $0 + cost(of: $1, by: model) }
    }

    /// In millijoules.
    func cost(of charge: EnergyModel.Charge, by model: EnergyModel) -> Double { (counts[charge] ?? 0) * model[charge] }

    /// The dearest first, equals as they were.
    static func dearest(_ accounts: [EnergyAccount], by model: EnergyModel) -> [EnergyAccount] {
        let sorted = accounts.enumerated().sorted {
            let (one, other) = ($0.element.total(by: model), $1.element.total(by: model))
            return one != other ? one > other : $0.offset < $1.offset
        }
        return sorted.map(\.element)
    }

    /// The accounts of a run's apps, in the order of the scenario.
    package static func all(of log: RunLog) -> [EnergyAccount] {
        let apps = log.apps
        let rows = EnergyModel().rows
        let places = Dictionary(uniqueKeysWithValues: apps.enumerated().map { ($1, $0) })
        var accounts = apps.map { EnergyAccount(app: $0) }
        func charge(_ charge: EnergyModel.Charge, _ amount: Double, to app: String) {
            if let place = places[app] { accounts[place].counts[charge, default: 0] += amount }
        }
        for decision in log.decisions where decision.verdict.delivers {
            guard let app = decision.app else { continue }
            if decision.verdict == .resume { charge(.wake, 1, to: app) }
            if decision.verdict == .relaunch { charge(.relaunch, 1, to: app) }
            for row in rows where row.source == decision.source { charge(row.charge, 1, to: app) }
        }
        var since: [String: Instant] = [:]
        for move in log.moves {
            if let began = since.removeValue(forKey: move.app) {
                charge(.background, Self.seconds(move.at.since(began)), to: move.app)
            }
            if move.to == .background { since[move.app] = move.at }
        }
        for (app, began) in since.sorted(by: { $0.key < $1.key }) {
            charge(.background, Self.seconds(log.end.since(began)), to: app)
        }
        for (app, time) in log.receiver { charge(.receiver, Self.seconds(time), to: app) }
        for usage in log.usage { charge(.processor, Double(usage.processor.nanoseconds) / 1e9, to: usage.app) }
        for entry in log.traffic {
            charge(.traffic, (Double(entry.sent) + Double(entry.received)) / 1e6, to: entry.app)
        }
        return accounts
    }

    /// A table of accounts for people, the dearest first, with a heading, a total, and what the figures are.
    package static func lines(_ accounts: [EnergyAccount], by model: EnergyModel, width: Int? = nil) -> [String] {
        let sum = accounts.reduce(0) { $0 + $1.total(by: model) }
        let charges = EnergyModel.Charge.allCases
        let heading = ["APP"] + charges.map { $0.word.uppercased() } + ["JOULES", "SHARE"]
        let rows = dearest(accounts, by: model).map { account in
            let total = account.total(by: model)
            let parts = charges.map { joules(account.cost(of: $0, by: model)) }
            let share = sum > 0 ? "\(Int((total / sum * 100).rounded())) %" : "-"
            return [account.app] + parts + [joules(total), share]
        }
        return TextTable.lines([heading] + rows, width: width) + [
            "",
            "\(joules(sum)) J in all; the bench's own model (PWR-1), of assumed figures: "
                + model.rows.map { "\($0.charge.word) \(figure($0.millijoules)) mJ per \($0.unit)" }.joined(
                    separator: ", "
                ),
        ]
    }

    /// None where the times of a log go back.
    private static func seconds(_ span: Instant.Span) -> Double { Double(max(0, span.milliseconds)) / 1_000 }

    /// With three places; of more than can be is as much as a number can say.
    private static func joules(_ millijoules: Double) -> String {
        let whole = Int64(exactly: millijoules.rounded()) ?? .max
        let rest = String(whole % 1_000)
        return "\(whole / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    private static func figure(_ value: Double) -> String {
        value == value.rounded() ? String(Int64(value)) : String(value)
    }
}

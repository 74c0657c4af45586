/// Where the energy of a run's apps went, for programs: `wake.blame/1`.
package struct BlamePage: Encodable, Sendable {
    struct Cost: Encodable {
        var charge: String
        /// In the unit of the charge.
        var count: Double
        var millijoules: Double
    }

    struct App: Encodable {
        /// The bundle identifier.
        var app: String
        var charges: [Cost]
        var millijoules: Double
        /// From 0 to 1; nil where nothing was spent at all.
        var share: Double?
    }

    /// What one of a charge costs.
    struct Figure: Encodable {
        var charge: String
        var unit: String
        var millijoules: Double
    }

    var schema = "wake.blame/1"
    var ok = true
    /// The run's.
    var folder: String
    /// In all.
    var millijoules: Double
    /// The dearest first.
    var apps: [App]
    var model: [Figure]

    package init(_ accounts: [EnergyAccount], by model: EnergyModel, folder: String) {
        self.folder = folder
        let sum = accounts.reduce(0) { $0 + $1.total(by: model) }
        millijoules = sum
        apps = EnergyAccount.dearest(accounts, by: model).map { account in
            let charges = EnergyModel.Charge.allCases.map { charge in
                Cost(
                    charge: charge.word,
                    count: account.counts[charge] ?? 0,
                    millijoules: account.cost(of: charge, by: model)
                )
            }
            let total = account.total(by: model)
            return App(app: account.app, charges: charges, millijoules: total, share: sum > 0 ? total / sum : nil)
        }
        self.model = model.rows.map { Figure(charge: $0.charge.word, unit: $0.unit, millijoules: $0.millijoules) }
    }
}

/// What the first line of a log says of its run.
package struct LogHeader: Hashable, Sendable {
    /// The version of the program.
    package var version: String
    /// The name of the emulated phone.
    package var phone: String
    package var seed: UInt64
    package var profile: String
    /// What two runs with this header have in common: `router` when their decisions are byte-identical.
    package var determinism: String
    /// What was set for the run, such as backends and settings of the profile by name; written in the order of the keys.
    package var settings: [String: String]

    package init(
        version: String,
        phone: String,
        seed: UInt64,
        profile: String,
        determinism: String,
        settings: [String: String] = [:]
    ) {
        self.version = version
        self.phone = phone
        self.seed = seed
        self.profile = profile
        self.determinism = determinism
        self.settings = settings
    }

    func write(into line: inout LineBuffer) {
        line.begin("wake.log/2")
        line.put("version", version)
        line.put("phone", phone)
        line.put("seed", seed)
        line.put("profile", profile)
        line.put("determinism", determinism)
        line.put("settings") { line in
            line.append("{")
            for setting in settings.sorted(by: { $0.key < $1.key }) {
                line.key(setting.key)
                line.append(quoted: setting.value)
            }
            line.append("}")
        }
        line.append("}")
    }
}

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
        line.append("{\"schema\":\"wake.log/2\",\"version\":")
        line.append(quoted: version)
        line.append(",\"phone\":")
        line.append(quoted: phone)
        line.append(",\"seed\":")
        line.append(seed)
        line.append(",\"profile\":")
        line.append(quoted: profile)
        line.append(",\"determinism\":")
        line.append(quoted: determinism)
        line.append(",\"settings\":{")
        for (position, setting) in settings.sorted(by: { $0.key < $1.key }).enumerated() {
            if position > 0 { line.append(",") }
            line.append(quoted: setting.key)
            line.append(":")
            line.append(quoted: setting.value)
        }
        line.append("}}")
    }
}

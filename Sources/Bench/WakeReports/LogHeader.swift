import WakeJSON

/// What the first line of a log says of its run.
package struct LogHeader: LogLine, Hashable, Sendable {
    /// The version of the program.
    package var version: String
    /// The name of the emulated phone.
    package var phone: String
    package var seed: UInt64
    package var profile: String
    /// What two runs with this header have in common: `router` when their decisions are byte-identical.
    package var determinism: String
    /// What was set for the run, such as backends and settings of the profile by name; written in the order of the keys.
    package var settings: [String: String] = [:]

    package static let schema = "wake.log/2"
    package static let blank = LogHeader(version: "", phone: "", seed: 0, profile: "", determinism: "")

    package mutating func code(with coder: inout RecordCoder) {
        coder.code("version", &version)
        coder.code("phone", &phone)
        coder.code("seed", &seed)
        coder.code("profile", &profile)
        coder.code("determinism", &determinism)
        coder.code("settings", &settings)
    }
}

extension LogHeader {
    /// Whether the run's clock was its own: it needs no processes, or theirs began at the run's date.
    package var isVirtual: Bool { determinism == "router" || settings["date"] != nil }

    /// Reads the first line of a log of any version; nil when it is none.
    init?(firstLine line: JSONValue) {
        guard line["schema"]?.string?.hasPrefix("wake.log/") == true else { return nil }
        self.init(line)
    }
}

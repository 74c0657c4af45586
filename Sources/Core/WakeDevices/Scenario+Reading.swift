import WakeModel

extension Scenario {
    /// Reads a scenario and the device files that it names.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    package static func load(file: String, searchFolders: [String] = []) throws(FileError) -> Scenario {
        try load(file: file, files: ScenarioFiles(searchFolders: searchFolders))
    }

    /// Reads a scenario and the device files that it names, from where `files` has them.
    package static func load(file: String, files: ScenarioFiles) throws(FileError) -> Scenario {
        try parse(try files.read(file), file: file, files: files)
    }

    /// Reads the text of a scenario; `file` is for errors and for finding what lies beside it.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        files: ScenarioFiles = ScenarioFiles()
    ) throws(FileError) -> Scenario {
        try ScenarioReading(files: files).scenario(try YAMLReader.read(bytes, file: file))
    }
}

/// Reads a scenario top down: devices, then the apps that use them, then the steps and expectations that name both.
final class ScenarioReading {
    /// The most apps, and the most devices, of a scenario.
    static let memberLimit = 10_000

    let files: ScenarioFiles
    let verbs = ScenarioReading.verbs
    var appNames = ScenarioRoster(of: "app")
    var deviceNames = ScenarioRoster(of: "device")
    var apps: [ScenarioApp] = []
    var devices: [ScenarioDevice] = []

    init(files: ScenarioFiles) { self.files = files }

    func scenario(_ root: YAMLNode) throws(FileError) -> Scenario {
        let fields = try Fields(
            root,
            of: "a scenario",
            keys: [
                "scenario", "profile", "settings", "seed", "backends", "phone", "apps", "devices", "steps", "expect",
                "until",
            ] + Self.settingPrefixes
        )
        let name = try fields.required("scenario").text(expecting: "a name")
        for node in try fields["devices"]?.list(expecting: "devices") ?? [] { try addDevices(node) }
        for node in try fields.required("apps").list(expecting: "apps") { try addApps(node) }
        return Scenario(
            file: root.file,
            name: name,
            profile: try fields["profile"]?.word("profile", of: Profile.all, \.name),
            seed: try (fields["seed"]?.integer(in: 0...Int.max)).map(UInt64.init),
            backends: try backends(fields["backends"]),
            phone: try phone(fields["phone"]),
            settings: try settings(fields),
            apps: apps,
            devices: devices,
            steps: try steps(fields["steps"]),
            expectations: try fields.list("expect", of: "expectations") { (node) throws(FileError) in
                try expectation(node)
            },
            until: try fields["until"]?.interval()
        )
    }

    // MARK: Entries under apps and devices

    func count(_ fields: Fields) throws(FileError) -> Int? {
        try fields["count"]?.integer(in: 1...Self.memberLimit)
    }

    func checkTotal(_ total: Int, of what: String, _ node: YAMLNode) throws(FileError) {
        if total > Self.memberLimit {
            throw node.error(found: "\(total) \(what)", expected: "at most \(Self.memberLimit)")
        }
    }

    func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        return String(name.prefix { $0 != "." })
    }
}

import WakeModel

/// The section `apps` of a scenario.
extension ScenarioReading {
    private static let forms = ["bundle", "scripted"]
    private static let common = ["name", "authorizations"]
    /// What only a scripted app has.
    private static let script = [
        "count", "peripheral", "modes", "restore-identifier", "exits-on-suspend", "uses", "scan", "location",
        "accessory", "audio", "on", "voip", "sdk", "accessory-setup",
    ]

    mutating func addApps(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "an app", keys: Self.forms + Self.common + Self.script)
        let (form, value) = try fields.one(of: Self.forms, called: "a kind")
        let bluetooth = try BluetoothAuthorization(fields["authorizations"])
        let microphone = try MicrophonePermission(fields["authorizations"])
        let answer = try backgroundLocation(fields["authorizations"])
        let added = form == "bundle" ? try bundle(fields, value) : try scripted(fields, value)
        for (name, group, form) in added {
            apps.append(
                ScenarioApp(
                    name: name,
                    group: group,
                    line: node.line,
                    form: form,
                    bluetoothAuthorization: bluetooth,
                    microphone: microphone,
                    keepsWhenInUse: answer == .keepWhenInUse
                )
            )
        }
    }

    /// Reads what the user answers at the first event in the background; nil when nothing is said.
    private func backgroundLocation(_ node: YAMLNode?) throws(FileError) -> UserAction? {
        guard let node else { return nil }
        let fields = try Fields(node, of: "authorizations", keys: authorizations)
        return try fields["background-location"].map { (node) throws(FileError) in try Self.backgroundLocation(node) }
    }

    /// What the user answers at the first event in the background (LOC-10).
    static func backgroundLocation(_ node: YAMLNode) throws(FileError) -> UserAction {
        let words: [LocationAuthorization] = [.always, .whenInUse]
        return try node.word("answer", among: words.map(\.word)) { word -> UserAction? in
            switch LocationAuthorization(word: word) {
            case .always: .allowAlways
            case .whenInUse: .keepWhenInUse
            default: nil
            }
        }
    }

    private typealias Member = (name: String, group: String, form: ScenarioApp.Form)

    private mutating func bundle(_ fields: Fields, _ node: YAMLNode) throws(FileError) -> [Member] {
        try fields.refuse(Self.script, beside: "bundle")
        let path = try files.find(node, "app bundle", isThere: files.isFolder)
        let names = try appNames.add(fields["name"], default: stem(path), count: nil, entry: node)
        return [(names[0], names[0], .bundle(path))]
    }

    private mutating func scripted(_ fields: Fields, _ node: YAMLNode) throws(FileError) -> [Member] {
        let identifier = try bundleIdentifier(node)
        let count = try count(fields)
        let last = String(identifier.split(separator: ".").last ?? "")
        let names = try appNames.add(fields["name"], default: last, count: count, entry: node)
        try checkTotal(apps.count + names.count, of: "apps", fields.node)
        let script = try ScriptReading(fields, devices: devices)
        var members: [Member] = []
        for (index, name) in names.enumerated() {
            let app = try script.app(
                count == nil ? identifier : "\(identifier).\(index + 1)",
                member: index + 1,
                &deviceNames
            )
            members.append((name, count == nil ? name : String(name.prefix { $0 != "." }), .scripted(app)))
        }
        return members
    }

    private func bundleIdentifier(_ node: YAMLNode) throws(FileError) -> String {
        let expected = "a bundle identifier such as com.example.heart"
        let text = try node.text(expecting: expected)
        let plain = text.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (Character(scalar).isLetter || Character(scalar).isNumber || scalar == "." || scalar == "-")
        }
        guard plain, (1...155).contains(text.utf8.count) else { throw node.error(expected: expected) }
        return text
    }
}

extension BluetoothAuthorization {
    /// Reads the `authorizations` of an app; what they leave out is allowed.
    fileprivate init(_ node: YAMLNode?) throws(FileError) {
        self = .allowed
        guard let node else { return }
        let fields = try Fields(node, of: "authorizations", keys: authorizations)
        guard let answer = fields["bluetooth"] else { return }
        let words = BluetoothAuthorization.allCases.map(\.word)
        self = try answer.word("authorization", among: words) { BluetoothAuthorization(word: $0) }
    }
}

/// What `authorizations` may name.
private let authorizations = ["bluetooth", "microphone", "background-location"]

extension MicrophonePermission {
    /// Reads the `authorizations` of an app; what they leave out is not decided yet.
    fileprivate init(_ node: YAMLNode?) throws(FileError) {
        self = .undetermined
        guard let node else { return }
        let fields = try Fields(node, of: "authorizations", keys: authorizations)
        guard let answer = fields["microphone"] else { return }
        self = try answer.word("permission", among: Self.allCases.map(\.word)) { MicrophonePermission(word: $0) }
    }
}

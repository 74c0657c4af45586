import WakeModel

/// The section `apps` of a scenario.
extension ScenarioReading {
    private static let forms = ["bundle", "scripted"]
    private static let common = ["name", "authorizations"]
    /// What only a scripted app has.
    private static let script = ["count", "modes", "exits-on-suspend", "on", "sdk"] + AreaUses.keys

    func addApps(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "an app", keys: Self.forms + Self.common + Self.script)
        let (form, value) = try fields.one(of: Self.forms, called: "a kind")
        let answers = try AreaAnswers(fields["authorizations"])
        let added = form == "bundle" ? try bundle(fields, value) : try scripted(fields, value)
        for (name, group, form) in added {
            apps.append(
                ScenarioApp(
                    name: name,
                    group: group,
                    line: node.line,
                    column: node.column,
                    form: form,
                    answers: answers
                )
            )
        }
    }

    private typealias Member = (name: String, group: String, form: ScenarioApp.Form)

    private func bundle(_ fields: Fields, _ node: YAMLNode) throws(FileError) -> [Member] {
        try fields.refuse(Self.script, beside: "bundle")
        let path = try files.find(node, "app bundle", isThere: files.isFolder)
        let names = try appNames.add(fields["name"], default: stem(path), count: nil, entry: node)
        return [(names[0], names[0], .bundle(path))]
    }

    private func scripted(_ fields: Fields, _ node: YAMLNode) throws(FileError) -> [Member] {
        let expected = "a bundle identifier such as com.example.heart"
        let identifier = try node.identifier(expected, marks: ".-", length: 1...155)
        let count = try count(fields)
        let last = String(identifier.split(separator: ".").last ?? "")
        let names = try appNames.add(fields["name"], default: last, count: count, entry: node)
        try checkTotal(apps.count + names.count, of: "apps", fields.node)
        let shared = try ScriptedApp(fields)
        var members: [Member] = []
        for (index, name) in names.enumerated() {
            var app = shared
            app.identifier = count == nil ? identifier : "\(identifier).\(index + 1)"
            let member = MemberDevices(devices: devices) { (node) throws(FileError) in
                try self.deviceNames.resolve(node, forMember: index + 1)
            }
            try app.areas.resolve(fields, member)
            members.append((name, count == nil ? name : String(name.prefix { $0 != "." }), .scripted(app)))
        }
        return members
    }
}

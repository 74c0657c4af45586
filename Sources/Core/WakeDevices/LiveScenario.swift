import WakeJSON
import WakeModel

/// A scenario that others say more to while it plays: apps that join it, and things that happen at once.
///
/// What is said is what a scenario file says, as JSON: an entry of its `apps`, or a step without a time.
package final class LiveScenario {
    package private(set) var scenario: Scenario
    private let reading: ScenarioReading

    /// Reads the scenario.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    package init(file: String, files: ScenarioFiles) throws(FileError) {
        reading = ScenarioReading(files: files)
        scenario = try reading.scenario(try YAMLReader.read(try files.read(file), file: file))
    }

    /// Takes in an entry of `apps`.
    ///
    /// - Returns: the positions of its apps.
    /// - Throws: ``FileError`` with what was expected; the scenario is as before.
    @discardableResult
    package func join(_ entry: JSONValue) throws(FileError) -> Range<Int> {
        let before = scenario.apps.count
        let (names, apps) = (reading.appNames, reading.apps)
        do throws(FileError) {
            try reading.addApps(node(entry))
        } catch {
            (reading.appNames, reading.apps) = (names, apps)
            throw error
        }
        scenario.apps = reading.apps
        return before..<scenario.apps.count
    }

    /// Lets steps call an app by its bundle identifier.
    package func call(_ app: Int, _ bundle: String) { reading.appNames.call(app, bundle) }

    /// The last apps that joined leave again: they could not be taken on.
    package func leave(_ range: Range<Int>) {
        precondition(range.upperBound == scenario.apps.count, "the last that joined leave first")
        for app in scenario.apps[range] { reading.appNames.remove(app.group) }
        reading.apps.removeSubrange(range)
        scenario.apps = reading.apps
    }

    /// What a step without a time does, such as `{"notify": "belt", "characteristic": "2A37", "value": "0049"}`.
    ///
    /// - Throws: ``FileError`` with what was expected.
    package func verb(_ step: JSONValue) throws(FileError) -> Verb {
        reading.appNames.forgetReferences()
        reading.deviceNames.forgetReferences()
        let keys = reading.verbs.flatMap { [$0.word] + $0.extras }
        let times = ["at", "after", "when", "within", "every", "times"]
        if let timed = step.members.first(where: { times.contains($0.key) && !keys.contains($0.key) }) {
            throw try node(step).error(
                found: "'\(timed.key)' in a step that happens at once",
                expected: "one without a time"
            )
        }
        return try reading.verb(try Fields(node(step), of: "a step", keys: keys))
    }

    /// The apps that a name means, such as `heart`, `a.3` or `a.*`.
    ///
    /// - Throws: ``FileError`` with the names that there are.
    package func apps(_ name: String) throws(FileError) -> [Int] {
        reading.appNames.forgetReferences()
        return try reading.appNames.resolve(node(.string(name)))
    }

    private func node(_ value: JSONValue) throws(FileError) -> YAMLNode {
        try YAMLNode(value, file: scenario.file)
    }
}

extension YAMLNode {
    /// What a JSON value says, as if it stood in a file.
    ///
    /// - Throws: ``FileError`` for a number that a file would not have.
    init(_ value: JSONValue, file: String) throws(FileError) {
        let content: Content
        switch value {
        case .null: content = .scalar("", quoted: false)
        case .bool(let value): content = .scalar(value ? "true" : "false", quoted: false)
        case .integer(let value): content = .scalar("\(value)", quoted: false)
        case .large(let value): content = .scalar("\(value)", quoted: false)
        case .number(let value): content = .scalar("\(value)", quoted: false)
        case .string(let text): content = .scalar(text, quoted: true)
        case .array(let values):
            var nodes: [YAMLNode] = []
            for value in values { nodes.append(try YAMLNode(value, file: file)) }
            content = .sequence(nodes)
        case .object(let members):
            var entries: [Entry] = []
            for member in members {
                let node = try YAMLNode(member.value, file: file)
                if entries.contains(where: { $0.key == member.key }) {
                    throw node.error(found: "the key '\(excerpt(member.key))' twice", expected: "each once")
                }
                entries.append(Entry(key: member.key, keyLine: 1, value: node))
            }
            content = .mapping(entries)
        }
        self.init(file: file, line: 1, content: content)
    }
}

import WakeModel

/// What is measured of a scripted app's process.
extension ScriptedApp {
    /// The keys that say it.
    fileprivate static let measures = ["footprint", "processor", "locks", "private-locks", "listeners", "services"]

    /// Reads the key `process` of a scripted app.
    static func process(_ node: YAMLNode) throws(FileError) -> [ProcessMeasure] {
        try measures(of: try Fields(node, of: "a process", keys: measures))
    }

    fileprivate static func measures(of fields: Fields) throws(FileError) -> [ProcessMeasure] {
        func count(_ node: YAMLNode) throws(FileError) -> UInt16 { UInt16(try node.integer(in: 0...1_000)) }
        return [
            try fields.value("footprint", megabytes).map { .footprint($0) },
            try fields.value("processor", share).map { .processor($0) },
            try fields.value("locks", count).map { .locks($0) },
            try fields.value("private-locks", count).map { .privateLocks($0) },
            try fields.value("listeners", count).map { .listeners($0) },
            try fields.value("services", count).map { .services($0) },
        ].compactMap { $0 }
    }

    private static func megabytes(_ node: YAMLNode) throws(FileError) -> UInt32 {
        try number(node, unit: "MB", expecting: "megabytes such as 300MB")
    }

    private static func share(_ node: YAMLNode) throws(FileError) -> UInt32 {
        try number(node, unit: "%", expecting: "per cent of a processor, such as 90%")
    }

    private static func number(_ node: YAMLNode, unit: String, expecting what: String) throws(FileError) -> UInt32 {
        let text = try node.text(expecting: what)
        guard text.hasSuffix(unit), let number = UInt32(text.dropLast(unit.count)), number <= 1_000_000 else {
            throw node.error(expected: what)
        }
        return number
    }
}

/// What a step has scripted apps do with what they share with others.
extension ScenarioReading {
    static var processVerbs: [StepVerb] {
        [
            StepVerb(
                "measure",
                ScenarioReading.measure,
                beside: ScriptedApp.measures + ["draws", "asks"]
            )
        ]
    }

    private func measure(_ step: StepEntry) throws(FileError) -> Verb {
        let apps = try scripts(step, bundlesToo: false, "a scripted app") { _ in true }
        var requests = try ScriptedApp.measures(of: step.fields).map { AppRequest.measured($0) }
        if try step.fields["draws"]?.bool() == true { requests.append(.measured(.drew)) }
        if let node = step.fields["asks"] {
            let question = try node.word("question", of: [TimeQuestion.remaining, .activity]) {
                $0 == .remaining ? "time-remaining" : "expiring-activity"
            }
            requests.append(.asked(question))
        }
        guard !requests.isEmpty else {
            throw step.value.error(
                found: "nothing that is measured",
                expected: "\(ScriptedApp.measures.joined(separator: ", ")), draws or asks beside it"
            )
        }
        return .process(apps: apps, requests)
    }
}

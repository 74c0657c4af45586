import WakeModel

/// What a step does with transfers.
extension ScenarioReading {
    private static let transferActs = ["suspend-task", "resume-task", "cancel-task", "session-is"]

    static var transferVerbs: [StepVerb] {
        let beside = ["session"] + ScriptedApp.TransferTask.keys + transferActs
        return [StepVerb("transfer", ScenarioReading.transfer, beside: beside)]
    }

    private func transfer(_ step: StepEntry) throws(FileError) -> Verb {
        let apps = try scripts(step, bundlesToo: false, "a scripted app with 'transfers'") { $0.transfers != nil }
        let session = try ScriptedApp.TransferSession.identifier(try step.fields.required("session"))
        return .transfer(apps: apps, session: session, try act(step.fields))
    }

    private func act(_ fields: Fields) throws(FileError) -> ScriptedApp.TransferAct {
        let words = ScriptedApp.TransferTask.kinds + Self.transferActs
        let (word, value) = try fields.one(of: words, called: "something to do")
        switch word {
        case "suspend-task": return .suspend(try number(value))
        case "resume-task": return .resume(try number(value))
        case "cancel-task": return .cancel(try number(value))
        case "session-is":
            let states = ["made-again", "invalidated"]
            return try value.word("state of a session", of: states) { $0 } == "invalidated" ? .invalidate : .makeAgain
        default:
            return .begin(try ScriptedApp.TransferTask(fields))
        }
    }

    private func number(_ node: YAMLNode) throws(FileError) -> TransferTaskNumber {
        TransferTaskNumber(try node.integer(in: 1...Int(Int32.max)))
    }
}

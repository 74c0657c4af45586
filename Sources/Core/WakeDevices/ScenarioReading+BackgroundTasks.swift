import WakeModel

/// What a step does with background tasks: apps ask, and a developer pulls the scheduler's levers (BGT-12).
extension ScenarioReading {
    static var taskVerbs: [StepVerb] {
        [
            StepVerb("simulate-launch", ScenarioReading.simulateLaunch, beside: ["task", "strength"]),
            StepVerb("simulate-expiration", ScenarioReading.simulateExpiration, beside: ["task"]),
            StepVerb("submit", ScenarioReading.submit, beside: ["request"]),
            StepVerb("register", ScenarioReading.register, beside: ["task"]),
        ]
    }

    private func task(_ step: StepEntry) throws(FileError) -> String {
        try ScriptedApp.TaskRequest.identifier(try step.fields.required("task"))
    }

    private func simulateLaunch(_ step: StepEntry) throws(FileError) -> Verb {
        let strengths: [TaskLever] = [.scheduled, .allowed, .regardless]
        return .simulateTask(
            apps: try appNames.resolve(step.value),
            identifier: try step.fields.value("task", ScriptedApp.TaskRequest.identifier),
            try step.fields["strength"]?.word("strength", of: strengths, \.word) ?? .scheduled
        )
    }

    private func simulateExpiration(_ step: StepEntry) throws(FileError) -> Verb {
        .expireTask(apps: try appNames.resolve(step.value), identifier: try task(step))
    }

    private func submit(_ step: StepEntry) throws(FileError) -> Verb {
        let apps = try scripts(step, bundlesToo: false, "a scripted app") { _ in true }
        return .submitTask(apps: apps, try ScriptedApp.TaskRequest(try step.fields.required("request")))
    }

    private func register(_ step: StepEntry) throws(FileError) -> Verb {
        let apps = try scripts(step, bundlesToo: false, "a scripted app") { _ in true }
        return .registerTask(apps: apps, identifier: try task(step))
    }
}

import WakeModel

/// What a step does with notifications.
extension ScenarioReading {
    static var notificationVerbs: [StepVerb] {
        [
            StepVerb("tap", ScenarioReading.tap), StepVerb("schedule", ScenarioReading.schedule, beside: ["notice"]),
            StepVerb("cancel", ScenarioReading.cancel, beside: ["notice"]),
        ]
    }

    private func tap(_ step: StepEntry) throws(FileError) -> Verb {
        let fields = try Fields(step.value, of: "a tap", keys: ["app", "notification"])
        return .tap(
            apps: try appNames.resolve(try fields.required("app")),
            notification: try fields.required("notification").text(expecting: "the identifier of a notification")
        )
    }

    private func schedule(_ step: StepEntry) throws(FileError) -> Verb {
        let apps = try scripts(step, bundlesToo: false, "a scripted app") { _ in true }
        return .notifications(apps: apps, .schedule(try ScriptedApp.Notice(try step.fields.required("notice"))))
    }

    private func cancel(_ step: StepEntry) throws(FileError) -> Verb {
        let apps = try scripts(step, bundlesToo: false, "a scripted app") { _ in true }
        return .notifications(apps: apps, .cancel(try step.fields.value("notice", ScriptedApp.Notice.identifier)))
    }

    static func notifications(_ answer: YAMLNode, _ apps: [Int]) throws(FileError) -> Verb {
        .user(apps: apps, try UserAction(notifications: answer))
    }
}

extension UserAction {
    /// Reads whether the user lets an app show notifications (NOTE-7).
    init(notifications node: YAMLNode) throws(FileError) {
        let answers: [UserAction] = [.allowNotifications, .refuseNotifications]
        self = try node.word("answer", of: answers) { $0 == .allowNotifications ? "allowed" : "denied" }
    }
}

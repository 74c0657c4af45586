/// What `can-wake` answers, for programs: `wake.can-wake/1`.
package struct CanWakePage: Encodable, Sendable {
    package struct Answer: Encodable, Sendable {
        /// The bundle identifier.
        var app: String
        var wakes: Bool
        var decision: DecisionPage?
        /// Of an event that does not wake it: the force quit after which the user has not launched the app.
        var forceQuit: WhyPage.ForceQuit?
        /// What the app was registered for and is no more, so far as such events came by it.
        var lost: [WhyPage.Lost]
        /// Where nobody is registered for the event: what the app waits for of the same device.
        var waits: [WhyPage.Wait]
    }

    var schema = "wake.can-wake/1"
    /// Whether any of them wakes the app; true where none was asked about.
    package var ok: Bool
    /// The run's.
    var folder: String
    /// The bundle identifiers, with a blank between two.
    var app: String
    /// The kind that was asked about; nil for several, or any.
    var kind: String?
    /// What it happened to; nil for anything.
    var subject: String?
    /// One for each event.
    var answers: [Answer]
    /// Where no event was asked about: the kinds that there were.
    var kinds: [String]?

    package init(_ answers: [Answer], about choice: EventChoice, in folder: String, of apps: [String]) {
        ok = answers.contains(where: \.wakes)
        self.folder = folder
        app = apps.joined(separator: " ")
        kind = choice.kinds.count == 1 ? choice.kinds[0] : nil
        subject = choice.subject
        self.answers = answers
    }

    /// Of no event.
    package init(kinds: [String], in folder: String, of apps: [String]) {
        self.init([], about: EventChoice(), in: folder, of: apps)
        (ok, self.kinds) = (true, kinds)
    }
}

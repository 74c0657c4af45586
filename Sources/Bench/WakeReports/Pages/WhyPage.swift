import WakeModel

/// What ``Why`` answers, for programs: `wake.why/1`.
package struct WhyPage: Encodable, Sendable {
    struct State: Encodable {
        var state: String
        var since: String
    }

    /// The end of the app's process.
    struct Ending: Encodable {
        var exitId: String
        var t: String
        var cause: String
        var code: Int64
        var atLaunch: Bool
    }

    /// Decisions that repeat one another.
    struct Fold: Encodable {
        /// The newest of them.
        var decision: String
        var count: Int
        /// Of the first and of the last.
        var t: String
        var until: String
        var source: String
        var kind: String
        var subject: String
        var verdict: String
        var reason: String
        var rule: String
        /// What came with the events, as people read it; nil for nothing.
        var values: String?

        init(_ fold: Why.Fold, in log: RunLog) {
            let last = fold.last
            (decision, count) = (LogTime.text(last.id), fold.members.count)
            (t, until) = (LogTime.text(fold.first.at), LogTime.text(last.at))
            (source, kind, subject) = (last.source, last.kind, last.subject)
            (verdict, reason, rule) = (last.verdict.word, last.reason.word, last.rule.text)
            let values = fold.values(log) { $0 }
            self.values = values.isEmpty ? nil : values
        }
    }

    /// What the app is registered for at the end.
    struct Wait: Encodable {
        var via: String
        var subject: String
        var since: String
        var outOfRangeSince: String?
        /// Since when what brings it, such as Bluetooth, is switched off.
        var switchedOffSince: String?
        /// The reason why it does not wake the app as the user's answers are now; nil for none.
        var lacks: String?
        /// What the device has refused because it is not paired, for people.
        var refused: [String]
        /// The rule by which it wakes the app though a force quit bars it; nil for none.
        var liftedBy: String?
    }

    /// What the app was registered for, and is no more.
    package struct Lost: Encodable, Sendable {
        /// Of the first of what was taken.
        var via: String
        var subject: String
        /// All that was taken, for people.
        var what: [String]
        var t: String
        /// The word of the deed that took it.
        var by: String
        var rule: String
        /// The end of a process that it went with.
        var exitId: String?
        /// What would have kept it, or brings it back, for people.
        var advice: String?

        init(_ loss: Why.Loss) {
            (via, subject, what) = (loss.first.via ?? "", loss.first.subject, loss.things)
            (t, by, rule) = (LogTime.text(loss.first.at), loss.first.deed.word, loss.rule.text)
            exitId = loss.exit.map { "x-\($0.number)" }
            advice = loss.advice
        }
    }

    struct ForceQuit: Encodable {
        var t: String
        /// Whether nothing wakes the app for it, but for what it waits for that lifts it.
        var bars: Bool
        /// When a reboot lifted that.
        var lifted: String?
    }

    /// Why the phone launches nothing at the end, or the app is registered for nothing.
    struct Unready: Encodable {
        var reason: String
        var rule: String
        /// Since when.
        var t: String
        /// For people.
        var because: String
        var advice: String?
    }

    struct Idle: Encodable {
        var reason: String
        var timeMs: Int64
    }

    /// The end of what the app printed.
    struct Tail: Encodable {
        var path: String
        var lines: [String]
    }

    var schema = "wake.why/1"
    var ok = true
    /// The run's.
    var folder: String
    /// The bundle identifier.
    var app: String
    /// The first line of what people read; none above a table.
    var summary: String?
    /// The decision that is explained; nil where none tells how the app stands.
    var explained: DecisionPage?
    /// The other decisions that were asked about, the newest first; all of them with `--since`.
    var decisions: [Fold] = []
    /// How the app stands at the end of the logs; nil when it never ran.
    var state: State?
    var ended: Ending?
    var forceQuit: ForceQuit?
    /// Of an app that does not run and waits for something.
    var unready: Unready?
    /// Of an app that is not installed, or may not use what it asked for.
    var obstacle: Unready?
    var waits: [Wait] = []
    /// What it asked for and was refused, for people.
    var refused: [String] = []
    /// The devices whose old table of attributes the phone goes by, for people; nil for none.
    var oldTables: [String]?
    /// What it has lost and not asked for again, oldest first.
    var lost: [Lost] = []
    /// With `--since`: how long the app did not run.
    var notRunning: [Idle]?
    var log: Tail?
    /// Where nothing was decided about the app: the newest event that nobody had registered for.
    var nearest: DecisionPage?
}

extension Why {
    /// What ``explanation()`` says.
    package func page() -> WhyPage {
        guard endedSince == nil, uninstalled == nil, let place = fateful else { return standingPage(decisions) }
        var others = decisions
        return page(about: others.remove(at: place), others)
    }

    /// What ``explanation(_:)`` says; nil when it says nothing.
    package func page(_ question: Question) -> WhyPage? {
        guard let (newest, others) = found(question) else { return isKnown(question) ? page() : nil }
        return page(about: newest, others)
    }

    /// What ``explanation(event:)`` says; nil when the run has no such event.
    package func page(event: EventID) -> WhyPage? {
        if let decision = decision(of: event) { return page(about: decision, []) }
        return nothing(of: event).map { page($0, []) }
    }

    /// What ``table(since:)`` says.
    package func page(since: Instant.Span?) -> WhyPage {
        let start = start(of: since)
        let some = decisions.filter { $0.at >= start }
        var page = some.isEmpty ? standingPage([]) : page(nil, some)
        if some.isEmpty { page.summary = Self.firstLine(quiet(since: start)) }
        page.notRunning = log.timeNotRunning(of: app, since: start).map { idle in
            WhyPage.Idle(reason: idle.reason, timeMs: idle.time.milliseconds)
        }
        return page
    }

    private func page(about decision: DecisionRecord, _ others: [DecisionRecord]) -> WhyPage {
        var page = page(headline(of: decision), others)
        page.explained = DecisionPage(decision, in: self)
        return page
    }

    private func standingPage(_ others: [DecisionRecord]) -> WhyPage {
        var page = page(Self.firstLine(standing()), others)
        page.log = tail().map { WhyPage.Tail(path: $0.path, lines: $0.lines) }
        page.nearest = unheard.map { DecisionPage($0, in: self) }
        return page
    }

    private static func firstLine(_ text: String) -> String? { text.split(separator: "\n").first.map(String.init) }

    private func page(_ summary: String?, _ others: [DecisionRecord]) -> WhyPage {
        var page = WhyPage(folder: log.folder, app: app, summary: summary)
        page.decisions = Self.folded(others).reversed().map { WhyPage.Fold($0, in: log) }
        page.state = lastMove.map { WhyPage.State(state: $0.to.word, since: LogTime.text($0.at)) }
        page.ended = endedSince.map { exit in
            WhyPage.Ending(
                exitId: "x-\(exit.number)",
                t: LogTime.text(exit.at),
                cause: exit.cause.word,
                code: exit.code,
                atLaunch: exit.atLaunch
            )
        }
        page.forceQuit = forceQuit
        page.unready = unready().map { unready in
            WhyPage.Unready(
                reason: unready.reason.word,
                rule: unready.reason.rule.text,
                t: LogTime.text(unready.since),
                because: Self.because(unready.reason),
                advice: ReasonText.advice(unready.reason, of: .processing)
            )
        }
        page.obstacle = obstacle.map { cause in
            WhyPage.Unready(
                reason: cause.reason.word,
                rule: cause.rule.text,
                t: LogTime.text(cause.at),
                because: cause.because,
                advice: cause.advice
            )
        }
        page.lost = losses.map(WhyPage.Lost.init)
        page.refused = refusedTexts
        page.oldTables = oldTableTexts.isEmpty ? nil : oldTableTexts
        page.waits = (log.registrations[app]?.kept ?? []).map(waiting)
        return page
    }

    /// The force quit after which the user has not launched the app.
    var forceQuit: WhyPage.ForceQuit? {
        log.forceQuit(of: app).map { quit in
            WhyPage.ForceQuit(
                t: LogTime.text(quit.at),
                bars: quit.bars && quit.lifted == nil,
                lifted: quit.lifted.map { LogTime.text($0.at) }
            )
        }
    }

    func waiting(_ kept: RegistrationEntry.Kept) -> WhyPage.Wait {
        WhyPage.Wait(
            via: kept.via,
            subject: kept.subject,
            since: LogTime.text(kept.since),
            outOfRangeSince: awaySince(kept.subject).map { LogTime.text($0) },
            switchedOffSince: switchedOff(kept).map { LogTime.text($0.since) },
            lacks: kept.lacks,
            refused: refusals(kept).map(\.text),
            liftedBy: lifting(kept)?.rule.text
        )
    }
}

import WakeDevices
import WakeModel
import WakeReports
import WakeRouter

/// What a phone would say to an event that came now: a router as it stands, asked without anything being run.
package struct WakeQuestion {
    private let router: Router
    private let header: LogHeader
    private let names: NameTable
    private let profile: Profile
    private let lastEvent: UInt64
    private let now: Instant
    /// The last event of each kind and subject, oldest first.
    private let events: [WakeEvent]

    /// What is answered: for people, for programs, and as records.
    package struct Answer {
        package var text: String
        package var page: CanWakePage
        /// A record of each event, in full.
        var records: [[UInt8]]
        package var wakes: Bool
    }

    /// Asks the phone of a run that no other program has: the router as the run's journal left it, about the events in there.
    ///
    /// - Parameter appFolders: where bundles of the scenario are looked for.
    /// - Throws: ``CommandFailure`` when the folder has no journal, or its scenario cannot be read.
    package init(run folder: String, appFolders: [String]) throws(CommandFailure) {
        // Events that came before the latest snapshot may come again, too.
        var replay = try JournalReplay(run: folder, appFolders: appFolders, reachingBack: true)
        var events: [WakeEvent] = []
        try replay.play { input, _ in
            switch input {
            case .event(let event), .overflowed(let event):
                events.removeAll { $0.kind == event.kind && $0.subject == event.subject && $0.app == event.app }
                events.append(event)
            default: break
            }
        }
        do throws(ReportError) { header = try RunLog.header(folder: folder) } catch {
            throw CommandFailure(error.kind == .missing ? .notFound : .invalidFile, error)
        }
        (names, profile, self.events) = (replay.names, replay.profile, events)
        (router, now, lastEvent) = (replay.router, replay.now, replay.lastEvent)
    }

    /// Asks a phone that is switched on.
    ///
    /// - Parameter events: the last event of each kind and subject, oldest first.
    init(_ run: Run, about events: [WakeEvent]) {
        (header, names, profile, self.events) = (run.header, run.names, run.profile, events)
        (router, now, lastEvent) = (run.bench.router, run.reached, run.bench.lastEvent)
    }

    /// What would become of the latest events of a choice for apps, if they came again now.
    ///
    /// - Parameters:
    ///   - words: which events, as ``EventChoice/init(_:among:)`` reads them; the number of one; a reason or a rule, for those that
    ///     would be answered with it; or none, for the kinds that there were.
    ///   - apps: bundle identifiers.
    ///   - log: the run's logs, as far as they have come.
    ///   - place: what the run is called in messages.
    /// - Throws: ``CommandFailure`` of usage where the words name no event, and of not found where none such has come that could
    ///   be for the apps, or would be answered so; it says which kinds there were, or which reasons there would be.
    package func answer(
        _ words: [String],
        for apps: [String],
        in log: RunLog,
        _ place: String
    ) throws(CommandFailure) -> Answer {
        if words.isEmpty { return kinds(for: apps, in: log) }
        let question = try Why.Question(words, among: known, in: log)
        let choice = question.choice
        var answer = Answer(
            text: "",
            page: CanWakePage([], about: choice, in: log.folder, of: apps),
            records: [],
            wakes: false
        )
        var (texts, answers): ([String], [CanWakePage.Answer]) = ([], [])
        var others: Set<String> = []
        for bundle in apps {
            guard let app = app(bundle) else { continue }
            let writer = writer(of: choice, for: app)
            let why = Why(log, app: bundle)
            var asked: [DecisionRecord] = []
            for (record, line) in zip(DecisionRecord.all(in: writer.contents), writer.records) {
                guard why.isAnswered(record, with: question) else {
                    others.insert(why.words(record))
                    continue
                }
                asked.append(record)
                answer.records.append(line)
            }
            guard !asked.isEmpty else { continue }
            texts.append(why.answer(asked))
            answers += asked.map(why.page(asked:))
            answer.wakes = answer.wakes || asked.contains { $0.verdict.delivers }
        }
        guard !answers.isEmpty else {
            let whose = "for \(apps.joined(separator: ", "))"
            if !others.isEmpty {
                throw CommandFailure(
                    .notFound,
                    "no event \(whose) in \(place) would be answered with \(words.joined(separator: " "))",
                    hint: "there would be \(others.sorted().joined(separator: ", "))"
                )
            }
            let obstacles = apps.compactMap { Why(log, app: $0).nothingComes(of: choice.kinds) }
            throw CommandFailure(
                .notFound,
                "no \(choice.text.isEmpty ? "event" : choice.text) \(whose) came in \(place)",
                hint: obstacles.first ?? EventChoice.kinds(in: known)
            )
        }
        answer.text = texts.joined(separator: "\n")
        answer.page = CanWakePage(answers, about: choice, in: log.folder, of: apps)
        return answer
    }

    /// The kinds of events that there were, and what keeps the apps from any.
    private func kinds(for apps: [String], in log: RunLog) -> Answer {
        let obstacles = apps.compactMap { app in Why(log, app: app).nothingComes(of: []).map { "\(app)  \($0)" } }
        return Answer(
            text: ([EventChoice.kinds(in: known)] + obstacles).map(TerminalText.escaped).joined(separator: "\n"),
            page: CanWakePage(kinds: EventChoice.words(of: known), in: log.folder, of: apps),
            records: [],
            wakes: false
        )
    }

    /// The kinds and subjects of the events, oldest first.
    private var known: [(kind: String, subject: String)] { events.map { ($0.kind.word, names.text($0.subject)) } }

    /// The app of a bundle identifier; nil when none was installed.
    private func app(_ bundle: String) -> AppID? {
        names.known(bundle).flatMap { router.bundles.firstIndex(of: $0) }.map { AppID(UInt32($0)) }
    }

    /// A log in memory of what would become of each event for an app, by itself.
    private func writer(of choice: EventChoice, for app: AppID) -> DecisionLog {
        let writer = DecisionLog(header: header, profile: profile, names: names.text)
        for event in events where event.app == nil || event.app == app {
            guard choice.matches(kind: event.kind.word, subject: names.text(event.subject)) else { continue }
            let about = decisions(on: event, for: app)
            if !about.isEmpty { try? writer.append(batch: about[...]) }
        }
        return writer
    }

    private func decisions(on event: WakeEvent, for app: AppID) -> [Decision] {
        var (event, asked) = (event, router)
        // A task is handed over once, and a transfer ends once: asked about is the next.
        if let next = asked.nextTry(after: event) { event = next }
        event.id = EventID(lastEvent + 1)
        event.parent = .none
        var output = RouterOutput()
        asked.handle(.event(event), id: event.id, at: now, into: &output)
        let about = output.decisions.filter { $0.event == event.id && ($0.app == app || $0.app == .none) }
        guard !about.contains(where: { $0.app == app }) else { return about }
        // What the app was registered for went with its force quit: that comes first.
        var barred = RouterOutput()
        asked.refuseBarred(event, for: app, at: now, into: &barred)
        return barred.decisions.isEmpty ? about : barred.decisions
    }
}

extension EventID {
    /// Reads `e-000398`; nil for anything else.
    package init?(text: String) {
        guard text.hasPrefix("e-"), let number = UInt64(text.dropFirst(2)) else { return nil }
        self.init(number)
    }
}

extension DecisionID {
    /// Reads `d-000412`; nil for anything else.
    package init?(text: String) {
        guard text.hasPrefix("d-"), let number = UInt64(text.dropFirst(2)) else { return nil }
        self.init(number)
    }
}

extension Why.Question {
    /// Reads what a command line asks for: a reason, a rule, an event by its number or that of a decision, the end of a process
    /// by its number, events as ``EventChoice/init(_:among:)`` reads them, or what an app is registered for.
    ///
    /// - Parameters:
    ///   - known: the kinds and subjects that there were.
    ///   - log: the run's; an event of it stands for those of its kind and subject.
    /// - Throws: ``CommandFailure`` of usage where it is none of them, and of not found where the run has no such event.
    package init(
        _ words: [String],
        among known: [(kind: String, subject: String)],
        in log: RunLog
    ) throws(CommandFailure) {
        let word = words.joined(separator: " ")
        if let reason = Reason.allCases.first(where: { $0.word.lowercased() == word.lowercased() }) {
            self = .reason(reason)
        } else if let rule = RuleID(text: word.uppercased()) {
            self = .rule(rule)
        } else if word.hasPrefix("x-"), let number = UInt64(word.dropFirst(2)) {
            self = .exit(number)
        } else if word.hasPrefix("e-") || word.hasPrefix("d-"), UInt64(word.dropFirst(2)) != nil {
            let (event, id) = (EventID(text: word), DecisionID(text: word))
            guard let decision = log.decisions.first(where: { $0.event == event || $0.id == id }) else {
                throw CommandFailure(.notFound, "nothing was decided about \(word)", hint: EventChoice.kinds(in: known))
            }
            let subject = decision.subject.isEmpty ? nil : decision.subject
            self = .events(EventChoice(kinds: [decision.kind], subject: subject))
        } else if let registration = Self.kept(word, words, among: known) {
            self = .registration(registration)
        } else {
            self = .events(try EventChoice(words, among: known))
        }
    }

    /// The registration that a word means where it means no kind of event in full, and none of the events that there were.
    private static func kept(
        _ word: String,
        _ words: [String],
        among known: [(kind: String, subject: String)]
    ) -> Registration? {
        guard let registration = Registration(word: word.lowercased()), registration != Registration.none,
            EventKind(word: registration.word) == nil
        else { return nil }
        let choice = try? EventChoice(words, among: known)
        let isThere = known.contains { choice?.matches(kind: $0.kind, subject: $0.subject) ?? false }
        return isThere ? nil : registration
    }

    /// The events that it is about; of a reason or a rule any.
    fileprivate var choice: EventChoice {
        if case .events(let choice) = self { choice } else { EventChoice() }
    }
}

extension EventChoice {
    /// What steps of a scenario call what happens, by the kinds of event.
    private static let steps: KeyValuePairs<String, EventKind> = [
        "notify": .characteristicNotified, "connect": .peripheralConnected, "disconnect": .peripheralDisconnected,
        "enter": .regionEntered, "exit": .regionExited, "arrive": .visitBegan, "depart": .visitEnded,
        "push": .pushReceived, "fetch": .fetchDue, "tap": .notificationTapped,
    ]

    /// Reads what a command line says of events: a kind, what it happened to, or both, as `why`, the logs and the run's table print
    /// them, with how often it repeats and what came, or without. A kind may be short (`notified`, `region`), a step of a scenario
    /// (`notify belt 2A37`) or a delegate's method (`didUpdateValueFor`).
    ///
    /// - Parameter known: the kinds and subjects that there were.
    /// - Throws: ``CommandFailure`` of usage where it is none of them.
    package init(_ words: [String], among known: [(kind: String, subject: String)]) throws(CommandFailure) {
        let parts = Self.plain(words)
        guard let first = parts.first else {
            throw CommandFailure(.usage, "EVENT is missing", hint: Self.kinds(in: known))
        }
        let behind = Array(parts.dropFirst())
        let rest = Self.subject(behind, among: known) ?? (behind.isEmpty ? nil : behind.joined(separator: " "))
        if EventKind(word: first) != nil {
            self.init(kinds: [first], subject: rest)
            return
        }
        if let whole = Self.subject(parts, among: known) {
            self.init(subject: whole)
            return
        }
        let kinds = Self.kinds(called: first, among: Set(known.map(\.kind)))
        guard !kinds.isEmpty else {
            let near = Suggestion.nearest(to: first, among: EventKind.allCases.map(\.word))
            let hints = [near.map { "did you mean \($0)?" }, Self.kinds(in: known)].compactMap(\.self)
            throw CommandFailure(.usage, "no kind of event \(first)", hint: hints.joined(separator: " "))
        }
        self.init(kinds: kinds, subject: rest)
    }

    /// The words of a line of a list without how often it repeats and what came: of `region-entered home (x2 over 1h)` the first
    /// two, and so of `characteristic-notified belt/2A37: 0052`.
    private static func plain(_ words: [String]) -> [String] {
        var plain: [String] = []
        for word in words.flatMap({ $0.split(separator: " ").map(String.init) }) {
            if word.hasPrefix("(x") { break }
            guard word.hasSuffix(":") else {
                plain.append(word)
                continue
            }
            plain.append(String(word.dropLast()))
            break
        }
        return plain
    }

    /// What words say that something happened to; nil where nothing such did. A step says it in two words, and then the value.
    private static func subject(_ words: [String], among known: [(kind: String, subject: String)]) -> String? {
        var words = words
        while !words.isEmpty {
            for separator in [" ", "/"] {
                let choice = EventChoice(subject: words.joined(separator: separator))
                let isKnown = known.contains { choice.matches(kind: $0.kind, subject: $0.subject) }
                if isKnown { return choice.subject }
            }
            guard words.count > 2, words[words.count - 1].allSatisfy(\.isHexDigit) else { return nil }
            words.removeLast()
        }
        return nil
    }

    /// The kinds that a short name means: of those that there were, as far as it means any of them.
    private static func kinds(called name: String, among known: Set<String>) -> [String] {
        let name = name.lowercased()
        if let kind = steps.first(where: { $0.key == name })?.value { return [kind.word] }
        let parts = name.split(separator: "-")
        let all = EventKind.allCases.filter { kind in
            kind.callback.lowercased() == name || kind.word.split(separator: "-").holds(parts)
        }.map(\.word)
        let there = all.filter(known.contains)
        return there.isEmpty ? all : there
    }

    /// The words of the kinds, each once, in the order of their table.
    fileprivate static func words(of known: [(kind: String, subject: String)]) -> [String] {
        let there = Set(known.map(\.kind))
        return EventKind.allCases.map(\.word).filter(there.contains)
    }

    /// `the run has characteristic-notified, region-entered`, in the order of their table.
    static func kinds(in known: [(kind: String, subject: String)]) -> String {
        let kinds = words(of: known)
        return kinds.isEmpty ? "the run has no event at all" : "the run has \(kinds.joined(separator: ", "))"
    }
}

extension Array<Substring> {
    /// Whether these stand somewhere in it, one after the other.
    fileprivate func holds(_ parts: [Substring]) -> Bool {
        guard !parts.isEmpty, parts.count <= count else { return false }
        return (0...count - parts.count).contains { self[$0..<$0 + parts.count].elementsEqual(parts) }
    }
}

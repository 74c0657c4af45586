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
    ///   - words: which events, as ``EventChoice/init(_:among:)`` reads them.
    ///   - apps: bundle identifiers.
    ///   - log: the run's logs, as far as they have come.
    ///   - place: what the run is called in messages.
    /// - Throws: ``CommandFailure`` of usage where the words name no event, and of not found where none such has come that could
    ///   be for the apps; either says which kinds there were.
    package func answer(
        _ words: [String],
        for apps: [String],
        in log: RunLog,
        _ place: String
    ) throws(CommandFailure) -> Answer {
        let choice = try EventChoice(words, among: known)
        var answer = Answer(
            text: "",
            page: CanWakePage([], about: choice, in: log.folder, of: apps),
            records: [],
            wakes: false
        )
        var (texts, answers): ([String], [CanWakePage.Answer]) = ([], [])
        for bundle in apps {
            guard let app = app(bundle) else { continue }
            let writer = writer(of: choice, for: app)
            let records = DecisionRecord.all(in: writer.contents)
            guard !records.isEmpty else { continue }
            let why = Why(log, app: bundle)
            texts.append(why.answer(records))
            answers += records.map(why.page(asked:))
            answer.records += writer.records
            answer.wakes = answer.wakes || records.contains { $0.verdict.delivers }
        }
        guard !answers.isEmpty else {
            throw CommandFailure(
                .notFound,
                "no \(choice.text) for \(apps.joined(separator: ", ")) came in \(place)",
                hint: EventChoice.kinds(in: known)
            )
        }
        answer.text = texts.joined(separator: "\n")
        answer.page = CanWakePage(answers, about: choice, in: log.folder, of: apps)
        return answer
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
        // A task is handed over once: asked about is the next.
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

extension EventChoice {
    /// What steps of a scenario call what happens, by the kinds of event.
    private static let steps: KeyValuePairs<String, EventKind> = [
        "notify": .characteristicNotified, "connect": .peripheralConnected, "disconnect": .peripheralDisconnected,
        "enter": .regionEntered, "exit": .regionExited, "arrive": .visitBegan, "depart": .visitEnded,
        "push": .pushReceived, "fetch": .fetchDue, "tap": .notificationTapped,
    ]

    /// Reads what a command line says of events: a kind, what it happened to, or both, as `why` and the logs print them. A kind
    /// may be short (`notified`, `region`), a step of a scenario (`notify`) or a delegate's method (`didUpdateValueFor`).
    ///
    /// - Parameter known: the kinds and subjects that there were.
    /// - Throws: ``CommandFailure`` of usage where it is none of them.
    package init(_ words: [String], among known: [(kind: String, subject: String)]) throws(CommandFailure) {
        let parts = words.flatMap { $0.split(separator: " ").map(String.init) }
        guard let first = parts.first else {
            throw CommandFailure(.usage, "EVENT is missing", hint: Self.kinds(in: known))
        }
        let rest = parts.count > 1 ? parts.dropFirst().joined(separator: " ") : nil
        if EventKind(word: first) != nil {
            self.init(kinds: [first], subject: rest)
            return
        }
        let whole = EventChoice(subject: parts.joined(separator: " "))
        if known.contains(where: { whole.matches(kind: $0.kind, subject: $0.subject) }) {
            self.init(subject: whole.subject)
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

    /// `the run has characteristic-notified, region-entered`, in the order of their table.
    static func kinds(in known: [(kind: String, subject: String)]) -> String {
        let there = Set(known.map(\.kind))
        let kinds = EventKind.allCases.map(\.word).filter(there.contains)
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

import WakeModel

/// The timeline of a page: two drawings side by side, the names of the rows and the rows, in which a row has the same place.
struct HTMLChart {
    /// The height of a row, in pixels.
    static let rowHeight = 22
    /// About as many marks as a browser draws without effort.
    private static let marksLimit: Int64 = 40_000

    private let log: RunLog
    private let scale: Scale
    /// How many columns marks and short states are gathered in.
    private let columns: Int64
    private var names = LineBuffer()
    private var rows = LineBuffer()
    private var count = 0
    private let apps: [String]
    private let facts: [String: AppFacts]

    /// What the logs say of one app.
    struct AppFacts {
        var decisions: [Int] = []
        var moves: [StateMove] = []
        var exits: [ExitEntry] = []
        var callbacks: [Outcome.Callback] = []
        var acts: [Act] = []
    }

    /// Where an instant lies, in thousandths of a percent of the width. A part of the width beyond the last instant, and before the
    /// first, is left free, so that no mark is cut.
    struct Scale {
        private static let margin: Int64 = 700
        /// The end of the run, or of the last window where that is later.
        let end: Int64

        init(_ log: RunLog) {
            var end = max(1, log.end.nanoseconds)
            // The window of the last events may go on after the run.
            for decision in log.decisions.suffix(100) where decision.verdict.delivers {
                let left = decision.budget?.left ?? 0
                end = max(end, decision.at.nanoseconds + min(max(left, 0), 3_600_000) * 1_000_000)
            }
            self.end = end
        }

        func thousandths(_ at: Instant) -> Int64 {
            let within = min(max(at.nanoseconds, 0), end)
            let (high, low) = within.multipliedFullWidth(by: 100_000 - 2 * Self.margin)
            return Self.margin + end.dividingFullWidth((high, low)).quotient
        }

        func percent(_ at: Instant) -> String { Self.text(thousandths(at)) }

        func percent(from start: Instant, to end: Instant) -> String {
            Self.text(max(30, thousandths(end) - thousandths(start)))
        }

        static func text(_ thousandths: Int64) -> String {
            "\(thousandths / 1000).\(String(1000 + thousandths % 1000).dropFirst())%"
        }
    }

    init(_ log: RunLog) {
        self.log = log
        scale = Scale(log)
        apps = log.apps
        var facts: [String: AppFacts] = [:]
        for (position, decision) in log.decisions.enumerated() {
            if let app = decision.app { facts[app, default: AppFacts()].decisions.append(position) }
        }
        for move in log.moves { facts[move.app, default: AppFacts()].moves.append(move) }
        for exit in log.exits { facts[exit.app, default: AppFacts()].exits.append(exit) }
        for (_, outcome) in log.outcomes.sorted(by: { $0.key < $1.key }) where !outcome.delivered.isEmpty {
            facts[outcome.app, default: AppFacts()].callbacks += outcome.delivered
        }
        for act in log.acts {
            if let app = act.app { facts[app, default: AppFacts()].acts.append(act) }
        }
        self.facts = facts
        columns = min(2000, max(200, Self.marksLimit / Int64(facts.count + 8)))
    }

    /// The chart with its buttons, and below it what a column stands for.
    mutating func html() -> String {
        writeNotes()
        writePhone()
        for source in Source.allCases {
            let of = log.decisions.indices.filter { log.decisions[$0].source == source.word }
            guard !of.isEmpty else { continue }
            begin(source.word, kind: "source")
            ticks(distinctEvents(of))
            end()
        }
        begin("router", kind: "source")
        ticks(Array(log.decisions.indices))
        end()
        for app in apps { write(app, facts[app] ?? AppFacts()) }
        let rowsHeight = count * Self.rowHeight
        let height = rowsHeight + 24
        let column = LogTime.text(Instant.Span(nanoseconds: scale.end / columns))
        return """
            <h2>Timeline</h2><p><button data-zoom="1.5">+</button> <button data-zoom="0.667">−</button> \
            <button data-zoom="0">fit</button></p>
            <div class="chart"><svg class="names" id="names" width="\(nameWidth)" height="\(height)">\(names.text)</svg>\
            <div class="scroll" id="scroll"><svg class="rows" id="rows" width="100%" height="\(height)" \
            data-end="\(scale.end / 1_000_000)">
            \(rows.text)\(endLine(rowsHeight))<g id="axis" transform="translate(0,\(rowsHeight))">\(axis())</g></svg></div></div>
            <p class="meta">Marks of one kind within \(column) are drawn as one, which says how many; states shorter than that are drawn \
            once.</p>

            """
    }

    private var nameWidth: Int { 24 + 8 * (["notes"] + apps).map { min(48, $0.count) }.reduce(0, max) }

    /// Where the run ended: what is to the right of it did not happen any more.
    private func endLine(_ height: Int) -> String {
        let x = scale.percent(log.end)
        return """
            <line class="end" x1="\(x)" x2="\(x)" y1="0" y2="\(height)"><title>the run ended at \
            \(LogTime.text(log.end))</title></line>

            """
    }

    private func axis() -> String {
        var marks = ""
        for tenth in 0...9 as ClosedRange<Int64> {
            let at = Instant(nanoseconds: scale.end / 10 * tenth)
            let x = scale.percent(at)
            marks +=
                "<line x1=\"\(x)\" x2=\"\(x)\" y1=\"0\" y2=\"5\"/><text x=\"\(x)\" y=\"17\">\(LogTime.shortText(at))</text>"
        }
        return marks
    }

    // MARK: Rows

    private mutating func begin(_ name: String, kind: StaticString) {
        let y = count * Self.rowHeight
        let text = name.count > 48 ? String(name.prefix(47)) + "…" : name
        names.append(raw: "<text y=\"\(y + Self.rowHeight / 2)\" x=\"8\" class=\"")
        names.append(kind)
        names.append(raw: "\">\(Markup.escaped(text))<title>\(Markup.escaped(name))</title></text>\n")
        rows.append(raw: "<g class=\"row\" transform=\"translate(0,\(y))\">")
        rows.append(raw: "<line class=\"rule\" x2=\"100%\" y1=\"\(Self.rowHeight)\" y2=\"\(Self.rowHeight)\"/>")
    }

    private mutating func end() {
        rows.append("</g>\n")
        count += 1
    }

    /// A mark with a tooltip at an instant: one of the shapes of the style.
    private mutating func mark(_ kind: String, _ at: Instant, _ path: StaticString, _ title: String) {
        rows.append(raw: "<svg x=\"\(scale.percent(at))\" y=\"11\" class=\"\(kind)\"><path d=\"")
        rows.append(path)
        rows.append(raw: "\"/><title>\(Markup.escaped(title))</title></svg>")
    }

    private mutating func writeNotes() {
        guard !log.notes.isEmpty else { return }
        begin("notes", kind: "source")
        for note in log.notes {
            let who = note.app.map { " \($0)" } ?? ""
            mark("note", note.at, "M0-7V7M0-7H8L5-3.5 8 0H0", "\(LogTime.text(note.at))\(who) \(note.text)")
        }
        end()
    }

    /// What the user and the phone did to no app by itself: bars for as long as it was locked, and marks.
    private mutating func writePhone() {
        let acts = log.acts.filter { $0.app == nil }
        guard !acts.isEmpty else { return }
        begin("phone", kind: "source")
        var locked: Instant?
        for act in acts {
            if act.locked == true { locked = locked ?? act.at }
            if act.locked == false, let since = locked {
                bar("locked", "locked", since, act.at)
                locked = nil
            }
        }
        if let locked { bar("locked", "locked", locked, log.end) }
        for act in acts { mark("act", act.at, "M-5-5H5L0 4Z", "\(LogTime.text(act.at)) \(act.word)") }
        end()
    }

    /// A bar of one of the classes of the style, with a tooltip.
    private mutating func bar(_ kind: String, _ title: String, _ start: Instant, _ end: Instant) {
        rows.append(raw: "<rect x=\"\(scale.percent(start))\" y=\"5\" height=\"12\" width=\"")
        rows.append(raw: "\(scale.percent(from: start, to: end))\" class=\"s-\(kind)\">")
        rows.append(raw: "<title>\(title)\n\(LogTime.text(start)) to \(LogTime.text(end))</title></rect>")
    }

    /// A force quit is marked where the user did it, whether a process ended or not.
    private mutating func write(_ act: Act) {
        let title = "\(LogTime.text(act.at)) \(act.word)"
        if act.word == "force quit" {
            mark("force-quit", act.at, "M-5-5 5 5M5-5-5 5", title)
        } else {
            mark("act", act.at, "M-4-10H4L0-5Z", title)
        }
    }

    private mutating func write(_ app: String, _ facts: AppFacts) {
        begin(app, kind: "app")
        states(facts.moves)
        ticks(facts.decisions)
        for act in facts.acts { write(act) }
        for exit in facts.exits {
            let isForceQuit = exit.cause == .userForceQuit
            if isForceQuit, facts.acts.contains(where: { $0.at == exit.at && $0.word == "force quit" }) { continue }
            mark(
                isForceQuit ? "force-quit" : "exit",
                exit.at,
                "M-5-5 5 5M5-5-5 5",
                "\(LogTime.text(exit.at)) process ended: \(exit.cause.word) (x-\(exit.number))"
            )
        }
        end()
        guard !facts.callbacks.isEmpty else { return }
        begin("callbacks", kind: "sub")
        callbacks(facts.callbacks)
        end()
    }

    private func column(_ at: Instant) -> Int64 { scale.thousandths(at) * columns / 100_000 }

    private func distinctEvents(_ decisions: [Int]) -> [Int] {
        var last = EventID.none
        return decisions.filter { position in
            let event = log.decisions[position].event
            defer { last = event }
            return event != last
        }
    }

    /// A mark for each verdict in each column; a mark for several decisions says how many.
    private mutating func ticks(_ decisions: [Int]) {
        var column: Int64 = -1
        var groups: [(first: Int, count: Int)?] = Array(repeating: nil, count: Verdict.allCases.count)
        for position in decisions {
            let next = self.column(log.decisions[position].at)
            if next != column { flush(&groups) }
            column = next
            let verdict = Int(log.decisions[position].verdict.rawValue)
            groups[verdict] = (groups[verdict]?.first ?? position, (groups[verdict]?.count ?? 0) + 1)
        }
        flush(&groups)
    }

    private mutating func flush(_ groups: inout [(first: Int, count: Int)?]) {
        for position in groups.indices {
            if let group = groups[position] { tick(log.decisions[group.first], count: group.count) }
            groups[position] = nil
        }
    }

    private mutating func tick(_ first: DecisionRecord, count: Int) {
        rows.append("<circle cx=\"")
        rows.append(raw: scale.percent(first.at))
        rows.append("\" cy=\"11\" r=\"4\" class=\"v-")
        rows.append(raw: first.verdict.word)
        rows.append("\"><title>")
        rows.append(first.at)
        rows.append(raw: " \(Markup.escaped(first.app ?? "nobody"))\n")
        rows.append(raw: Markup.escaped("\(first.kind) \(first.subject)\n"))
        rows.append(raw: "\(first.verdict.word), \(first.reason.word) [\(first.rule.text)]")
        if let outcome = log.outcomes[first.id.number] {
            rows.append(raw: "\n" + Markup.escaped(Why.words(outcome, first)))
        }
        if count > 1 { rows.append(raw: "\n… and \(count - 1) more here") }
        rows.append("</title></circle>")
    }

    private mutating func states(_ moves: [StateMove]) {
        var drawnUntil: Int64 = -1
        for (position, move) in moves.enumerated() where move.to != .notRunning {
            let end = position + 1 < moves.count ? moves[position + 1].at : log.end
            let column = self.column(end)
            // What is narrower than a column is drawn once a column.
            if scale.thousandths(end) - scale.thousandths(move.at) < 100_000 / columns, column == drawnUntil {
                continue
            }
            drawnUntil = column
            let word = move.to.word
            bar(word, move.pid == 0 ? word : "\(word), pid \(move.pid)", move.at, end)
        }
    }

    private mutating func callbacks(_ callbacks: [Outcome.Callback]) {
        var last: Int64 = -1
        for callback in callbacks {
            let column = self.column(callback.at)
            if column == last { continue }
            last = column
            let value = callback.value.map { " \($0)" } ?? ""
            let title = Markup.escaped("\(LogTime.text(callback.at)) \(callback.name)\(value)")
            rows.append(
                raw: "<rect x=\"\(scale.percent(callback.at))\" y=\"4\" width=\"2\" height=\"14\" class=\"callback\">"
            )
            rows.append(raw: "<title>\(title)</title></rect>")
        }
    }
}

import WakeModel

/// A run as one drawing, to put into a ticket: a row for the phone, for each source and for the decisions, and then one for each
/// app with its states, its wakes and, hollow, those that it was refused.
///
/// The file needs nothing beside it, is light or dark as its reader is, and stays small: what falls into one column is one mark, and
/// a column is the wider the more rows there are.
package struct TimelineSVG {
    static let width = 1_200
    static let left = 270
    static let right = 24
    private static let rowHeight = 30
    /// Apps beyond this many are counted only.
    private static let appLimit = 60
    /// About the most marks of a drawing.
    private static let markLimit = 20_000

    private let log: RunLog
    private let title: String
    private let scale: Scale
    private var body = ""
    private var top = 78

    /// Where instants lie.
    struct Scale {
        let end: Int64
        /// In pixels.
        let column: Int

        static let width = TimelineSVG.width - TimelineSVG.left - TimelineSVG.right

        var columns: Int { (Self.width + column - 1) / column }

        func column(_ at: Instant) -> Int { min(columns - 1, Int(x(at)) / column) }

        /// From the left of the rows.
        func x(_ at: Instant) -> Double { Double(min(max(at.nanoseconds, 0), end)) / Double(end) * Double(Self.width) }

        /// How long a column lasts, in nanoseconds.
        var span: Double { Double(end) / Double(Self.width) * Double(column) }
    }

    /// The drawing of a run.
    ///
    /// - Parameter title: stands above it.
    package static func text(_ log: RunLog, title: String) -> String {
        var drawing = TimelineSVG(log, title)
        drawing.draw()
        return drawing.head + drawing.body + "</svg>\n"
    }

    private init(_ log: RunLog, _ title: String) {
        (self.log, self.title) = (log, title)
        let rows = min(log.apps.count, Self.appLimit) * 3 + 12
        let column = max(2, rows * Scale.width / Self.markLimit)
        scale = Scale(end: max(1, log.end.nanoseconds), column: column)
    }

    // MARK: The whole

    private mutating func draw() {
        drawPhone()
        for source in Source.allCases {
            let of = log.decisions.filter { $0.source == source.word }
            if !of.isEmpty { drawMarks(source.word, of, isHollow: false) }
        }
        if !log.decisions.isEmpty { drawMarks("decisions", log.decisions, isHollow: true) }
        drawApps()
        drawAxis()
    }

    private var head: String {
        let height = top + 64
        let counts = Timeline.summary(log)
        let settings = "profile \(log.header.profile), seed \(log.header.seed), until \(LogTime.shortText(log.end))"
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)" height="\(height)" \
            viewBox="0 0 \(Self.width) \(height)" role="img">
            <title>\(Markup.escaped(title))</title>
            <desc>\(Markup.escaped(counts))</desc>
            <style>\(Self.style)</style>
            <rect class="paper" width="100%" height="100%"/>
            <text class="head" x="16" y="28">\(Markup.escaped(title))</text>
            <text class="soft" x="16" y="48">\(Markup.escaped(counts))</text>
            <text class="soft" x="\(Self.width - Self.right)" y="28" text-anchor="end">\(Markup.escaped(settings))</text>

            """
    }

    private static let style = """
        text{font:12px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#1f2328}
        .head{font-size:16px;font-weight:600}.soft{fill:#59636e}
        .paper{fill:#fff}.band{fill:#f6f8fa}.line{stroke:#d1d9e0;stroke-width:1}
        .locked{fill:#d1d9e0}.suspended{fill:#c8d6ea}.background{fill:#2f81f7}.active{fill:#0a3f8f}
        .event{fill:#6e7781}.wake{fill:#1a7f37}.deliver{fill:#57ab5a}.wait{fill:#bf8700}
        .refuse{fill:#cf222e}.hollow{fill:#fff;stroke:#cf222e;stroke-width:1.2}.late{fill:#fff;stroke:#bf8700;stroke-width:1.2}
        .act{fill:#8250df}
        @media (prefers-color-scheme:dark){
        text{fill:#e6edf3}.soft{fill:#9198a1}.paper{fill:#0d1117}.band{fill:#151b23}.line{stroke:#3d444d}
        .locked{fill:#3d444d}.suspended{fill:#2b3d57}.background{fill:#4493f8}.active{fill:#a5d0ff}
        .event{fill:#9198a1}.wake{fill:#3fb950}.deliver{fill:#6fc276}.wait{fill:#d29922}.refuse{fill:#f85149}
        .hollow{fill:#0d1117;stroke:#f85149}.late{fill:#0d1117;stroke:#d29922}.act{fill:#ab7df8}
        }
        """

    // MARK: Rows

    /// Begins a row with its name.
    private mutating func row(_ name: String, _ note: String = "") {
        let place = top
        top += Self.rowHeight
        let row = (place - 78) / Self.rowHeight
        if row % 2 == 0 { rect("band", x: 0, y: place, width: Self.width, height: Self.rowHeight) }
        // As much of it as fits beside the note; the end tells apps of one maker apart.
        let room = 36 - note.count
        let shown = name.count > room ? name.prefix(8) + "…" + name.suffix(room - 9) : name[...]
        body += "<text x=\"16\" y=\"\(place + 19)\">\(Markup.escaped(String(shown)))"
        if shown.count < name.count { body += "<title>\(Markup.escaped(name))</title>" }
        body += "</text>\n"
        guard !note.isEmpty else { return }
        body +=
            "<text class=\"soft\" x=\"\(Self.left - 10)\" y=\"\(place + 19)\" text-anchor=\"end\">\(Markup.escaped(note))</text>\n"
    }

    /// The top of the row that was begun last.
    private var y: Int { top - Self.rowHeight }

    private mutating func rect(_ style: String, x: Int, y: Int, width: Int, height: Int, _ title: String = "") {
        let width = x < Self.left ? width : max(1, min(width, Self.width - Self.right - x))
        body += "<rect class=\"\(style)\" x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\""
        body += title.isEmpty ? "/>\n" : "><title>\(Markup.escaped(title))</title></rect>\n"
    }

    /// Whether the screen is locked, and what the user and the phone did.
    private mutating func drawPhone() {
        guard !log.acts.isEmpty else { return }
        row("phone")
        var since: Instant?
        for act in log.acts {
            switch (act.locked, since) {
            case (true?, nil): since = act.at
            case (false?, let start?):
                drawLocked(from: start, to: act.at)
                since = nil
            default: break
            }
        }
        if let since { drawLocked(from: since, to: log.end) }
        for (column, acts) in grouped(log.acts, \.at) {
            let words = acts.prefix(3).map { act in act.word + (act.app.map { " \($0)" } ?? "") }.joined(
                separator: ", "
            )
            let more = acts.count > 3 ? " and \(acts.count - 3) more" : ""
            rect(
                "act",
                x: Self.left + column * scale.column,
                y: y + 6,
                width: max(2, scale.column / 2),
                height: 18,
                "\(LogTime.tableText(acts[0].at)) \(words)\(more)"
            )
        }
    }

    private mutating func drawLocked(from start: Instant, to end: Instant) {
        let (x, end) = (Int(scale.x(start)), max(start, end))
        rect(
            "locked",
            x: Self.left + x,
            y: y + 9,
            width: max(1, Int(scale.x(end)) - x),
            height: 12,
            "locked from \(LogTime.shortText(start)) to \(LogTime.shortText(end))"
        )
    }

    /// By column, in order.
    private func grouped<Member>(_ members: [Member], _ at: (Member) -> Instant) -> [(column: Int, members: [Member])] {
        Dictionary(grouping: members) { scale.column(at($0)) }.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value) }
    }

    /// How a verdict is drawn; of several in a column the first of these is on top.
    private enum Kind: String, CaseIterable {
        case refuse, wait, wake, deliver

        init(_ verdict: Verdict) {
            switch verdict {
            case .resume, .relaunch: self = .wake
            case .foregroundDeliver, .backgroundDeliver: self = .deliver
            case .defer, .coalesce: self = .wait
            case .deny, .drop: self = .refuse
            }
        }
    }

    /// A mark a column for the decisions in it; the higher, the more of them have its verdict.
    private mutating func drawMarks(_ name: String, _ decisions: [DecisionRecord], isHollow: Bool) {
        row(name, "\(decisions.count)")
        for (column, members) in grouped(decisions, \.at) {
            let x = Self.left + column * scale.column
            guard isHollow else {
                rect("event", x: x, y: y + 8, width: max(2, scale.column - 1), height: 14, Self.words(members))
                continue
            }
            var bottom = y + 26
            for kind in Kind.allCases.reversed() {
                let own = members.filter { Kind($0.verdict) == kind }
                guard !own.isEmpty else { continue }
                let height = max(4, 22 * own.count / members.count)
                rect(
                    kind.rawValue,
                    x: x,
                    y: bottom - height,
                    width: max(2, scale.column - 1),
                    height: height,
                    Self.words(own)
                )
                bottom -= height
            }
        }
    }

    private static func words(_ decisions: [DecisionRecord]) -> String {
        let first = decisions[0]
        let more = decisions.count > 1 ? ", and \(decisions.count - 1) more" : ""
        return "\(LogTime.tableText(first.at)) \(first.happening): \(first.verdict.word), \(first.reason.word)\(more)"
    }

    // MARK: Apps

    private mutating func drawApps() {
        // In the order of the scenario.
        var seen: Set<String> = []
        let all = (log.roster.map(\.app) + log.apps).filter { seen.insert($0).inserted }
        let moves = Dictionary(grouping: log.moves, by: \.app)
        let decisions = Dictionary(grouping: log.decisions.filter { $0.app != nil }) { $0.app ?? "" }
        for app in all.prefix(Self.appLimit) {
            let own = decisions[app] ?? []
            let refused = own.count { Kind($0.verdict) == .refuse || Kind($0.verdict) == .wait }
            row(app, refused == 0 ? "" : "\(refused) refused")
            drawStates(moves[app] ?? [])
            drawWakes(own)
        }
        let more = all.count - Self.appLimit
        guard more > 0 else { return }
        row("and \(more) more app\(more == 1 ? "" : "s")")
    }

    /// For each column, how much of it the app was suspended, running in the background, and in the foreground.
    private func shares(_ moves: [StateMove]) -> [SIMD3<Double>] {
        var shares = [SIMD3<Double>](repeating: .zero, count: scale.columns)
        for (place, move) in moves.enumerated() {
            let part: SIMD3<Double>
            switch move.to {
            case .notRunning: continue
            case .suspended: part = [1, 0, 0]
            case .active, .inactive: part = [0, 0, 1]
            default: part = [0, 1, 0]
            }
            // A state lasts for no time where the times of a log go back.
            let end = max(move.at, place + 1 < moves.count ? moves[place + 1].at : log.end)
            let (from, to) = (Double(move.at.nanoseconds) / scale.span, Double(end.nanoseconds) / scale.span)
            let last = scale.columns - 1
            for column in min(Int(from), last)...min(Int(to), last) {
                let share = min(to, Double(column + 1)) - max(from, Double(column))
                shares[column] += part * max(share, 0)
            }
        }
        return shares
    }

    private mutating func drawStates(_ moves: [StateMove]) {
        let shares = shares(moves)
        drawRuns("suspended", shares) { $0.sum() > 0.01 ? 12 : 0 }
        drawRuns("background", shares) { $0.y > 0 ? max(3, Int(12 * min(1, $0.y + $0.z))) : 0 }
        drawRuns("active", shares) { $0.z > 0 ? max(3, Int(12 * min(1, $0.z))) : 0 }
    }

    /// Columns beside each other with one height are one bar.
    private mutating func drawRuns(_ style: String, _ shares: [SIMD3<Double>], _ height: (SIMD3<Double>) -> Int) {
        let heights = shares.map(height)
        var start = 0
        while start < heights.count {
            let end = heights[start...].firstIndex { $0 != heights[start] } ?? heights.count
            if heights[start] > 0 {
                rect(
                    style,
                    x: Self.left + start * scale.column,
                    y: y + 27 - heights[start],
                    width: min((end - start) * scale.column, Scale.width - start * scale.column),
                    height: heights[start]
                )
            }
            start = end
        }
    }

    /// Above the states: filled for what reached the app, hollow for what did not.
    private mutating func drawWakes(_ decisions: [DecisionRecord]) {
        for (column, members) in grouped(decisions, \.at) {
            let x = Self.left + column * scale.column
            for kind in [Kind.deliver, .wake, .wait, .refuse] {
                let own = members.filter { Kind($0.verdict) == kind }
                guard !own.isEmpty else { continue }
                let isHollow = kind == .refuse || kind == .wait
                rect(
                    kind == .refuse ? "hollow" : kind == .wait ? "late" : kind.rawValue,
                    x: x,
                    y: isHollow ? y + 3 : y + 5,
                    width: isHollow ? max(4, scale.column - 1) : max(2, scale.column - 1),
                    height: isHollow ? 10 : 8,
                    Self.words(own)
                )
            }
        }
    }

    // MARK: Axis

    private static let steps: [Int64] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
    ]

    private mutating func drawAxis() {
        let seconds = max(1, scale.end / 1_000_000_000)
        let step = Self.steps.first { seconds / $0 <= 10 } ?? (seconds / 864_000 + 1) * 86_400
        var lines = ""
        for time in stride(from: 0, through: seconds, by: Int(step)) {
            let at = Instant.zero.advanced(by: .seconds(time))
            let x = Self.left + min(Int(scale.x(at)), Scale.width - 1)
            lines += "<line class=\"line\" x1=\"\(x)\" y1=\"70\" x2=\"\(x)\" y2=\"\(top + 4)\"/>\n"
            let isLast = x > Self.width - 70
            body += "<text class=\"soft\" x=\"\(x)\" y=\"\(top + 18)\" text-anchor=\"\(isLast ? "end" : "middle")\">"
            body += "\(LogTime.shortText(at).dropFirst(2))</text>\n"
        }
        body = lines + body
        drawLegend()
    }

    private mutating func drawLegend() {
        let words = [
            ("active", "in the foreground"), ("background", "in the background"), ("suspended", "suspended"),
            ("wake", "woken"), ("deliver", "delivered"), ("hollow", "refused"), ("late", "deferred or merged"),
            ("act", "user and phone"), ("locked", "locked"),
        ]
        var x = 150
        for (style, word) in words {
            rect(style, x: x, y: top + 36, width: 10, height: 10)
            body += "<text class=\"soft\" x=\"\(x + 15)\" y=\"\(top + 45)\">\(word)</text>\n"
            x += 15 + word.count * 6 + 22
        }
    }
}

import WakeModel

/// A run as the data of a page: one JSON object, whose columns are numbers packed by ``PackedBytes`` in base64, each column the
/// same fact of one decision, outcome or move after the other. What they name stands in lists beside them, once.
struct PageData {
    private let log: RunLog
    private let results: RunResults?
    private var texts = TextIndex()
    private var apps = TextIndex()
    private var line = LineBuffer()

    /// What a decision is about, and what it came to: most are like many others.
    private struct What: Hashable {
        var source: String
        var kind: String
        var subject: String
    }

    private struct Ruling: Hashable {
        var verdict: Verdict
        var reason: Reason
        var rule: RuleID
    }

    /// The numbers of what was seen so far.
    private struct Numbers<Item: Hashable> {
        private(set) var all: [Item] = []
        private var numbers: [Item: Int] = [:]

        mutating func number(of item: Item) -> Int {
            if let number = numbers[item] { return number }
            numbers[item] = all.count
            all.append(item)
            return all.count - 1
        }
    }

    private init(_ log: RunLog, _ results: RunResults?) {
        (self.log, self.results) = (log, results)
        // In the order of the scenario.
        for app in log.roster.map(\.app) + log.apps { _ = apps.number(of: app) }
    }

    /// - Parameters:
    ///   - title: what the run is called.
    ///   - name: what stands for it in commands, such as its folder.
    ///   - results: what it came to; nil where that is not known yet.
    static func json(_ log: RunLog, title: String, name: String, results: RunResults?) -> [UInt8] {
        var data = PageData(log, results)
        data.write(title, name)
        return data.line.bytes.escapedForScript
    }

    private mutating func write(_ title: String, _ name: String) {
        line.append("{")
        line.put("title", title)
        line.put("name", name)
        line.put("phone", log.header.phone)
        line.put("profile", log.header.profile)
        line.put("seed", "\(log.header.seed)")
        line.put("version", log.header.version)
        line.put("settings", log.header.settings)
        line.put("end", log.end.nanoseconds)
        writeDecisions()
        writeValues()
        writeOutcomes()
        writeMoves()
        writeTracks()
        writeEntries()
        writeFailures()
        writeEvidence()
        // What was named meanwhile.
        line.key("apps")
        line.append(list: apps.texts)
        line.put("names", Dictionary(log.roster.map { ($0.app, $0.name) }, uniquingKeysWith: { first, _ in first }))
        line.key("texts")
        line.append(list: texts.texts)
        line.append("}")
    }

    // MARK: Decisions

    private mutating func writeDecisions() {
        var (whats, rulings, budgets) = (Numbers<What>(), Numbers<Ruling>(), Numbers<DecisionRecord.Budget>())
        var columns: [(StaticString, PackedBytes)] = [
            ("time", .init()), ("number", .init()), ("event", .init()), ("app", .init()), ("what", .init()),
            ("ruling", .init()), ("budget", .init()), ("replaces", .init()),
        ]
        var (at, number, event) = (Int64(0), UInt64(0), UInt64(0))
        for decision in log.decisions {
            let what = What(source: decision.source, kind: decision.kind, subject: decision.subject)
            let ruling = Ruling(verdict: decision.verdict, reason: decision.reason, rule: decision.rule)
            columns[0].1.append(signed: decision.at.nanoseconds &- at)
            columns[1].1.append(decision.id.number, less: number)
            columns[2].1.append(decision.event.number, less: event)
            columns[3].1.append(decision.app.map { apps.number(of: $0) + 1 } ?? 0)
            columns[4].1.append(whats.number(of: what))
            columns[5].1.append(rulings.number(of: ruling))
            columns[6].1.append(decision.budget.map { budgets.number(of: $0) + 1 } ?? 0)
            let replaces = decision.supersedes
            columns[7].1.append(replaces == .none ? 0 : max(1, decision.id.number &- replaces.number))
            (at, number, event) = (decision.at.nanoseconds, decision.id.number, decision.event.number)
        }
        write("decisions", count: log.decisions.count, columns)
        write(whats.all)
        write(rulings.all, of: whats.all)
        write("budgets", budgets.all) { line, budget in
            line.append(budget.limit)
            line.append(",")
            line.append(budget.left)
        }
    }

    /// What came with the events of decisions, of those that have any.
    private mutating func writeValues() {
        var columns: [(StaticString, PackedBytes)] = [("decision", .init()), ("text", .init())]
        var (count, last) = (0, 0)
        for (position, decision) in log.decisions.enumerated() {
            guard let value = log.value(of: decision) else { continue }
            columns[0].1.append(position - last)
            columns[1].1.append(texts.number(of: value))
            (count, last) = (count + 1, position)
        }
        write("values", count: count, columns)
    }

    private mutating func write(_ whats: [What]) {
        write("whats", whats) { line, what in
            line.append(quoted: what.source)
            line.append(",")
            line.append(quoted: what.kind)
            line.append(",")
            line.append(quoted: what.subject)
        }
    }

    /// The rulings, and what their reasons mean for the kinds of event that the run has.
    private mutating func write(_ rulings: [Ruling], of whats: [What]) {
        write("rulings", rulings) { line, ruling in
            line.append(quoted: ruling.verdict.word)
            line.append(",")
            line.append(quoted: ruling.reason.word)
            line.append(",")
            line.append(quoted: ruling.rule.text)
        }
        var kinds = Numbers<String>()
        for what in whats { _ = kinds.number(of: what.kind) }
        var reasons = Numbers<Reason>()
        for ruling in rulings { _ = reasons.number(of: ruling.reason) }
        line.key("kinds")
        line.append("{")
        for kind in kinds.all {
            line.key(kind)
            let mode = EventKind(word: kind)?.mode
            line.append("{")
            line.put("mode", mode?.plistValue ?? "the source's mode")
            line.put("device", PageTracks.devices[kind] != nil)
            line.key("because")
            line.append("{")
            for reason in reasons.all {
                line.key(reason.word)
                line.append(list: ReasonText.because(reason, of: mode).pieces)
            }
            line.append("}}")
        }
        line.append("}")
        writeSettings()
    }

    /// What the run sets of each rule, as ``Why`` says it.
    private mutating func writeSettings() {
        let set = ProfileSetting.all.compactMap { setting in
            log.header.settings[setting.name].map { (setting.rule.text, "\(setting.name) \($0)") }
        }
        write("set", set) { line, each in
            line.append(quoted: each.0)
            line.append(",")
            line.append(quoted: each.1)
        }
    }

    // MARK: Outcomes and moves

    private mutating func writeOutcomes() {
        var columns: [(StaticString, PackedBytes)] = [
            ("decision", .init()), ("pid", .init()), ("spawn", .init()), ("used", .init()), ("ended", .init()),
            ("exit", .init()), ("calls", .init()),
        ]
        var calls: [(StaticString, PackedBytes)] = [("name", .init()), ("time", .init()), ("value", .init())]
        var (count, callCount, last, pid) = (0, 0, 0, Int64(0))
        for (position, decision) in log.decisions.enumerated() {
            guard let outcome = log.outcomes[decision.id.number] else { continue }
            columns[0].1.append(position - last)
            columns[1].1.append(signed: Int64(outcome.pid) - pid)
            columns[2].1.append(outcome.spawn.map { UInt64(max(0, $0.nanoseconds)) + 1 } ?? 0)
            columns[3].1.append(outcome.used.map { UInt64(max(0, $0.nanoseconds)) + 1 } ?? 0)
            let ended = outcome.ended.map { Int($0.rawValue) + 1 } ?? 0
            columns[4].1.append(ended * 2 + (outcome.acknowledged ? 1 : 0))
            columns[5].1.append(outcome.exit)
            columns[6].1.append(outcome.delivered.count)
            (count, last, pid) = (count + 1, position, Int64(outcome.pid))
            callCount += outcome.delivered.count
            for call in outcome.delivered {
                calls[0].1.append(texts.number(of: call.name))
                calls[1].1.append(signed: call.at.nanoseconds &- decision.at.nanoseconds)
                calls[2].1.append(call.value.map { texts.number(of: $0) + 1 } ?? 0)
            }
        }
        write("outcomes", count: count, columns)
        write("calls", count: callCount, calls)
    }

    private mutating func writeMoves() {
        var columns: [(StaticString, PackedBytes)] = [
            ("app", .init()), ("time", .init()), ("state", .init()), ("pid", .init()),
        ]
        let moves = PageTracks.ofApps(log)
        var (at, pid) = (Int64(0), Int64(0))
        for move in moves {
            columns[0].1.append(apps.number(of: move.app))
            columns[1].1.append(signed: move.at.nanoseconds &- at)
            columns[2].1.append(Int(move.state))
            columns[3].1.append(signed: Int64(move.pid) - pid)
            (at, pid) = (move.at.nanoseconds, Int64(move.pid))
        }
        write("moves", count: moves.count, columns)
    }

    // MARK: Tracks and entries

    private mutating func writeTracks() {
        line.key("phoneRows")
        list(PageTracks.ofPhone(log)) { line, track in Self.write(track, into: &line) }
        line.key("devices")
        list(PageTracks.ofDevices(log)) { line, device in
            line.append("{")
            line.put("name", device.link.name)
            line.key("link")
            Self.write(device.link, into: &line)
            line.key("range")
            Self.write(device.range, into: &line)
            line.append("}")
        }
    }

    private static func write(_ track: PageTracks.Track, into line: inout LineBuffer) {
        line.append("{")
        line.put("name", track.name)
        line.key("bands")
        line.append("[")
        for (position, band) in track.bands.enumerated() {
            if position > 0 { line.append(",") }
            line.append("[")
            line.append(band.at.nanoseconds)
            line.append(",")
            line.append(quoted: band.state)
            line.append("]")
        }
        line.append("]}")
    }

    /// What is told of single instants: when, the app or -1, and the rest.
    private mutating func writeEntries() {
        write("notes", log.notes, \.at, \.app) { [$0.text] }
        // What is found of an app stands with it as a deed.
        let findings = log.findings
        write("acts", log.acts, \.at, \.app) { act in
            let found = act.app == nil ? findings[act.event].map { ": \($0)" } ?? "" : ""
            return [act.word + found, act.origin, LogTime.text(act.event)]
        }
        // What an app gets with its bundle is no news.
        write("deeds", log.deeds.filter { $0.at > .zero }, \.at, \.app) { [$0.text] }
        write("exits", log.exits, \.at, { $0.app }) { exit in
            let code = exit.code > 255 ? "0x" + String(exit.code, radix: 16) : "\(exit.code)"
            let pid = exit.pid == 0 ? "" : "\(exit.pid)"
            return ["x-\(exit.number)", exit.cause.word, code, exit.stateBefore.word, pid, exit.words]
        }
        write("signposts", log.signposts, \.at, { $0.app }) { each in
            let text = each.message.isEmpty ? each.name : "\(each.name): \(each.message)"
            return [each.mark.rawValue, text, "\(each.name) \(each.span ?? "")"]
        }
    }

    /// When the run failed, and what was missed: an expectation, or the end of the run.
    private mutating func writeFailures() {
        var failures: [(at: Instant, text: String, place: String)] = []
        for each in results?.cases ?? [] {
            guard let found = each.failure else { continue }
            failures.append((each.at ?? log.end, "not met: \(each.name); \(found)", each.place))
        }
        if let results, let fault = results.fault {
            failures.append((results.end, fault.complaint, ""))
        }
        failures.sort { $0.at < $1.at }
        write("failures", failures, { $0.at }, { _ in nil }, { [$0.text, $0.place] })
    }

    private mutating func write<Entry>(
        _ name: StaticString,
        _ entries: [Entry],
        _ at: (Entry) -> Instant,
        _ app: (Entry) -> String?,
        _ words: (Entry) -> [String]
    ) {
        line.key(name)
        line.append("[")
        for (position, entry) in entries.enumerated() {
            line.append(position > 0 ? ",\n[" as StaticString : "[")
            line.append(at(entry).nanoseconds)
            line.append(",")
            line.append(app(entry).map { Int64(apps.number(of: $0)) } ?? -1)
            for word in words(entry) {
                line.append(",")
                line.append(quoted: word)
            }
            line.append("]")
        }
        line.append("]")
    }

    // MARK: Evidence

    private mutating func writeEvidence() {
        guard let evidence = log.evidence else { return }
        line.key("evidence")
        line.append("{")
        line.put("block", Int64(Evidence.block))
        line.key("fragments")
        line.append(list: evidence.fragments.all.map { String(decoding: $0, as: UTF8.self) })
        line.key("texts")
        line.append(list: evidence.texts.all.map { String(decoding: $0, as: UTF8.self) })
        line.key("shapes")
        list(evidence.shapes) { line, shape in
            line.append("[[")
            for (position, part) in shape.parts.enumerated() {
                if position > 0 { line.append(",") }
                line.append(Int64(part))
            }
            line.append("],\"")
            for place in shape.places { line.append(byte: 0x30 + place.rawValue) }
            line.append("\"]")
        }
        var starts = PackedBytes()
        var last = 0
        for start in evidence.starts {
            starts.append(start - last)
            last = start
        }
        line.key("starts")
        line.append(packed: starts)
        line.key("rows")
        line.append(packed: evidence.rows)
        line.append("}")
    }

    // MARK: Parts

    private mutating func write(_ name: StaticString, count: Int, _ columns: [(StaticString, PackedBytes)]) {
        line.key(name)
        line.append("{")
        line.put("count", Int64(count))
        for column in columns {
            line.key(column.0)
            line.append(packed: column.1)
        }
        line.append("}")
    }

    private mutating func list<Item>(_ items: [Item], _ write: (inout LineBuffer, Item) -> Void) {
        line.append("[")
        for (position, item) in items.enumerated() {
            if position > 0 { line.append(",\n") }
            write(&line, item)
        }
        line.append("]")
    }

    /// A list of lists.
    private mutating func write<Item>(
        _ name: StaticString,
        _ items: [Item],
        _ write: (inout LineBuffer, Item) -> Void
    ) {
        line.key(name)
        list(items) { line, item in
            line.append("[")
            write(&line, item)
            line.append("]")
        }
    }
}

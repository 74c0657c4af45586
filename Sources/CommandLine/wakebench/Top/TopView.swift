import Glibc
import WakeBench
import WakeJSON
import WakeModel
import WakeReports
import WakeScreen
import WakeSystem

/// The terminal view while it is shown: keeps what it shows up to date with the daemon, and does what keys say.
final class TopView {
    private let loop: EventLoop
    private let socket: String
    private let screen: Screen
    private var model: TopModel
    private var stream: ControlStream?
    /// One that has ended is let go when its line has been heard.
    private var endedStream: ControlStream?
    /// When the daemon is asked again for what it does not tell by itself: clocks, what is left of windows, signal strength.
    private let tick: Timer
    /// When what has changed meanwhile is asked for and drawn.
    private let soon: Timer
    /// Whether an answer about the phone is awaited.
    private var isAsking = false
    /// For how many ticks in a row one has been.
    private var waited = 0
    private var hasNews = false
    /// Whether phones may stand otherwise than they did.
    private var phonesChanged = true
    /// A text over the lists, and how many of its lines are above the screen; nil for none.
    private var page: (lines: [String], above: Int)?
    private var failure: CommandFailure?
    private var signals: [SignalWatch] = []
    /// Phones whose earlier decisions have been read.
    private var read: Set<String> = []

    /// In milliseconds.
    private static let tickSpan: Int64 = 1_000
    private static let drawSpan: Int64 = 50
    /// In ticks: a daemon that is silent for so long is said to be.
    private static let patience = 10

    /// Takes the terminal.
    ///
    /// - Throws: ``CommandFailure``: exit code 9 where no daemon answers, 12 where there is no terminal.
    init(socket: String, phone: String?, colours: Bool) throws(CommandFailure) {
        (self.socket, model) = (socket, TopModel(phone: phone))
        do throws(SystemError) {
            loop = try EventLoop()
            (tick, soon) = (try loop.timer(on: .monotonic), try loop.timer(on: .monotonic))
        } catch {
            throw CommandFailure(.internal, error.description)
        }
        let first = try ControlStream(socket: socket, on: loop)
        do throws(SystemError) {
            screen = try Screen(on: loop, colours: colours)
            for number in [SIGINT, SIGTERM, SIGHUP] {
                signals.append(try loop.signal(number) { [unowned self] in loop.exit() })
            }
        } catch {
            throw CommandFailure(
                .environment,
                "no terminal that can be drawn on",
                hint: "set TERM, or give --once or --json"
            )
        }
        screen.pressed = { [unowned self] in press($0) }
        screen.resized = { [unowned self] in draw() }
        screen.ended = { [unowned self] in loop.exit() }
        tick.handler = { [unowned self] in ticked() }
        soon.handler = { [unowned self] in refresh() }
        attach(first)
    }

    /// Shows it until the user has seen enough.
    func run() throws(CommandFailure) {
        draw()
        tick.arm(after: Self.tickSpan)
        do throws(SystemError) { _ = try loop.run() } catch { throw CommandFailure(.internal, error.description) }
        if let failure { throw failure }
    }

    // MARK: The daemon

    private func attach(_ stream: ControlStream) {
        self.stream = stream
        stream.told = { [unowned self] in hear($0) }
        stream.ended = { [unowned self] in
            (endedStream, self.stream, isAsking) = (self.stream, nil, false)
            draw()
        }
        stream.ask([.init("op", "hello")]) { [unowned self] answer in
            switch answer {
            case .success(let hello): if let stranger = CommandFailure(stranger: hello, at: socket) { end(stranger) }
            case .failure(let refusal): end(refusal)
            }
        }
        stream.ask([.init("op", "follow"), .init("phone", "all")]) { _ in }
        phonesChanged = true
        refresh()
    }

    private func end(_ failure: CommandFailure) {
        self.failure = failure
        loop.exit()
    }

    private func ticked() {
        tick.arm(after: Self.tickSpan)
        endedStream = nil
        watchSilence()
        if stream == nil, let again = try? ControlStream(socket: socket, on: loop) {
            // What was decided meanwhile is in the logs.
            model.forgetEntries()
            read = []
            attach(again)
        } else {
            phonesChanged = true
            refresh()
        }
    }

    private func watchSilence() {
        let wasSilent = waited >= Self.patience
        waited = isAsking ? waited + 1 : 0
        if waited >= Self.patience {
            model.message = ("the daemon does not answer", true)
            draw()
        } else if wasSilent {
            model.message = nil
        }
    }

    private func hear(_ line: JSONValue) {
        let phone = line["phone"]?.string ?? ""
        switch line["type"]?.string {
        case "decision":
            if let record = line["record"], let entry = TopEntry(decision: record, of: phone) { model.add(entry) }
        case "row":
            model.add(TopEntry(row: line, of: phone))
            phonesChanged = true
        case "phone": phonesChanged = true
        case "gap": model.add(TopEntry(lost: line["dropped"]?.unsigned ?? 0, of: model.phone ?? ""))
        default: break
        }
        changed()
    }

    /// Has what changed asked for and drawn, not more often than somebody can see.
    private func changed() {
        guard !hasNews else { return }
        hasNews = true
        soon.arm(after: Self.drawSpan)
    }

    /// Asks how all stands, and draws when it is known.
    private func refresh() {
        hasNews = false
        guard let stream else { return draw() }
        // What is asked now may be older than the news.
        guard !isAsking else { return changed() }
        isAsking = true
        guard phonesChanged else { return askForChosen(stream) }
        phonesChanged = false
        stream.ask([.init("op", "phones")]) { [unowned self] in
            if case .success(let answer) = $0 { model.take(phones: answer) }
            askForChosen(stream)
        }
    }

    private func askForChosen(_ stream: ControlStream) {
        guard let phone = model.chosenPhone, phone.isBooted else {
            isAsking = false
            return draw()
        }
        stream.ask([.init("op", "apps"), .init("phone", phone.name)]) { [unowned self] in
            if case .success(let answer) = $0, model.phone == phone.name { model.take(apps: answer) }
        }
        stream.ask([.init("op", "devices"), .init("phone", phone.name)]) { [unowned self] in
            if case .success(let answer) = $0, model.phone == phone.name { model.take(devices: answer) }
            isAsking = false
            readEarlier(of: phone)
            draw()
        }
    }

    /// Reads what a phone decided before it was followed, from its log.
    private func readEarlier(of phone: TopPhone) {
        guard read.insert(phone.name).inserted else { return }
        var earlier: [TopEntry] = []
        try? RunLog.eachRecord(folder: phone.folder) { record in
            guard let value = JSONValue(parsing: record), let entry = TopEntry(decision: value, of: phone.name) else {
                return true
            }
            earlier.append(entry)
            if earlier.count > 2 * TopModel.mostEntries { earlier.removeFirst(TopModel.mostEntries) }
            return true
        }
        model.add(earlier: earlier, of: phone.name)
    }

    private func draw() {
        let (columns, rows) = screen.size
        if let page {
            screen.draw(page.lines.dropFirst(page.above).prefix(rows).map { .init([.init(TerminalText.escaped($0))]) })
        } else {
            screen.draw(TopPage(model: model, columns: columns, rows: rows, isConnected: stream != nil).lines)
        }
    }

    // MARK: Keys

    private func press(_ key: Screen.Key) {
        if key == .character("q") { return loop.exit() }
        if page != nil { turnPage(key) } else { choose(key) }
        draw()
    }

    private func turnPage(_ key: Screen.Key) {
        guard let lines = page?.lines, let above = page?.above else { return }
        let rows = screen.size.rows
        let step: Int
        switch key {
        case .down: step = 1
        case .up: step = -1
        case .pageDown: step = rows
        case .pageUp: step = -rows
        default:
            page = nil
            return
        }
        page = (lines, min(max(0, above + step), max(0, lines.count - rows)))
    }

    private func choose(_ key: Screen.Key) {
        model.message = nil
        switch key {
        case .tab: model.nextPane()
        case .up, .character("k"): move(by: -1)
        case .down, .character("j"): move(by: 1)
        case .pageUp: model.scroll(by: screen.size.rows / 2)
        case .pageDown: model.scroll(by: -screen.size.rows / 2)
        case .end: model.scrolledBack = 0
        case .character("?"): page = (TopKey.help, 0)
        case .character("w"): page = (why, 0)
        default: if let known = TopKey.all.first(where: { $0.key == key }) { carryOut(known) }
        }
    }

    private func move(by step: Int) {
        let before = model.phone
        model.move(by: step)
        if model.phone != before { refresh() }
    }

    private func carryOut(_ key: TopKey) {
        guard let request = key.request(model) else {
            model.message = ("\(key.name): nothing is chosen that it could be done to", true)
            return
        }
        guard let stream else { return }
        stream.ask([.init("op", request.op)] + request.members) { [unowned self] answer in
            switch answer {
            case .success(let done):
                let at = done["at"]?.string.map { ", accepted at \($0)" } ?? ", done"
                model.message = (request.text + at, false)
            case .failure(let refusal): model.message = (refusal.line, true)
            }
            phonesChanged = true
            changed()
        }
    }

    /// What `why` says of the chosen app.
    private var why: [String] {
        guard let phone = model.chosenPhone, let app = model.chosenApp else { return ["no app is chosen"] }
        do throws(ReportError) {
            let log = try RunLog(folder: phone.folder, app: app.bundle)
            let text = Why(log, app: app.bundle, width: screen.size.columns).explanation()
            return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        } catch {
            return [CommandFailure(.environment, error).line]
        }
    }
}

import WakeModel
import WakeReports
import WakeScreen

/// The terminal view's lines for a screen of some size.
struct TopPage {
    let model: TopModel
    let columns: Int
    let rows: Int
    let isConnected: Bool

    /// The least that is left for what happened, with its heading.
    private static let leastEntries = 5

    var lines: [Screen.Line] {
        var left = rows - 2 - Self.leastEntries
        var lines = [title]
        // Half of what is left is for apps: there are more of them than of phones and devices.
        let phones = list(TopPhone.head, model.phones.map(\.cells), of: .phones, atMost: max(2, left / 4))
        left -= phones.count
        let devices = list(TopDevice.head, model.devices.map(\.cells), of: .devices, atMost: max(2, left / 3))
        left -= devices.count
        lines += phones + list(TopApp.head, model.apps.map(\.cells), of: .apps, atMost: max(2, left)) + devices
        lines += entries(max(0, rows - lines.count - 1))
        return lines + [footer]
    }

    private var title: Screen.Line {
        let booted = model.phones.count(where: \.isBooted)
        let state =
            isConnected ? "\(booted) of \(model.phones.count) phones booted" : "the daemon is gone; waiting for it"
        return Screen.Line([.init("wakebench top", .bold), .init("  " + state, isConnected ? .plain : .bad)])
    }

    // MARK: Lists

    /// A heading and rows, with the chosen one among them.
    private func list(_ head: [String], _ all: [[String]], of pane: TopModel.Pane, atMost height: Int) -> [Screen.Line]
    {
        let (chosen, most) = (place(in: pane), max(1, height - 1))
        let first = min(max(0, (chosen ?? 0) - most / 2), max(0, all.count - most))
        let shown = Array(all.dropFirst(first).prefix(most))
        let widths = head.indices.map { column in ([head] + shown).map { $0[column].count }.max() ?? 0 }
        var heading = Self.padded(head, widths).joined(separator: "  ")
        if shown.count < all.count { heading += "  (\(first + 1)-\(first + shown.count) of \(all.count))" }
        let rows = shown.enumerated().map { number, row in
            let isChosen = first + number == chosen
            let mark = Screen.Span(isChosen ? "> " : "  ")
            let cells = zip(Self.padded(row.map(TerminalText.escaped), widths), row).map { cell, word in
                Screen.Span(cell + "  ", Self.style(word))
            }
            return Screen.Line([mark] + cells, isChosen: isChosen && pane == model.pane)
        }
        return [Screen.Line([.init("  " + heading, pane == model.pane ? .bold : .dim)])] + rows
    }

    private func place(in pane: TopModel.Pane) -> Int? {
        switch pane {
        case .phones: model.phones.firstIndex { $0.name == model.phone }
        case .apps: model.apps.firstIndex { $0.name == model.app }
        case .devices: model.devices.firstIndex { $0.name == model.device }
        }
    }

    private static func padded(_ cells: [String], _ widths: [Int]) -> [String] {
        zip(cells, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
    }

    private static func style(_ word: String) -> Screen.Style {
        switch Paint.of(verdict: word) {
        case .green: .good
        case .red: .bad
        case .yellow: .waiting
        case nil: word == "failed" ? .bad : .plain
        }
    }

    // MARK: What happened

    private func entries(_ height: Int) -> [Screen.Line] {
        let all = model.shownEntries
        var heading = "  WHAT HAPPENED ON \(TerminalText.escaped(model.phone ?? "-"))"
        if model.scrolledBack > 0 { heading += "  (\(model.scrolledBack) newer below; End shows them)" }
        let shown = all.dropLast(model.scrolledBack).suffix(max(0, height - 1))
        let names = Dictionary(model.apps.map { ($0.bundle, $0.name) }) { first, _ in first }
        let lines = shown.map { entry in
            let app = TerminalText.escaped(names[entry.app] ?? entry.app)
            let verdict = entry.verdict ?? "-"
            return Screen.Line([
                .init("  " + Self.fitted(entry.at, 15)),
                .init(" " + Self.fitted(app, 16)),
                .init(" " + Self.fitted(verdict, 18), Self.style(verdict)),
                .init(" " + Self.fitted(TerminalText.escaped(entry.reason), 22)),
                .init(" " + TerminalText.escaped(entry.event)),
            ])
        }
        let blank = max(0, height - 1 - lines.count)
        return [Screen.Line([.init(heading, .dim)])] + lines + Array(repeating: Screen.Line([]), count: blank)
    }

    private static func fitted(_ text: String, _ width: Int) -> String {
        text.count <= width
            ? text + String(repeating: " ", count: width - text.count) : text.prefix(width - 1) + "~"
    }

    private var footer: Screen.Line {
        if let message = model.message {
            return Screen.Line([.init(TerminalText.escaped(message.text), message.isComplaint ? .bad : .plain)])
        }
        return Screen.Line([.init("q quit  ? keys  Tab list  Enter launch  h home  n notify  l lock  w why", .dim)])
    }

    /// The same without a cursor, for a reader that is no terminal.
    static func text(_ model: TopModel) -> [String] {
        [(TopPhone.head, model.phones.map(\.cells)), (TopApp.head, model.apps.map(\.cells))]
            .flatMap { head, rows in TextTable.lines([head] + rows, width: Terminal.width) + [""] }
            + TextTable.lines([TopDevice.head] + model.devices.map(\.cells), width: Terminal.width)
    }
}

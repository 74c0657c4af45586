import WakeJSON
import WakeModel

extension RunComparison {
    /// What one reads at the terminal: each difference with its likely causes, and a summary as the last line.
    package var lines: [String] {
        if isEqual {
            let without = apps.isEmpty ? ", neither of which has a decision" : ""
            return ["equal verdicts: \(names.left) and \(names.right)\(without)"]
        }
        var lines = settings.map { "set differently  \($0)" }
        for app in apps where !app.differences.isEmpty {
            for difference in app.differences { lines += self.lines(difference, of: app) }
            if app.leftOff > 0 { lines.append("\(app.app): and \(app.leftOff) more differences") }
        }
        return lines + [summary]
    }

    private func lines(_ difference: Difference, of app: App) -> [String] {
        var lines = [head(difference, of: app)]
        lines += difference.causes.map { "  cause  \($0)" }
        // Of neighbours the first and the last say it.
        if difference.kind != .rest, difference.kind != .count, difference.before + difference.after == 0 {
            return lines
        }
        let what = difference.kind == .value || difference.kind == .count ? "value" : "step"
        let before = "\(Plural.text(difference.before, what)) agree\(difference.before == 1 ? "s" : "") before it"
        let after: String
        switch difference.kind {
        case .rest: after = "the rest is too different to be told step by step"
        case .count: after = "then one run has no more"
        default: after = difference.after == 0 ? "none right after it" : "\(difference.after) after it agree again"
        }
        return lines + ["  around \(before), \(after)"]
    }

    private func head(_ difference: Difference, of app: App) -> String {
        let (one, other) = (difference.left, difference.right)
        switch difference.kind {
        case .count:
            return
                "\(app.app): \(names.left) has \(app.values.left) values, \(names.right) \(app.values.right); the shorter may lack a tenth"
        case .value:
            return
                "\(app.app), value \(one?.number ?? 0): \(names.left) has \(text(one)); \(names.right) has \(text(other))"
        case .missing, .verdict, .moved, .rest: break
        }
        let place = "\(app.app), step \(one?.number ?? other?.number ?? 0)"
        switch (one, other) {
        case (let one?, let other?) where difference.kind == .moved:
            let way = one.at <= other.at ? ("then", "later") : ("then", "sooner")
            return "\(place): both have \(one.text), \(names.left) \(way.0) at \(LogTime.text(one.at)), "
                + "\(names.right) \(way.1) at \(LogTime.text(other.at)), as its step \(other.number)"
        case (let one?, let other?):
            return "\(place): \(names.left) has \(text(one)); \(names.right) has \(text(other))"
        case (let side?, nil): return "\(place): only \(names.left) has \(text(side))"
        case (nil, let side?): return "\(place): only \(names.right) has \(text(side))"
        case (nil, nil): return place
        }
    }

    private func text(_ side: Side?) -> String {
        guard let side else { return "none" }
        let more = side.count > 1 ? ", and \(Plural.text(side.count - 1, "step")) more" : ""
        return "\(side.text) (\(LogTime.text(side.at)), \(LogTime.text(side.decision)))\(more)"
    }

    /// The last line.
    package var summary: String {
        let different = apps.count { !$0.differences.isEmpty }
        let steps = apps.reduce(into: (agree: 0, all: 0)) { sum, app in
            sum.agree += app.steps.agree
            sum.all += max(app.steps.left, app.steps.right)
        }
        let values = apps.reduce(into: (agree: 0, all: 0)) { sum, app in
            sum.agree += app.values.agree
            sum.all += max(app.values.left, app.values.right)
        }
        var text =
            "\(different) of \(Plural.text(apps.count, "app")) differ\(different == 1 ? "s" : ""): "
            + "\(steps.agree) of \(Plural.text(steps.all, "step")) agree"
        if values.all > 0 { text += ", and \(values.agree) of \(Plural.text(values.all, "value"))" }
        let shift = apps.map(\.shift).max { abs($0.nanoseconds) < abs($1.nanoseconds) } ?? .zero
        let size = Instant.Span(nanoseconds: abs(shift.nanoseconds))
        return size == .zero ? text : text + "; agreeing steps are at most \(LogTime.text(size)) apart"
    }

    // MARK: JSON

    /// One object, `wake.compare/1`.
    package var json: String {
        var writer = JSONWriter()
        writer.openObject()
        writer.key("schema")
        writer.string("wake.compare/1")
        writer.key("ok")
        writer.bool(isEqual)
        writer.key("equal")
        writer.bool(isEqual)
        writer.key("left")
        writer.string(names.left)
        writer.key("right")
        writer.string(names.right)
        writer.key("settings")
        writer.strings(settings)
        writer.key("summary")
        writer.string(isEqual ? lines[0] : summary)
        writer.key("apps")
        writer.openArray()
        for app in apps { write(app, &writer) }
        writer.closeArray()
        writer.closeObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(_ app: App, _ writer: inout JSONWriter) {
        writer.openObject()
        writer.key("app")
        writer.string(app.app)
        for (name, counts) in [("steps", app.steps), ("values", app.values)] {
            writer.key(text: name)
            writer.openObject()
            writer.key("left")
            writer.whole(counts.left)
            writer.key("right")
            writer.whole(counts.right)
            writer.key("agree")
            writer.whole(counts.agree)
            writer.closeObject()
        }
        writer.key("shift_ms")
        writer.integer(app.shift.milliseconds)
        writer.key("differences")
        writer.openArray()
        for difference in app.differences { write(difference, of: app, &writer) }
        writer.closeArray()
        writer.key("left_off")
        writer.whole(app.leftOff)
        writer.closeObject()
    }

    private func write(_ difference: Difference, of app: App, _ writer: inout JSONWriter) {
        writer.openObject()
        writer.key("kind")
        writer.string(difference.kind.rawValue)
        writer.key("text")
        writer.string(head(difference, of: app))
        for (name, side) in [("left", difference.left), ("right", difference.right)] {
            writer.key(text: name)
            guard let side else {
                writer.value(.null)
                continue
            }
            writer.openObject()
            writer.key("number")
            writer.whole(side.number)
            writer.key("what")
            writer.string(side.text)
            writer.key("t")
            writer.string(LogTime.text(side.at))
            writer.key("decision")
            writer.string(LogTime.text(side.decision))
            writer.key("count")
            writer.whole(side.count)
            writer.closeObject()
        }
        writer.key("before")
        writer.whole(difference.before)
        writer.key("after")
        writer.whole(difference.after)
        writer.key("causes")
        writer.strings(difference.causes)
        writer.closeObject()
    }
}

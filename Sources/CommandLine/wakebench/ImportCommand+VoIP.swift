import WakeBench
import WakeCaptures
import WakeDevices
import WakeModel
import WakeReports

extension ImportCommand {
    /// Calls over a network, and a server made of one end.
    static func importCalls(_ arguments: Arguments, to out: String?) throws(CommandFailure) -> ExitCode {
        try refuse(["--table", "--loop"], "a capture of a network", arguments)
        let place = try arguments.value("--address").map { (text) throws(CommandFailure) in
            guard let place = NetworkPlace(text) else {
                throw CommandFailure(
                    .usage,
                    "'\(text)' is no address",
                    hint: "write it as 192.0.2.1, 192.0.2.1:5060 or [2001:db8::1]:5060"
                )
            }
            return place
        }
        let made = try calls(of: arguments.rest, place, try pace(arguments), to: out)
        for line in arguments.has("--json") ? [made.json] : made.lines.map(TerminalText.escaped) { print(line) }
        return .done
    }

    /// What captures of calls show, and a server made of one end, which is written where somebody says.
    static func calls(
        of files: [String],
        _ place: NetworkPlace? = nil,
        _ pace: Pace = Pace(),
        to out: String?
    ) throws(CommandFailure) -> Made {
        var imported = ImportedCalls()
        for file in files { try imported.read(file) }
        try imported.choose(place, pace)
        if let out {
            guard let lift = imported.lift else {
                throw failure(.invalidFile, in: files, "no SIP", hint: "see it without --out")
            }
            try write(lift.server.text(comments: imported.comments), to: out)
            imported.written = out
        }
        return Made(lines: imported.lines, json: try Output.json(page: imported.page))
    }
}

/// The captures that were read, and what an import says of them.
private struct ImportedCalls {
    private let reading = CallReading()
    private var files: [ImportSummary.File] = []
    private var chosen: CapturedCall?
    private(set) var lift: CallServerLift?
    var written: String?

    private static let mostShown = 20

    mutating func read(_ file: String) throws(CommandFailure) {
        var source: CaptureBytes
        do { source = try CaptureBytes(file: file) } catch { throw CommandFailure(.invalidFile, error) }
        guard let format = CaptureFormat.detect(&source) else {
            throw CommandFailure(.invalidFile, in: file, "no capture of a network", hint: "give pcap and pcapng alone")
        }
        let before = reading.recordCount
        var damage: CaptureDamage?
        do { try reading.read(&source, format) } catch {
            if error.isUnread { throw ImportCommand.unread(error, in: file) }
            damage = error
        }
        var summary = ImportSummary.File(path: file, format: format)
        (summary.records, summary.damage) = (reading.recordCount - before, damage)
        files.append(summary)
    }

    /// Takes the connection with the most messages, of those that somebody names.
    mutating func choose(_ place: NetworkPlace?, _ pace: Pace) throws(CommandFailure) {
        let calls = reading.calls
        let fitting = calls.filter { call in
            guard let place else { return true }
            return call.ends.contains { place.holds($0) }
        }
        chosen = fitting.first
        if let chosen, let start = reading.first {
            lift = CallServerLift(chosen, start: start, pace: pace, server: place)
        } else if place != nil {
            let seen = Set(calls.prefix(8).flatMap(\.ends).map(\.text)).sorted().joined(separator: ", ")
            throw ImportCommand.failure(
                .notFound,
                in: files.map(\.path),
                "this address speaks no SIP",
                hint: seen.isEmpty ? "no address of the capture does" : "shown are \(seen)"
            )
        }
    }

    // MARK: For people

    private var summaries: [String] { files.map { "\($0.path): \($0.format.name), \($0.records) records" } }

    private var serverLine: String? {
        lift.flatMap { lift in chosen.map { "server: \($0.endpoint(lift.side).text), \(lift.reason)" } }
    }

    var comments: [String] {
        summaries.map { "From \($0)" } + [serverLine].compactMap(\.self) + (lift?.notes ?? [])
    }

    private func words(_ call: CapturedCall) -> String {
        let alive = call.keepAliveCount > 0 ? ", \(Plural.text(call.keepAliveCount, "keep-alive"))" : ""
        return
            "\(call.isTCP ? "TCP" : "UDP") \(call.ends[0].text) and \(call.ends[1].text): \(call.messages.count) messages\(alive)"
    }

    var lines: [String] {
        var lines: [String] = []
        for (file, summary) in zip(files, summaries) {
            lines.append(summary)
            if let damage = file.damage {
                lines.append(
                    "\(file.path): damaged at byte \(damage.offset): \(damage.found); what stands before it is kept"
                )
            }
        }
        let calls = reading.calls
        lines.append(calls.isEmpty ? "SIP: none" : "SIP:")
        lines += calls.prefix(Self.mostShown).map { "\($0 === chosen ? "*" : " ") \(words($0))" }
        if calls.count > Self.mostShown { lines.append("  and \(calls.count - Self.mostShown) more") }
        if let chosen, let lift, let start = reading.first, let line = serverLine {
            lines += [line, "dialogue:"]
            lines += chosen.messages.prefix(Self.mostShown).map { message in
                let time = Instant.Span.milliseconds((message.time - start) / 1_000_000)
                let who = message.side == lift.side ? "server" : "phone"
                return "  \(DurationText.text(time)) \(who): \(message.message.lines[0])"
            }
            if chosen.messages.count > Self.mostShown {
                lines.append("  and \(chosen.messages.count - Self.mostShown) more")
            }
        }
        let skipped = reading.leftOut.entries
        if !skipped.isEmpty { lines.append("skipped:") }
        lines += skipped.map { "  \($0.count) \($0.why), the first at byte \($0.first)" }
        if let written, let lift {
            let steps = Plural.text(lift.server.plan.count, "step")
            lines.append("\(written): a plan of \(steps), \(Plural.text(lift.server.answers.count, "answer"))")
        }
        return lines + (lift?.notes ?? []).map { "note: \($0)" }
    }

    // MARK: For programs

    struct Page: Encodable {
        struct Call: Encodable {
            var transport: String
            var ends: [String]
            var messages: Int
            var keepAlives: Int
            /// Its end that is the server, where it was chosen.
            var server: String?
        }
        var ok = true
        var schema = "wakebench.import/1"
        var files: [CapturePage]
        var calls: [Call]
        var skipped: [String: Int]
        /// Where each was skipped first, in bytes from the start of its file.
        var skippedFrom: [String: Int]
        var steps: Int?
        var written: String?
        var notes: [String]
    }

    var page: Page {
        Page(
            files: files.map(CapturePage.init),
            calls: reading.calls.map { call in
                let server = call === chosen ? lift.map { call.endpoint($0.side).text } : nil
                return Page.Call(
                    transport: call.isTCP ? "tcp" : "udp",
                    ends: call.ends.map(\.text),
                    messages: call.messages.count,
                    keepAlives: call.keepAliveCount,
                    server: server
                )
            },
            skipped: reading.leftOut.counts,
            skippedFrom: reading.leftOut.places,
            steps: lift?.server.plan.count,
            written: written,
            notes: lift?.notes ?? []
        )
    }
}

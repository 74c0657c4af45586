import WakeModel

/// Expectations and their results as a JUnit file, which build servers read.
///
/// Times are wall times, as JUnit's readers expect; the run's own clock is a property. A name says what was expected, and stays the same when
/// its line moves in the scenario. Elements and attributes are those of the schema of Jenkins' xUnit plug-in (junit-10.xsd), and beside them
/// `file` and `line` of a test case, by which other build servers mark the line.
package enum JUnitReport {
    /// One expectation of a scenario.
    package struct Case: LogRecord, Hashable, Sendable {
        /// What was expected, in words.
        package var name: String
        /// Where, such as `nights/night.yaml:31`: from where the command was given.
        package var place: String
        /// The parts of the place; empty and 0 in results of an older version.
        package var file: String
        package var line: Int64
        /// Nil when it was met; otherwise one line that says what was seen instead.
        package var failure: String?
        /// More about a failure: the moment, the nearest decisions, and the command that explains them.
        package var details: String
        /// When it was missed, on the run's clock: with the first decision too many, or else at the end of the run. Nil when it was
        /// met.
        package var at: Instant?

        package init(
            name: String,
            place: String,
            file: String = "",
            line: Int64 = 0,
            failure: String? = nil,
            details: String = "",
            at: Instant? = nil
        ) {
            self.name = name
            self.place = place
            self.file = file
            self.line = line
            self.failure = failure
            self.details = details
            self.at = at
        }

        package static let blank = Case(name: "", place: "")

        package mutating func code(with coder: inout RecordCoder) {
            coder.need("expected", &name)
            coder.code("place", &place)
            coder.code("file", &file)
            coder.code("line", &line)
            coder.code("failure", &failure)
            coder.code("details", &details)
            coder.code("t", ifKnown: &at)
        }
    }

    /// - Parameter header: of the run's log; nil when there was no run, because its input is invalid.
    package static func text(_ results: RunResults, header: LogHeader? = nil) -> String {
        document([(results, header, false)], took: results.took)
    }

    /// The runs of a suite in one file, each under the name that it has there.
    package static func text(_ suite: SuiteResults) -> String {
        let runs = suite.entries.map { entry in
            var results = entry.results ?? RunResults(title: "", file: entry.scenario)
            results.title = entry.name
            if entry.results == nil { results.took = entry.took }
            results.fault = entry.fault ?? results.fault
            return (results, entry.header, entry.outcome == .notRun)
        }
        return document(runs, took: suite.took)
    }

    /// A run, what its log says of it, and whether it was never begun.
    private typealias Run = (results: RunResults, header: LogHeader?, isSkipped: Bool)

    private static func document(_ runs: [Run], took: Instant.Span) -> String {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites \(counts(runs)) time="\(seconds(took))">

            """
        for run in runs { text += testsuite(run) }
        return text + "</testsuites>\n"
    }

    private static func counts(_ runs: [Run]) -> String {
        let tests = runs.reduce(0) { $0 + $1.results.cases.count + 1 }
        let failures = runs.reduce(0) { $0 + $1.results.cases.count { $0.failure != nil } }
        let errors = runs.count { $0.results.fault != nil }
        return "tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\""
    }

    private static func testsuite(_ run: Run) -> String {
        let results = run.results
        let time = seconds(results.took)
        let suite = Markup.escaped(results.title)
        let fault = results.fault
        // Of a run that was played to its end, the line where its steps begin.
        let position = fault?.file.map { place($0, fault?.line ?? 0) } ?? place(results.file, results.line)
        var text = """
            <testsuite name="\(suite)" \(counts([run])) skipped="\(run.isSkipped ? 1 : 0)" time="\(time)"\
            \(timestamp(results.began))>
            \(properties(results, run.header))<testcase classname="\(suite)" name="plays to its end"\
            \(position) time="\(time)"
            """
        if let fault {
            text += ">" + element("error", type: fault.kind, fault.message, fault.details) + "</testcase>\n"
        } else {
            text += run.isSkipped ? "><skipped/></testcase>\n" : "/>\n"
        }
        var seen: [String: Int] = [:]
        for each in results.cases {
            seen[each.name, default: 0] += 1
            let again = seen[each.name].map { $0 > 1 ? " (\($0))" : "" } ?? ""
            text += testcase(each, suite: suite, name: each.name + again, end: results.end)
        }
        return text + "</testsuite>\n"
    }

    private static func testcase(_ each: Case, suite: String, name: String, end: Instant) -> String {
        let position = place(each.file, each.line)
        var text = "<testcase classname=\"\(suite)\" name=\"\(Markup.escaped(name))\"\(position) time=\"0.000\">"
        if let failure = each.failure {
            let place = each.place.isEmpty ? "" : "  [\(each.place)]"
            text += element(
                "failure",
                type: "expectation",
                failure,
                "expected \(each.name); \(failure)\(place)\n" + each.details
            )
        }
        // The schema has properties of suites alone.
        let output = "place: \(each.place)\nvirtual-time: \(LogTime.text(end))"
        return text + "<system-out>\(Markup.escaped(output))</system-out></testcase>\n"
    }

    /// Attributes that say where a test stands; none where nothing says.
    private static func place(_ file: String, _ line: Int64) -> String {
        guard !file.isEmpty else { return "" }
        return " file=\"\(Markup.escaped(file))\"" + (line > 0 ? " line=\"\(line)\"" : "")
    }

    private static func element(_ name: String, type: String, _ message: String, _ details: String) -> String {
        let text = details.isEmpty ? message : details
        return
            "<\(name) type=\"\(Markup.escaped(type))\" message=\"\(Markup.escaped(message))\">\(Markup.escaped(text))</\(name)>"
    }

    private static func properties(_ results: RunResults, _ header: LogHeader?) -> String {
        var text = "<properties>\n" + property("file", results.file) + "\n"
        text += property("virtual-time", LogTime.text(results.end)) + "\n"
        if let header {
            text += property("profile", header.profile) + "\n" + property("seed", "\(header.seed)") + "\n"
            for (name, value) in header.settings.sorted(by: { $0.key < $1.key }) {
                text += property(name, value) + "\n"
            }
            text += property("wakebench", header.version) + "\n"
        }
        return text + "</properties>\n"
    }

    private static func property(_ name: String, _ value: String) -> String {
        "<property name=\"\(Markup.escaped(name))\" value=\"\(Markup.escaped(value))\"/>"
    }

    /// JUnit's schema has no fraction and no zone there.
    private static func timestamp(_ began: Int64) -> String {
        began == 0 ? "" : " timestamp=\"\(WallTime.text(began).prefix(19))\""
    }

    static func seconds(_ span: Instant.Span) -> String {
        let milliseconds = max(0, span.milliseconds)
        return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
    }
}

/// Text inside XML and HTML.
enum Markup {
    /// Escapes what has a meaning there, and replaces what may not stand in XML at all.
    static func escaped(_ text: String) -> String {
        if text.utf8.allSatisfy(isPlain) { return text }
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n", "\t", "\r": escaped.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": escaped += "\u{fffd}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Whether a byte needs no escape, and is no part of a longer character.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x26, 0x3c, 0x3e, 0x22, 0x27: false
        case 0x20..<0x80, 0x0a: true
        default: false
        }
    }
}

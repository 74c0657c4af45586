import WakeJSON
import WakeModel

/// What a run came to beside its logs: `results.json` in its folder. Its reports are made from this and from the logs, at once or
/// later, and are the same.
package struct RunResults: Hashable, Sendable {
    /// The scenario's own name.
    package var title: String
    /// The scenario's file, without its folders.
    package var file: String
    /// When the run began, in nanoseconds since 1970.
    package var began: Int64
    /// How long it took by the wall clock.
    package var took: Instant.Span
    /// Where the run's clock stood at its end.
    package var end: Instant
    /// Why the run ended early; nil when it did not.
    package var fault: Fault?
    /// The expectations of the scenario, in the order of its file.
    package var cases: [JUnitReport.Case]
    package static let name = "results.json"

    /// What ended a run before its time.
    package struct Fault: Hashable, Sendable {
        /// The word of an exit code, such as `timeout`.
        package var kind: String
        /// One line.
        package var message: String
        /// More lines, such as the nearest decisions.
        package var details: String

        package init(kind: String, message: String, details: String = "") {
            self.kind = kind
            self.message = message
            self.details = details
        }
    }

    package init(
        title: String,
        file: String,
        began: Int64 = 0,
        took: Instant.Span = .zero,
        end: Instant = .zero,
        fault: Fault? = nil,
        cases: [JUnitReport.Case] = []
    ) {
        self.title = title
        self.file = file
        self.began = began
        self.took = took
        self.end = end
        self.fault = fault
        self.cases = cases
    }

    // MARK: The file

    /// Writes the file into the folder of a run, in place of one that is there.
    package func save(to folder: String) throws(ReportError) {
        let file = try LogFile(creating: folder + "/" + Self.name)
        write(into: &file.line)
        try file.endLine()
        try file.flush()
    }

    /// Reads the file of a folder.
    ///
    /// - Returns: nil when there is none: an older run, or one that broke off.
    package init?(folder: String) throws(ReportError) {
        let path = folder + "/" + Self.name
        var line: [UInt8]?
        do {
            var lines = try LineReader(path)
            line = try lines.next()
        } catch  where error.kind == .missing {
            return nil
        }
        guard let value = line.flatMap(JSONValue.init(parsing:)), value["schema"]?.string == "wake.results/1" else {
            throw ReportError(.foreign("not the results of a run"), path: path)
        }
        self.init(
            title: value["scenario"]?.string ?? "",
            file: value["file"]?.string ?? "",
            began: Int64(clamping: value["began"]?.unsigned ?? 0),
            took: .milliseconds(value["took_ms"]?.integer ?? 0),
            end: value["end"]?.string.flatMap(LogTime.instant) ?? .zero,
            fault: value["fault"].flatMap(Fault.init),
            cases: value["expectations"]?.array.compactMap(JUnitReport.Case.init) ?? []
        )
    }

    private func write(into line: inout LineBuffer) {
        line.begin("wake.results/1")
        line.put("scenario", title)
        line.put("file", file)
        line.put("began", began)
        line.put("took_ms", took.milliseconds)
        line.put("end", end)
        line.put("fault") { line in
            guard let fault else { return line.append("null") }
            line.append("{")
            line.put("kind", fault.kind)
            line.put("message", fault.message)
            line.put("details", fault.details)
            line.append("}")
        }
        line.put("expectations", objects: cases) { each, line in
            line.put("expected", each.name)
            line.put("place", each.place)
            line.put("failure", each.failure)
            line.put("details", each.details)
        }
        line.append("}")
    }
}

extension RunResults.Fault {
    fileprivate init?(_ value: JSONValue) {
        guard let kind = value["kind"]?.string, let message = value["message"]?.string else { return nil }
        self.init(kind: kind, message: message, details: value["details"]?.string ?? "")
    }
}

extension JUnitReport.Case {
    fileprivate init?(_ value: JSONValue) {
        guard let name = value["expected"]?.string else { return nil }
        self.init(
            name: name,
            place: value["place"]?.string ?? "",
            failure: value["failure"]?.string,
            details: value["details"]?.string ?? ""
        )
    }
}

import Glibc
import WakeJSON
import WakeModel

/// What a run came to beside its logs: `results.json` in its folder. Its reports are made from this and from the logs, at once or
/// later, and are the same.
package struct RunResults: LogLine, Hashable, Sendable {
    /// The scenario's own name.
    package var title: String
    /// The scenario's file, from where the command was given.
    package var file: String
    /// The line of the scenario's first step, or of its first app where it has no steps; 0 where it is not known.
    package var line: Int64 = 0
    /// When the run began, in nanoseconds since 1970.
    package var began: Int64
    /// How long it took by the wall clock.
    package var took: Instant.Span
    /// Where the run's clock stood at its end.
    package var end: Instant
    /// How many decisions were made.
    package var decisions: Int64 = 0
    /// Why the run ended early; nil when it did not.
    package var fault: Fault?
    /// The expectations of the scenario, in the order of its file.
    package var cases: [JUnitReport.Case]
    package static let name = "results.json"
    /// What the file is called while it is written.
    package static let unfinishedName = name + LogFile.unfinishedSuffix

    /// What ended a run before its time.
    package struct Fault: LogRecord, Hashable, Sendable {
        /// The word of an exit code, such as `timeout`.
        package var kind: String
        /// One line.
        package var message: String
        /// More lines, such as the nearest decisions.
        package var details: String
        /// Where it is, as far as it is in a file.
        package var file: String?
        package var line: Int64?
        /// Counted from 1; nil where it is not known.
        package var column: Int64?
        /// What to do about it, which the message says, too; nil where nothing is known.
        package var hint: String?

        package init(kind: String, message: String, details: String = "", file: String? = nil, line: Int64? = nil) {
            self.kind = kind
            self.message = message
            self.details = details
            self.file = file
            self.line = line
        }

        package static let blank = Fault(kind: "", message: "")

        package mutating func code(with coder: inout RecordCoder) {
            coder.need("kind", &kind)
            coder.need("message", &message)
            coder.code("details", &details)
            coder.code("file", ifKnown: &file)
            coder.code("line", ifKnown: &line)
            coder.code("column", ifKnown: &column)
            coder.code("hint", ifKnown: &hint)
        }

        /// Its kind and its message, which may begin with that itself.
        var complaint: String { message.hasPrefix("\(kind) ") ? message : "\(kind): \(message)" }

        /// What explains it: ``details`` without the line that says what it is.
        package var explanation: String {
            let lines = details.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.dropFirst(lines.first.map(String.init) == message ? 1 : 0).joined(separator: "\n")
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

    /// What failed, in a few words; nil when nothing did.
    package var failed: String? {
        let missed = cases.count { $0.failure != nil }
        let ending = fault.map { [$0.kind == "interrupted" ? $0.kind : "ended by \($0.kind)"] } ?? []
        let parts = ending + (missed > 0 ? ["\(missed) of \(Plural.text(cases.count, "expectation")) not met"] : [])
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    // MARK: The file

    /// Writes the file into the folder of a run, in place of one that is there: whole, or not at all.
    package func save(to folder: String) throws(ReportError) {
        // Readers of the folder of a run that is not over see the file of before, or none.
        let file = try LogFile(replacing: folder + "/" + Self.name)
        file.line.append(line: self)
        try file.endLine()
        try file.finish()
    }

    /// Reads the file of a folder. Commands in it are about that folder: the run may have been copied, or moved, since it was played.
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
        guard let value = line.flatMap(JSONValue.init(parsing:)), value["schema"]?.string == Self.schema,
            let results = RunResults(value)
        else { throw ReportError(.foreign("not the results of a run"), path: path) }
        self = results
        if let details = fault?.details { fault?.details = NearestDecisions.text(details, of: folder) }
        for place in cases.indices { cases[place].details = NearestDecisions.text(cases[place].details, of: folder) }
    }

    package static let schema = "wake.results/1"
    package static let blank = RunResults(title: "", file: "")

    package mutating func code(with coder: inout RecordCoder) {
        coder.code("scenario", &title)
        coder.code("file", &file)
        coder.code("line", &line)
        coder.code("began", &began)
        coder.code("took_ms", &took)
        coder.code("end", &end)
        coder.code("decisions", &decisions)
        coder.code("fault", object: &fault)
        coder.code("expectations", objects: &cases)
    }
}

import Foundation
import WakeBench
import WakeDevices
import WakeReports

/// `wakebench report --format`: a run in the forms that others read.
enum ExportCommand {
    static let options: [Arguments.Option] = [
        .value(
            "--format",
            Form.allCases.map(\.rawValue).joined(separator: "|"),
            short: "-f",
            "one form instead of the usual pages; several with commas between them"
        ),
        .value("-O", "FILE", "where the one form goes, - for stdout; default a file of the run folder"),
        .json,
    ]

    /// What a run can be written as.
    enum Form: String, CaseIterable {
        case html, trace, junit, svg, csv, md

        func file(of folder: RunFolder) -> String {
            switch self {
            case .html: folder.report
            case .trace: folder.trace
            case .junit: folder.junit
            case .svg: folder.path + "/timeline.svg"
            case .csv: folder.path + "/timeline.csv"
            case .md: folder.path + "/summary.md"
            }
        }
    }

    /// Writes the forms that are asked for.
    ///
    /// - Returns: the files; nil when no form is asked for, and none for what went to stdout.
    static func run(
        _ arguments: Arguments,
        _ folder: RunFolder,
        _ results: RunResults?
    ) throws(CommandFailure) -> [ReportPage.File]? {
        let out = arguments.value("-O")
        guard let words = arguments.value("--format") else {
            guard out == nil else { throw CommandFailure(.usage, "-O needs a form: give --format, too") }
            return nil
        }
        if out == "-", arguments.has("--json") {
            throw CommandFailure(.usage, "-O - and --json exclude each other", hint: "give a file, or leave --json out")
        }
        var forms: [Form] = []
        for word in words.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            guard let form = Form(rawValue: word) else {
                throw CommandFailure(unknown: "format '\(word)'", known: Form.allCases.map(\.rawValue))
            }
            forms.append(form)
        }
        guard out == nil || forms.count == 1 else {
            throw CommandFailure(.usage, "-O takes one form", hint: "leave -O out, and each goes to the run folder")
        }
        // The page alone shows checks, which are most of a log.
        let log = try forms.contains(.html) ? RunPages.log(folder) : WhyCommand.read(folder.path, checks: false)
        var files: [ReportPage.File] = []
        for form in forms {
            guard let path = try write(form, log, folder, results, to: out) else { continue }
            files.append(ReportPage.File(form: form.rawValue, path: path))
        }
        return files
    }

    /// - Returns: where; nil for stdout.
    private static func write(
        _ form: Form,
        _ log: RunLog,
        _ folder: RunFolder,
        _ results: RunResults?,
        to out: String?
    ) throws(CommandFailure) -> String? {
        let path = out ?? form.file(of: folder)
        let isShared = out != nil || form == .junit
        if form == .trace {
            // It may be larger than memory: it goes to a file piece by piece.
            guard path != "-" else { throw CommandFailure(.usage, "the trace goes to a file", hint: "give -O FILE") }
            do { try ChromeTrace.save(log, to: path, began: results?.began ?? 0, isShared: isShared) } catch {
                throw CommandFailure(.environment, error)
            }
        } else {
            let text = try text(form, log, folder, results)
            if path == "-" {
                print(text, terminator: "")
                return nil
            }
            try RunPages.save(text, path, isShared: isShared)
        }
        return path
    }

    private static func text(
        _ form: Form,
        _ log: RunLog,
        _ folder: RunFolder,
        _ results: RunResults?
    ) throws(CommandFailure) -> String {
        switch form {
        case .html:
            return String(
                decoding: HTMLReport.bytes(HTMLReport.Run(log, title: folder.path, results: results)),
                as: UTF8.self
            )
        case .svg: return TimelineSVG.text(log, title: results?.title ?? folder.path)
        case .md: return MarkdownSummary.text(log, results: results, title: folder.path)
        case .csv: return HistorianCSV.text(log, start: start(log.header, results))
        case .junit, .trace:
            guard let results else {
                throw CommandFailure(
                    .notFound,
                    "\(folder.path): it has no results",
                    hint: "it broke off, or is of an older version"
                )
            }
            return JUnitReport.text(results, header: log.header)
        }
    }

    /// The date that apps of a virtual clock saw, and otherwise when the run was made.
    private static func start(_ header: LogHeader, _ results: RunResults?) -> Int64 {
        if let date = header.settings["date"].flatMap(RunDate.init(_:)) { return date.nanoseconds }
        return header.isVirtual ? RunDate.usual.nanoseconds : results?.began ?? 0
    }
}

/// What `report` wrote, for programs: `wake.report/1`.
struct ReportPage: Encodable {
    struct File: Encodable {
        /// Such as `html`; `report` for the usual page.
        var form: String
        var path: String

        /// For people.
        var line: String { "\(form): \(path)" }
    }

    var schema = "wake.report/1"
    var ok = true
    /// The run's; that of the first of two.
    var folder: String
    var files: [File]
}

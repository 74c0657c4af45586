import Foundation

extension Wakebench {
    /// Why there is no run to look at, or none that went as its scenario says.
    public enum Failure: Error, Sendable, CustomStringConvertible, LocalizedError {
        /// There is no program `wakebench`; the line says where it was looked for.
        case noProgram(String)
        /// A file or process that a run needs could not be made, or a file not be read.
        case unusable(String)
        /// The bench refused, or broke off: its exit code (`wakebench exit-codes`) and its own words.
        case refused(exitCode: Int32, message: String)
        /// An expectation was not met, a step waited in vain, or an app could not be launched.
        case scenarioFailed(Run)
        /// The run has no app of this name; the others are those it has.
        case unknownApp(String, known: [String])

        /// One line, and under that of a scenario that failed what was decided instead.
        public var description: String {
            switch self {
            case .noProgram(let line), .unusable(let line): line
            case .refused(let code, let message): "wakebench ended with code \(code): \(message)"
            case .scenarioFailed(let run): Self.text(run)
            case .unknownApp(let name, let known):
                "the scenario has no app '\(name)'; it has \(known.isEmpty ? "none" : known.joined(separator: ", "))"
            }
        }

        /// The same, for those who ask any error for its `localizedDescription`.
        public var errorDescription: String? { description }

        private static func text(_ run: Run) -> String {
            var lines: [String] = []
            if let fault = run.fault { lines.append(fault.description) }
            lines += run.failedExpectations.map(\.description)
            if let folder = run.folder { lines.append("the run is kept in \(folder)") }
            return lines.joined(separator: "\n")
        }
    }
}

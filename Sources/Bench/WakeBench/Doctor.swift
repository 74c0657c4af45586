/// Looks at what this machine can do for a bench.
package enum Doctor {
    /// One finding.
    package struct Line: Hashable, Sendable {
        package var what: String
        package var good: Bool
        /// What was found, and the remedy when something is missing.
        package var finding: String
    }

    package static func examine() -> [Line] {
        []
    }
}

import WakeModel

/// Whether two runs came to the same: for each app the same verdicts in the same order, and the same values.
///
/// Consecutive repeats count once, because a real radio repeats itself. Values are compared up to the end of the
/// shorter run, which may be at most a tenth shorter.
package enum EquivalenceCheck {
    /// The differences, one line each; empty when the runs are equal. ``RunComparison`` explains them.
    ///
    /// - Parameter names: what the runs are called in the lines.
    package static func differences(
        _ left: RunLog,
        _ right: RunLog,
        names: (String, String) = ("simulated", "real")
    ) -> [String] {
        RunComparison(left, right, names: names).heads
    }
}

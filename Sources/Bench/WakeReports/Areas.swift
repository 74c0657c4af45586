extension Observer {
    /// What checks look at, by the words of checks.tsv: those of no area, and of each.
    static let all = [common, bluetooth, location, sound, calls, transfers, pushes, backgroundTasks].reduce([:]) {
        all,
        own in
        all.merging(own) { first, _ in first }
    }
}

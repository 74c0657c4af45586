/// What a reader left out: why, how often, and where it happened first.
package struct LeftOut: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var why: String
        package var count: Int
        /// Where the first stands: the number of a line, or an offset in bytes.
        package var first: Int
    }

    /// In the order in which each happened first.
    package private(set) var entries: [Entry] = []

    package init() {}

    mutating func add(_ why: String, at place: Int, count: Int = 1) {
        if let known = entries.firstIndex(where: { $0.why == why }) {
            entries[known].count += count
        } else {
            entries.append(Entry(why: why, count: count, first: place))
        }
    }
}

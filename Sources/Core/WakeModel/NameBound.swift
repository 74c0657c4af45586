/// Bounds how many different names somebody outside the bench brings into the table of names, which keeps each of them to
/// the end of the run.
package struct NameBound: Sendable {
    /// The most names of one app in a run, over all of its processes: about as many as fit in 16 MiB.
    package static let ofApp = 16_384
    /// The most names from the air in a run: three hundred devices that each change their address four times an hour, as
    /// phones do, bring half as many in a day, and each takes some hundred bytes.
    package static let ofAir = 65_536

    private let most: Int
    private var brought = 0

    /// - Parameter most: how many names may be brought.
    package init(most: Int) {
        self.most = most
    }

    /// Whether these names may be brought; then those that are new are counted. Names that are known are free.
    package mutating func admits(_ words: [String], into names: NameTable) -> Bool {
        let new = Set(words.filter { !$0.isEmpty && names.known($0) == nil }).count
        guard brought + new <= most else { return new == 0 }
        brought += new
        return true
    }
}

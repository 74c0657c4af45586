import WakeModel
import WakeReports

/// Bounds what one app can have a run write down, and counts what is not kept of it.
struct AppBounds {
    /// How many of its signposts are kept.
    var signposts: SignpostBound
    /// How many of its deeds are kept: it may ask for something without end.
    var deeds = LineBound(most: RunRecorder.mostDeeds)
    /// How many notes are kept of what it does wrong or holds.
    var notes = LineBound(most: RunRecorder.mostNotes)
    /// How many changes of what it is registered for are written as they come; later ones once in a while.
    var registrations = LineBound(most: RunRecorder.mostRegistrations)
    /// How many of its callbacks no wake had room for.
    var lostCallbacks = 0

    /// - Parameter held: the signposts that the run has already, from before the bench died.
    init(held: HeldSignposts) { signposts = SignpostBound(held: held) }

    /// How much of each kind is not kept; 0 where all is.
    var lost: [(count: Int, what: String)] {
        [
            (signposts.lost, "signposts after the first \(signposts.kept.count)"),
            (deeds.lost, "deeds after the first \(deeds.most)"),
            (notes.lost, "notes after the first \(notes.most)"),
            (lostCallbacks, "callbacks after the first \(OpenOutcomes.mostCallbacks) of a wake"),
        ]
    }

    /// What came before a snapshot counts, too.
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try signposts.code(with: &coder)
        try deeds.code(with: &coder)
    }
}

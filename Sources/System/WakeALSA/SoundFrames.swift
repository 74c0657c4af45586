/// Where a pump takes the frames that a card plays, and where it leaves those that a card records.
///
/// Everything happens on the pump's thread and must neither wait nor allocate: a card that is not fed in time runs dry.
/// Frames are interleaved: the first sample of each channel, then the second of each.
package protocol SoundFrames: AnyObject, Sendable {
    /// Fills all of the frames: silence where there is nothing to play.
    func render(into frames: UnsafeMutableBufferPointer<Float>, channels: Int)

    /// The card has recorded frames, which are there until this returns.
    func take(_ frames: UnsafeBufferPointer<Float>, channels: Int)
}

/// What a pump tells the event loop.
package enum SoundEdge: Hashable, Sendable {
    /// Frames move from now on.
    case started(SoundDirection)
    /// The card was not fed in time, or what it recorded not taken in time; so often since it was opened.
    case ranDry(SoundDirection, total: Int)
    /// Frames move again.
    case runsAgain(SoundDirection)
    /// What was left has been played, and frames move no more.
    case rested(SoundDirection)
    /// Frames will never move again in this direction: the card was taken away, or fails for good.
    case gone(SoundDirection, SoundError)
}

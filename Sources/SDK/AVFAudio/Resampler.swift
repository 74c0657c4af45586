/// Brings stereo sound of another rate to the phone's, by straight lines between its frames.
struct Resampler {
    /// Frames of the source for each of the phone's.
    let ratio: Double
    /// Where the next frame is, in frames of the source from the first that is kept.
    private var place = 0.0
    /// Frames that are still needed, interleaved; sound begins with silence.
    private var kept: [Float] = [0, 0]
    /// How many frames the source has given.
    private(set) var given: Int64 = 0

    init(from rate: Double, to own: Double) { ratio = rate / own }

    /// How many frames of the source the next so many frames need.
    func needed(for frames: Int) -> Int {
        guard frames > 0 else { return 0 }
        let last = Int(place + Double(frames - 1) * ratio) + 2
        let next = Int(place + Double(frames) * ratio) + 1
        return max(0, max(last, next) - kept.count / 2)
    }

    /// Takes frames of the source, as many as ``needed(for:)`` said.
    mutating func take(_ frames: Int, _ sample: (_ frame: Int, _ side: Int) -> Float) {
        for frame in 0..<frames {
            kept.append(sample(frame, 0))
            kept.append(sample(frame, 1))
        }
        given += Int64(frames)
    }

    /// Gives the next so many frames.
    mutating func give(_ frames: Int, _ add: (_ frame: Int, _ side: Int, Float) -> Void) {
        for frame in 0..<frames {
            let at = place + Double(frame) * ratio
            let before = Int(at)
            let part = Float(at - Double(before))
            for side in 0..<2 {
                let (left, right) = (kept[before * 2 + side], kept[before * 2 + 2 + side])
                add(frame, side, left + (right - left) * part)
            }
        }
        place += Double(frames) * ratio
        let past = Int(place)
        kept.removeFirst(past * 2)
        place -= Double(past)
    }
}

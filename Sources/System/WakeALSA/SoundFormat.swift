/// Which way sound goes through a card.
package enum SoundDirection: Hashable, Sendable, CaseIterable {
    case playback
    case capture
}

/// How a sample is kept in a card's buffer, in this machine's byte order.
package enum SampleFormat: Hashable, Sendable, CaseIterable {
    /// From -1 to 1.
    case float32
    /// From -32 768 to 32 767.
    case signed16

    package var bytes: Int {
        switch self {
        case .float32: 4
        case .signed16: 2
        }
    }
}

/// What is asked of a card.
package struct SoundRequest: Hashable, Sendable {
    /// Frames a second, the best first: the first that the card has is taken.
    package var rates: [Int]
    /// The best first.
    package var formats: [SampleFormat]
    /// 1 to 8; a card that has no such number gives the nearest.
    package var channels: Int
    /// Frames from one time that the card asks for more to the next: the granted buffer of the app (AUD-9).
    package var periodFrames: Int
    /// 2 to 4 periods fill the card's buffer.
    package var periods: Int

    package init(
        rates: [Int] = [44_100, 48_000],
        formats: [SampleFormat] = [.float32, .signed16],
        channels: Int = 2,
        periodFrames: Int = 1_024,
        periods: Int = 3
    ) {
        self.rates = rates
        self.formats = formats
        self.channels = channels
        self.periodFrames = periodFrames
        self.periods = periods
    }
}

/// What a card grants.
package struct SoundGrant: Hashable, Sendable {
    /// Frames a second.
    package var rate: Int
    package var format: SampleFormat
    package var channels: Int
    package var periodFrames: Int
    package var bufferFrames: Int

    /// Of one sample of each channel.
    package var frameBytes: Int { format.bytes * channels }
    /// Of so many frames, in nanoseconds.
    package func nanoseconds(_ frames: Int) -> Int64 { Int64(frames) * 1_000_000_000 / Int64(rate) }
}

/// Conversion between what apps render and what cards take.
///
/// A 16-bit sample is the float of a 32 768th part of it, so that 16 bits that become floats and then 16 bits again are
/// the same 16 bits.
package enum SampleConversion {
    private static let scale: Float = 32_768

    /// The nearest 16-bit sample; what is louder than the loudest is as loud as that, and what is no number is silence.
    package static func signed16(_ sample: Float) -> Int16 {
        let scaled = (sample * scale).rounded(.toNearestOrEven)
        if scaled >= 32_767 { return .max }
        if scaled <= -32_768 { return .min }
        return scaled.isNaN ? 0 : Int16(scaled)
    }

    package static func float32(_ sample: Int16) -> Float { Float(sample) / scale }
}

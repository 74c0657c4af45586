import Glibc
import WakeSystem

/// One direction of a pump: a PCM, and the frames between it and the apps.
@safe final class Lane {
    let stream: SoundStream
    /// Whether frames are to move.
    private(set) var isWanted = false
    private(set) var pace: Pace
    /// Where its descriptors are among those that the pump polls.
    var places: Range<Int>?
    private let frames: any SoundFrames
    /// One period, as apps know it and as the card does.
    private let samples: UnsafeMutableBufferPointer<Float>
    private let bytes: UnsafeMutableRawBufferPointer
    /// The bytes of what has been rendered and did not go in yet.
    private var pending = 0..<0
    private var knownOverruns = 0
    private var hasStarted = false
    private var isDry = false
    /// How often waiting or beginning failed since frames last moved.
    private var failures = 0
    /// A card that fails so often, and moves nothing in between, is broken.
    private static let mostFailures = 100

    init(_ stream: SoundStream, _ frames: any SoundFrames) {
        self.stream = stream
        self.frames = frames
        pace = Pace(stream.granted)
        let grant = stream.granted
        unsafe samples = .allocate(capacity: grant.periodFrames * grant.channels)
        unsafe samples.initialize(repeating: 0)
        unsafe bytes = .allocate(byteCount: grant.periodFrames * grant.frameBytes, alignment: 16)
    }

    deinit {
        unsafe samples.deallocate()
        unsafe bytes.deallocate()
    }

    /// Moves frames from now on, or plays the last ones and rests.
    func want(_ isWanted: Bool, tell: (SoundEdge) -> Void) throws(SoundError) {
        guard isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        if isWanted {
            (pending, isDry) = (0..<0, false)
            try stream.prepare()
        } else {
            finish()
            tell(.rested(stream.direction))
        }
    }

    /// Plays what is left.
    func finish() {
        hasStarted = false
        if stream.direction == .playback { stream.drain() } else { stream.drop() }
    }

    /// A descriptor of the card failed.
    func failedToWait() throws(SoundError) {
        try countFailure()
        try stream.examine()
    }

    private func countFailure() throws(SoundError) {
        failures += 1
        guard failures <= Self.mostFailures else {
            throw SoundError(.failed, device: stream.name, call: "poll", code: EIO)
        }
    }

    /// Moves all that can be moved now.
    func serve(tell: (SoundEdge) -> Void) throws(SoundError) {
        while isWanted {
            // First of all: it recovers from what went wrong.
            let free = try stream.available()
            if stream.overruns != knownOverruns {
                knownOverruns = stream.overruns
                isDry = true
                tell(.ranDry(stream.direction, total: knownOverruns))
            }
            guard stream.isRunning else {
                try begin()
                continue
            }
            if !hasStarted {
                hasStarted = true
                tell(isDry ? .runsAgain(stream.direction) : .started(stream.direction))
                isDry = false
            }
            guard free >= stream.granted.periodFrames, pace.allowsPeriod(at: MonotonicClock.now()) else { return }
            guard stream.direction == .playback ? try play() : try record() else { return }
        }
    }

    /// A card that plays begins with a buffer of silence, so that it asks for a period at a time from the first on.
    private func begin() throws(SoundError) {
        hasStarted = false
        try countFailure()
        if !stream.isPrepared { try stream.prepare() }
        if stream.direction == .playback {
            let size = stream.granted.bufferFrames * stream.granted.frameBytes
            let silence = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
            defer { unsafe silence.deallocate() }
            unsafe silence.initializeMemory(as: UInt8.self, repeating: 0)
            _ = unsafe try stream.write(UnsafeRawBufferPointer(silence))
        }
        try stream.start()
        pace.begin(at: MonotonicClock.now())
    }

    /// - Returns: whether all went in.
    private func play() throws(SoundError) -> Bool {
        if pending.isEmpty {
            unsafe frames.render(into: samples, channels: stream.granted.channels)
            pack()
            pending = unsafe 0..<bytes.count
        }
        let count = unsafe try stream.write(UnsafeRawBufferPointer(rebasing: bytes[pending]))
        moved(count)
        pending = (pending.lowerBound + count * stream.granted.frameBytes)..<pending.upperBound
        return pending.isEmpty || stream.overruns != knownOverruns
    }

    /// - Returns: whether there was anything.
    private func record() throws(SoundError) -> Bool {
        let count = unsafe try stream.read(into: bytes)
        guard count > 0 else { return stream.overruns != knownOverruns }
        moved(count)
        let sampleCount = count * stream.granted.channels
        unpack(sampleCount)
        let recorded = unsafe UnsafeBufferPointer(rebasing: samples[..<sampleCount])
        unsafe frames.take(recorded, channels: stream.granted.channels)
        return true
    }

    private func moved(_ count: Int) {
        guard count > 0 else { return }
        failures = 0
        pace.count(count)
    }

    private func pack() {
        switch stream.granted.format {
        case .float32: unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(samples))
        case .signed16:
            let target = unsafe bytes.assumingMemoryBound(to: Int16.self)
            for index in unsafe samples.indices {
                unsafe target[index] = SampleConversion.signed16(samples[index])
            }
        }
    }

    private func unpack(_ count: Int) {
        switch stream.granted.format {
        case .float32:
            let recorded = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<(count * SampleFormat.float32.bytes)])
            unsafe UnsafeMutableRawBufferPointer(samples).copyMemory(from: recorded)
        case .signed16:
            let source = unsafe bytes.assumingMemoryBound(to: Int16.self)
            for index in 0..<count { unsafe samples[index] = SampleConversion.float32(source[index]) }
        }
    }
}

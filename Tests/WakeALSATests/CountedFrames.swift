import Glibc
import Synchronization
import WakeALSA
import WakeSystem

/// An app for a pump: it plays a known sequence, keeps what it hears, and rings at each period.
///
/// The samples of the sequence are 16-bit numbers, none of them zero, so that silence between them can be told.
final class CountedFrames: SoundFrames {
    struct State {
        var rendered: [Float] = []
        var heard: [Float] = []
        var periods = 0
        var stallAt: Int?
    }

    /// Rung at each period.
    let bell: Descriptor
    /// How long the app holds up the card when it stalls, in milliseconds.
    static let stall: Int32 = 200
    private let state = Mutex(State())

    init(stallAt period: Int? = nil) throws {
        bell = try doorbell()
        state.withLock { $0.stallAt = period }
    }

    var rendered: [Float] { state.withLock { $0.rendered } }
    var heard: [Float] { state.withLock { $0.heard } }
    var periods: Int { state.withLock { $0.periods } }

    static func sample(_ index: Int) -> Float {
        let number = index % 65_534 - 32_767
        return SampleConversion.float32(Int16(number >= 0 ? number + 1 : number))
    }

    func render(into frames: UnsafeMutableBufferPointer<Float>, channels: Int) {
        let stalls = state.withLock { state in
            for index in frames.indices {
                let sample = Self.sample(state.rendered.count)
                unsafe frames[index] = sample
                state.rendered.append(sample)
            }
            state.periods += 1
            return state.stallAt == state.periods
        }
        if stalls { _ = poll(nil, 0, Self.stall) }
        bell.ring()
    }

    func take(_ frames: UnsafeBufferPointer<Float>, channels: Int) {
        let stalls = state.withLock { state in
            unsafe state.heard.append(contentsOf: frames)
            state.periods += 1
            return state.stallAt == state.periods
        }
        if stalls { _ = poll(nil, 0, Self.stall) }
        bell.ring()
    }
}

/// A loop, a pump on it and what it told.
final class PumpStage {
    let loop: EventLoop
    let frames: CountedFrames
    private(set) var pump: SoundPump?
    private(set) var edges: [SoundEdge] = []
    private var watch: Watch?

    init(stallAt period: Int? = nil) throws {
        loop = try EventLoop()
        frames = try CountedFrames(stallAt: period)
        watch = try loop.watch(frames.bell.number, for: .readable) { [frames] _ in _ = frames.bell.answerDoorbell() }
    }

    func begin(playing playback: SoundPump.End? = nil, recording capture: SoundPump.End? = nil) throws {
        pump = try SoundPump(playing: playback, recording: capture, frames: frames, loop: loop) { [weak self] in
            self?.edges.append($0)
        }
    }

    /// Runs the loop until the condition holds, at most 20 s.
    func wait(until condition: () -> Bool) throws -> Bool {
        let deadline = MonotonicClock.now() + 20_000_000_000
        while !condition() {
            let left = deadline - MonotonicClock.now()
            guard left > 0 else { return false }
            try loop.runOnce(timeout: left)
        }
        return true
    }
}

extension SoundRequest {
    /// 5 ms a period.
    static let short = SoundRequest(rates: [48_000, 44_100], periodFrames: 240, periods: 4)
}

/// The samples in a file of a card, without the silence before, between and after them.
func sounds(_ bytes: [UInt8], _ format: SampleFormat) -> [Float] {
    var samples: [Float] = []
    for start in stride(from: 0, to: bytes.count - format.bytes + 1, by: format.bytes) {
        let number = bytes[start..<(start + format.bytes)].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let sample =
            switch format {
            case .float32: Float(bitPattern: number)
            case .signed16: SampleConversion.float32(Int16(truncatingIfNeeded: number))
            }
        if sample != 0 { samples.append(sample) }
    }
    return samples
}

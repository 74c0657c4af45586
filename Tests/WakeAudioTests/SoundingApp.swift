import Glibc
import Testing
import WakeAudio
import WakeModel
import WakePorts
import WakeSystem
import WakeWire

/// An app's end of a stream, as a plain program would do it: it renders a known sequence and keeps what it hears.
final class SoundingApp {
    /// Everything that it has rendered, interleaved.
    private(set) var rendered: [Float] = []
    private(set) var heard: [Float] = []
    /// It hears the bell and does nothing.
    var isLazy = false
    /// It renders silence.
    var isSilent = false
    let output: AudioRing?
    private let input: AudioRing?
    private let shared: SharedAudio
    private let share: Float
    private var watch: Watch?

    /// - Parameter share: the part of the full range that it uses.
    init(_ shared: SharedAudio, on loop: EventLoop, share: Float = 1) throws {
        self.shared = shared
        self.share = share
        let capacity = Int(shared.capacity)
        output = try shared.output.map {
            try AudioRing($0, .init(channels: 2, capacity: capacity), side: .writer, fresh: false)
        }
        input = try shared.input.map {
            try AudioRing($0, .init(channels: 1, capacity: capacity), side: .reader, fresh: false)
        }
        watch = try loop.watch(shared.doorbell, for: .readable) { [weak self] _ in self?.answer() }
    }

    /// None of them is zero, so that silence between them can be told, and each is a number of 16 bits.
    static func sample(_ index: Int) -> Float {
        let number = index % 32_766 - 16_383
        return Float(number >= 0 ? number + 1 : number) / 32_768
    }

    private func answer() {
        var count: UInt64 = 0
        _ = unsafe read(shared.doorbell, &count, 8)
        guard !isLazy else { return }
        if let input {
            _ = unsafe try? input.read(.max) { piece, _ in unsafe heard.append(contentsOf: piece) }
        }
        if let output { render(output) }
        var one: UInt64 = 1
        _ = unsafe write(shared.answer, &one, 8)
    }

    private func render(_ output: AudioRing) {
        while output.position < output.wanted {
            let frames = min(Int(output.bufferFrames), Int(output.wanted - output.position))
            var buffer: [Float] = []
            for _ in 0..<(2 * frames) {
                let sample = isSilent ? 0 : Self.sample(rendered.count + buffer.count) * share
                buffer.append(sample)
            }
            rendered += buffer
            let written = unsafe try? output.write(frames) { piece, before in
                for place in piece.indices { unsafe piece[place] = buffer[2 * before + place] }
            }
            guard written == frames else { return }
        }
    }
}

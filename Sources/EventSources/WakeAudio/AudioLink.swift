import WakeModel
import WakePorts
import WakeSystem
import WakeWire

/// The bench's end of one app's stream: its rings and its doorbells.
///
/// After it was made, one thread uses it: the bench's own for the simulated end, the pump's for a sound card.
package final class AudioLink: @unchecked Sendable {
    /// Frames that a ring holds: four of the largest buffers.
    package static let capacity = 4 * Int(AudioFormat.lockedFrames)

    private let outputEnd: RingEnd?
    private let inputEnd: RingEnd?
    private let doorbell: Descriptor
    private let answer: Descriptor

    package init(plays: Bool, records: Bool, frames: UInt32) throws(SourceFailure) {
        do {
            doorbell = try WakeSystem.doorbell()
            answer = try WakeSystem.doorbell()
            outputEnd = plays ? try RingEnd("wakebench-output", AudioFormat.outputChannels, .reader) : nil
            inputEnd = records ? try RingEnd("wakebench-input", AudioFormat.inputChannels, .writer) : nil
        } catch {
            throw SourceFailure(.environment, "no shared memory for an app's sound: \(error)")
        }
        setFrames(frames)
    }

    /// A ring and the memory it is in.
    private final class RingEnd {
        let memory: Descriptor
        let ring: AudioRing

        init(_ name: String, _ channels: Int, _ side: AudioRing.Side) throws {
            let layout = AudioRing.Layout(channels: channels, capacity: AudioLink.capacity)
            memory = try sharedMemory(name, bytes: layout.bytes)
            ring = try AudioRing(memory.number, layout, side: side, fresh: true)
        }
    }

    /// What the app renders; nil when it does not play.
    package var output: AudioRing? { outputEnd?.ring }

    /// What the app hears; nil when it does not record.
    package var input: AudioRing? { inputEnd?.ring }

    /// The descriptors for the app, owned by this link.
    package var shared: SharedAudio {
        SharedAudio(
            doorbell: doorbell.number,
            answer: answer.number,
            output: outputEnd?.memory.number,
            input: inputEnd?.memory.number,
            capacity: UInt32(Self.capacity)
        )
    }

    /// The descriptor that is readable when the app has rung.
    package var answerDescriptor: Int32 { answer.number }

    /// Whether the app has rung since the last call.
    package func takeAnswer() -> Bool { answer.answerDoorbell() }

    /// Tells the app to look at its rings.
    package func ring() { doorbell.ring() }

    /// The size of the app's render callbacks from the next one on (AUD-9).
    package func setFrames(_ frames: UInt32) {
        output?.bufferFrames = frames
        input?.bufferFrames = frames
    }

    /// Tells the app that the stream is over.
    package func end() {
        output?.hasEnded = true
        input?.hasEnded = true
        ring()
    }
}

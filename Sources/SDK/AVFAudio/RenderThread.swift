import Foundation
import Synchronization
import WakeClient
import WakeWire

/// A stream's own thread: it sleeps until the bench rings, renders what is wanted, and answers.
final class RenderThread: Sendable {
    /// What is rendered from the next buffer on.
    let graph = Mutex(RenderGraph())
    private let output: AudioRing?
    private let input: AudioRing?
    private let doorbell: Int32
    private let answer: Int32
    private let running = Mutex((begun: false, ended: false))

    /// Takes over the descriptors of a start's reply, in their order.
    ///
    /// - Throws: ``WireFailure`` when they are not what the stream needs.
    init(_ descriptors: [Int32], plays: Bool, records: Bool, capacity: Int) throws(WireFailure) {
        let memories = descriptors.dropFirst(2)
        defer { for memory in memories { close(memory) } }
        guard descriptors.count == 2 + (plays ? 1 : 0) + (records ? 1 : 0) else {
            for descriptor in descriptors.prefix(2) { close(descriptor) }
            throw Self.failure("the bench sent \(descriptors.count) descriptors")
        }
        do throws(AudioRingFault) {
            output =
                plays
                ? try AudioRing(memories[2], .init(channels: 2, capacity: capacity), side: .writer, fresh: false) : nil
            input =
                records
                ? try AudioRing(
                    memories[memories.endIndex - 1],
                    .init(channels: 1, capacity: capacity),
                    side: .reader,
                    fresh: false
                ) : nil
        } catch {
            for descriptor in descriptors.prefix(2) { close(descriptor) }
            throw Self.failure(error.description)
        }
        doorbell = descriptors[0]
        answer = descriptors[1]
    }

    private static func failure(_ text: String) -> WireFailure {
        WireFailure(
            domain: NSOSStatusErrorDomain,
            code: AVAudioSession.ErrorCode.resourceNotAvailable.rawValue,
            message: "The stream cannot be used: \(text)"
        )
    }

    deinit {
        close(doorbell)
        close(answer)
    }

    /// Whether the bench may still ask for buffers.
    var isRunning: Bool { running.withLock { $0.begun && !$0.ended } && !hasEnded }

    private var hasEnded: Bool { output?.hasEnded ?? input?.hasEnded ?? true }

    /// The frames of one render callback.
    var frames: Int { Int(output?.bufferFrames ?? input?.bufferFrames ?? 1_024) }

    /// Begins the thread.
    func start() {
        running.withLock { $0.begun = true }
        let thread = Thread { [self] in work() }
        thread.name = "wakebench.sound"
        thread.qualityOfService = .userInteractive
        thread.start()
    }

    /// Ends the thread after the buffer at hand. Whether it was not ended before.
    func end() -> Bool {
        let isFirst = running.withLock { !exchange(&$0.ended, with: true) }
        // The thread looks up when its bell rings.
        Self.ring(doorbell)
        return isFirst
    }

    /// Sound goes before everything ordinary, as on iOS, where the system allows that; what the app forks does not.
    private static func goFirst() {
        var parameter = sched_param(sched_priority: sched_get_priority_min(SCHED_FIFO))
        _ = unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO | Int32(bitPattern: 0x4000_0000), &parameter)
    }

    private func work() {
        Self.goFirst()
        let renderer = Renderer()
        while wait(), isRunning {
            do throws(AudioRingFault) {
                let graph = graph.withLock { $0 }
                if let input { try hear(graph, renderer, input) }
                if let output { try play(graph, renderer, output) }
            } catch {
                return
            }
            Self.ring(answer)
        }
    }

    private func hear(_ graph: RenderGraph, _ renderer: Renderer, _ input: AudioRing) throws(AudioRingFault) {
        while true {
            let there = try input.readable()
            guard there > 0 else {
                return
            }
            try renderer.hear(graph, min(there, frames), from: input)
        }
    }

    private func play(_ graph: RenderGraph, _ renderer: Renderer, _ output: AudioRing) throws(AudioRingFault) {
        while output.position < output.wanted {
            let room = try output.writable()
            let frames = min(frames, Int(output.wanted - output.position), room)
            guard frames > 0, isRunning else {
                return
            }
            try renderer.play(graph, frames, into: output)
        }
    }

    /// Sleeps until the bell rings. False when it never will again.
    private func wait() -> Bool {
        var count: UInt64 = 0
        while true {
            var entry = pollfd(fd: doorbell, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&entry, 1, -1)
            if ready < 0, errno != EINTR { return false }
            let size = unsafe read(doorbell, &count, 8)
            if size == 8 { return true }
            if size == 0 || errno != EAGAIN && errno != EINTR { return false }
        }
    }

    private static func ring(_ bell: Int32) {
        var one: UInt64 = 1
        _ = unsafe write(bell, &one, 8)
    }
}

import CWakeClient
@unsafe @preconcurrency import CoreFoundation
import Foundation
import WakeWire

/// Has the main run loop watch the bench's socket: a packet wakes the thread that it is for, and no other.
///
/// What is for the main queue is done at once where nothing waits for that queue, and is put into it where something does: it is
/// never done before what came earlier.
@MainActor
final class MainLoopReader {
    private(set) static var shared: MainLoopReader?

    private let client: BenchClient
    private let socket: BenchSocket
    /// What the run loop watches in place of the socket.
    private let watched: Int32
    private var source: CFRunLoopSource?
    /// How many run loops of the main thread run inside each other.
    private var depth = 0
    private var isDelivering = false
    /// A loop inside a callback was woken for a packet, and left it.
    private var hasLeftPacket = false
    /// What was done, and is acknowledged once the main queue has drained after it.
    private var done: [DeliveryRun] = []

    /// Begins to watch; nil where that cannot be.
    init?(_ client: BenchClient, _ socket: BenchSocket) {
        watched = wake_watched(socket.descriptor)
        guard watched >= 0 else { return nil }
        self.client = client
        self.socket = socket
        Self.shared = self
        watch()
    }

    private func watch() {
        var context = unsafe CFRunLoopSourceContext1()
        unsafe context.version = 1
        unsafe context.info = UnsafeMutableRawPointer(bitPattern: Int(watched))
        unsafe context.getPort = { Int32(Int(bitPattern: $0)) }
        unsafe context.perform = { _ in MainActor.assumeIsolated { MainLoopReader.shared?.ready() } }
        source = unsafe withUnsafeMutablePointer(to: &context) { context in
            unsafe context.withMemoryRebound(to: CFRunLoopSourceContext.self, capacity: 1) { context in
                unsafe CFRunLoopSourceCreate(nil, 0, context)
            }
        }
        let moments: CFRunLoopActivity = [.entry, .exit, .beforeWaiting]
        let observer = unsafe CFRunLoopObserverCreate(
            nil,
            moments.rawValue,
            true,
            0,
            { _, moment, _ in MainActor.assumeIsolated { MainLoopReader.shared?.isAt(moment) } },
            nil
        )
        CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopCommonModes)
        CFRunLoopAddSource(CFRunLoopGetMain(), source, kCFRunLoopCommonModes)
    }

    /// Runs the main run loop for good.
    func run() -> Never {
        while true {
            // Foundation's own way leaves and enters the loop again for each thing that happens.
            CFRunLoopRunInMode(kCFRunLoopDefaultMode, .greatestFiniteMagnitude, false)
        }
    }

    /// The socket has something to read, or had.
    private func ready() {
        guard client.idleReader == .mainLoop else { return end() }
        // In a callback that runs a loop of its own; what comes meanwhile is read after it.
        guard !isDelivering else {
            hasLeftPacket = true
            return
        }
        while client.reading.turn.take() {
            let packet = client.readPacket(waits: false)
            let there = socket.look()
            let run = depth == 1 && !there.contains(.blocks) ? packet.flatMap(client.mainRun) : nil
            if run == nil, let packet { client.receive(packet) }
            client.reading.turn.leave()
            if let run, let packet { deliver(run, packet) }
            if !there.contains(.packet), !hasLeftPacket { return }
            hasLeftPacket = false
        }
    }

    private func deliver(_ run: DeliveryRun, _ packet: ReceivedMessages) {
        isDelivering = true
        client.deliver(run, of: packet.messages, packet.descriptor)
        isDelivering = false
        done.append(run)
    }

    private func isAt(_ moment: CFRunLoopActivity) {
        switch moment {
        case .entry: depth += 1
        case .exit: depth -= 1
        default:
            // What the callbacks have put into the main queue has been done: the loop looks there before it waits.
            guard depth == 1 else { return }
            for run in done { client.send(run.acknowledgement) }
            done.removeAll(keepingCapacity: true)
        }
    }

    /// Reads what another thread, which read for an answer of its own, has left; on the main queue.
    func catchUp() {
        while client.idleReader == .mainLoop, client.reading.turn.take() {
            if let packet = client.readPacket(waits: false) { client.receive(packet) }
            client.reading.turn.leave()
            if !socket.look().contains(.packet) { return }
        }
    }

    /// A thread reads.
    private func end() {
        guard let source else { return }
        CFRunLoopSourceInvalidate(source)
        close(watched)
        self.source = nil
    }
}

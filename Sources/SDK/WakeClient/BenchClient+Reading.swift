import Foundation
import WakeWire

/// Who reads the socket while nobody waits for an answer.
enum IdleReader {
    /// Nobody yet: whoever waits for something reads until it is there.
    case nobody
    /// The main run loop, for as long as all callbacks are for the main queue.
    case mainLoop
    /// A thread.
    case thread
}

/// What reading takes: of whoever has the turn.
final class ReadingMemory: @unchecked Sendable {
    let turn = ReadingTurn()
    fileprivate var buffer = [UInt8](repeating: 0, count: WireLimits.packetBytes)
    fileprivate var reader = BenchPacketReader()
}

/// A packet as it was read.
struct ReceivedMessages {
    let messages: [BenchMessage]
    /// What they are together, where all are deliveries of values and a run.
    let all: BenchPacketReader.Run?
    let descriptors: [ReceivedDescriptor]
    /// A descriptor belongs to the only message of its packet.
    var descriptor: ReceivedDescriptor? { messages.count == 1 ? descriptors.first : nil }
}

/// Reading, by one at a time.
extension BenchClient {
    /// Waits until something is there that a packet brings; reads meanwhile, where nobody else does.
    ///
    /// - Parameter arrived: Signalled by whoever has read it.
    /// - Returns: what was found; nil when nothing was in time.
    func wait<Value>(on arrived: DispatchSemaphore, seconds: Int? = nil, for find: () -> Value?) -> Value? {
        let end = seconds.map { DispatchTime.now() + .seconds($0) } ?? .distantFuture
        while true {
            if let value = find() {
                return value
            }
            if idleReader != .thread, reading.turn.take(orSignal: arrived) {
                let isInTime = read(until: end) { find() != nil }
                leaveTurn()
                if !isInTime { return nil }
            } else if arrived.wait(timeout: end) == .timedOut {
                return find()
            }
        }
    }

    /// Reads until something is there. Says whether that was in time.
    private func read(until end: DispatchTime, _ isThere: () -> Bool) -> Bool {
        while !isThere() {
            guard socket?.waitForPacket(until: end) == true else { return false }
            readOne()
        }
        return true
    }

    private func leaveTurn() {
        reading.turn.leave()
        // The run loop may have been woken for it while it was being read by us.
        if idleReader == .mainLoop, socket?.look().contains(.packet) == true {
            DispatchQueue.main.async { MainLoopReader.shared?.catchUp() }
        }
    }

    /// Waits for a packet and hands on what is in it. Only with the turn.
    private func readOne() {
        if let packet = readPacket() { receive(packet) }
    }

    /// Reads a packet; nil when none is there, or one that makes no sense was. Only with the turn.
    ///
    /// - Parameter waits: Waits for one where none is there.
    func readPacket(waits: Bool = true) -> ReceivedMessages? {
        guard let socket else { return nil }
        switch socket.receive(into: &reading.buffer, waits: waits) {
        case .bytes(let count, let descriptors):
            do throws(WireError) {
                let messages = try reading.reader.messages(in: reading.buffer, count: count)
                return ReceivedMessages(messages: messages, all: reading.reader.run, descriptors: descriptors)
            } catch {
                complain("ignored a packet from the bench: \(error)")
            }
        case .tooLarge(let count):
            complain("ignored a packet from the bench: \(WireError.tooLarge(bytes: count))")
        case .closed:
            endWithBench()
        case .nothing: break
        }
        return nil
    }

    /// From now on a thread reads, whatever the main queue does.
    func readInThread() {
        guard hasBench, startsThread() else { return }
        let thread = Thread { [unowned self] in
            let free = DispatchSemaphore(value: 0)
            while !reading.turn.take(orSignal: free) { free.wait() }
            while true { readOne() }
        }
        thread.name = "wakebench.reader"
        thread.start()
    }
}

import Glibc
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// A channel that a simulated central has opened to an app: its end of a pair of sockets.
final class CentralChannel {
    let psm: UInt16
    let number: UInt32
    let descriptor: Int32
    /// How many bytes are to come back.
    let wanted: Int
    var received: [UInt8] = []
    private var watch: Watch?

    init(psm: UInt16, number: UInt32, descriptor: Int32, wanted: Int, loop: EventLoop?) {
        self.psm = psm
        self.number = number
        self.descriptor = descriptor
        self.wanted = wanted
        // The handler need not do anything: the role looks at its channels in each turn of the loop.
        watch = try? loop?.watch(descriptor, for: .readable) { _ in }
    }

    deinit {
        watch?.cancel()
        close(descriptor)
    }
}

/// L2CAP channels that apps offer, and what the centrals do with them.
extension SimulatedPeripheralRole {
    /// The PSMs that the system gives out, as the kernel does: the lowest that is free.
    private static let numbers: ClosedRange<UInt16> = 0x80...0xFF

    func publishChannel(_ client: BluetoothClient, at now: Instant) {
        let free = Self.numbers.first { psm in !offered.contains { $0.psm == psm } }
        guard poweredOn, let free else {
            prepare(event(.channelPublished, client, failed: true), .failure(.operationNotSupported), at: now)
            return
        }
        offered.append((client, free))
        prepare(event(.channelPublished, client, local: UInt32(free)), at: now)
    }

    func unpublishChannel(_ psm: UInt16, of client: BluetoothClient, at now: Instant) {
        let isOffered = offered.contains { $0.client == client && $0.psm == psm }
        offered.removeAll { $0.client == client && $0.psm == psm }
        let gone = event(.channelUnpublished, client, local: UInt32(psm), failed: !isOffered)
        prepare(gone, isOffered ? .none : .failure(.operationNotSupported), at: now)
    }

    /// Opens a channel to whoever offers the PSM, and sends the value.
    func exchange(_ value: [UInt8], _ psm: UInt16, within: Instant.Span?, _ index: Int, at now: Instant) {
        trace?.channelRequested(psm, with: centrals[index].description.address, fromPhone: false, at: now)
        guard let client = offered.first(where: { $0.psm == psm })?.client, let (own, theirs) = try? streamPair() else {
            trace?.channelAnswered(.failure(.unknownNumber), with: centrals[index].description.address, at: now)
            say(index, "refused channel \(psm)", at: now)
            tellRefused("no app offers that channel", index, at: now)
            return finishStep(index, at: now)
        }
        let number = table.add(theirs)
        centrals[index].channel = CentralChannel(
            psm: psm,
            number: number,
            descriptor: own,
            wanted: value.count,
            loop: loop
        )
        trace?.channelAnswered(.success(number), with: centrals[index].description.address, at: now)
        trace?.channelCarries(value, over: number, fromPhone: false, at: now)
        say(index, "opened channel \(psm)", at: now)
        // A value of a device file is far shorter than a fresh socket's room.
        _ = unsafe send(own, value, value.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
        let opened = event(
            .channelOpened,
            client,
            local: number,
            central: centrals[index].nameID,
            subject: centrals[index].nameID
        )
        prepare(opened, .psm(psm), at: now)
        centrals[index].activity = .exchanging(until: within.map { now.advanced(by: $0) } ?? .distantFuture)
    }

    package func look(at now: Instant) {
        for index in centrals.indices {
            guard let channel = centrals[index].channel else { continue }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = unsafe recv(channel.descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                channel.received += buffer[..<count]
                trace?.channelCarries(Array(buffer[..<count]), over: channel.number, fromPhone: true, at: now)
                if channel.received.count >= channel.wanted {
                    endExchange(index, "exchanged", at: now)
                }
            } else if count == 0 || errno != EAGAIN && errno != EINTR {
                trace?.channelClosed(channel.number, fromPhone: true, at: now)
                endExchange(index, "lost channel", at: now)
            }
        }
    }

    /// The step of an exchange is over, however it ended.
    func endExchange(_ index: Int, _ words: String, at now: Instant) {
        guard let channel = centrals[index].channel else { return }
        centrals[index].channel = nil
        trace?.channelClosed(channel.number, fromPhone: false, at: now)
        let bytes = channel.received.hexadecimal
        say(index, "\(words) \(channel.psm)\(bytes.isEmpty ? "" : " " + bytes)", at: now)
        if case .exchanging = centrals[index].activity { finishStep(index, at: now) }
    }
}

import Glibc
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// One open L2CAP channel of the simulated radio: the device's end of a pair of sockets.
final class SimulatedChannel {
    let number: UInt32
    /// A position among the radio's peripherals.
    let peripheral: Int
    let client: BluetoothClient
    let description: BluetoothPeripheral.Channel
    /// -1 once it is closed.
    private(set) var descriptor: Int32
    private var watch: Watch?
    /// What the air carries of the app's: packets of 247 bytes, each with its answer 2.5 ms of the 1M PHY (Bluetooth Core,
    /// volume 6, part B, 2.1 and 4.1.1).
    private(set) var pace = LinkPace(rate: 98_800)
    private var roomWatch: Watch?
    /// A duplicate, since one descriptor can be watched in one way only.
    private let roomDescriptor: Int32
    var place = Timetable.Position()
    /// Bytes that the socket has no room for, oldest first.
    var backlog: [UInt8] = []

    init(
        number: UInt32,
        peripheral: Int,
        client: BluetoothClient,
        description: BluetoothPeripheral.Channel,
        descriptor: Int32,
        loop: EventLoop?
    ) {
        self.number = number
        self.peripheral = peripheral
        self.client = client
        self.description = description
        self.descriptor = descriptor
        // The handler need not do anything: the radio looks at its channels in each turn of the loop.
        watch = try? loop?.watch(descriptor, for: .readable) { _ in }
        roomDescriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        // There is more room each time the app has read.
        if roomDescriptor >= 0 { roomWatch = try? loop?.watch(roomDescriptor, for: [.writable, .edge]) { _ in } }
    }

    var isOpen: Bool { descriptor >= 0 }

    /// Takes at most so many bytes of what the app has written, as fast as the air carries them.
    ///
    /// - Returns: nil when there is nothing now, or nothing any more: then the channel is closed.
    func receive(atMost limit: Int, at now: Instant) -> [UInt8]? {
        let room = min(pace.room(at: now), limit)
        guard isOpen, room > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: room)
        let count = repeatingInterrupted { unsafe recv(descriptor, &buffer, room, 0) }
        guard count > 0 else {
            if count == 0 || errno != EAGAIN { close() }
            return nil
        }
        pace.took(count, at: now)
        return Array(buffer.prefix(count))
    }

    /// What is not taken now would keep the loop awake.
    func watchWhatIsTaken() {
        if pace.nextRoom == nil { watch?.enable() } else { watch?.disable() }
    }

    func close() {
        guard isOpen else { return }
        watch?.cancel()
        watch = nil
        roomWatch?.cancel()
        roomWatch = nil
        if roomDescriptor >= 0 { Glibc.close(roomDescriptor) }
        Glibc.close(descriptor)
        descriptor = -1
    }

    deinit { close() }
}

/// L2CAP channels.
extension SimulatedBluetooth {
    /// The most bytes that wait for an app that does not read; what comes then is lost, as from a device without credits.
    private static let backlogLimit = 65_536

    /// Opens a channel, or says why not.
    func openChannel(_ psm: UInt16, for client: BluetoothClient, on index: Int, at now: Instant) -> (
        UInt32, EventPayload
    ) {
        guard let description = peripherals[index].description.channels.first(where: { $0.psm == psm }),
            !peripherals[index].faults.refusesChannels
        else { return (0, .failure(.channelRefused)) }
        guard let (own, theirs) = try? streamPair() else { return (0, .failure(.channelRefused)) }
        let number = table.add(theirs)
        let channel = SimulatedChannel(
            number: number,
            peripheral: index,
            client: client,
            description: description,
            descriptor: own,
            loop: loop
        )
        channels.append(channel)
        planChannelValue(channel, at: now)
        return (number, .psm(psm))
    }

    private func planChannelValue(_ channel: SimulatedChannel, at now: Instant) {
        guard let pause = channel.description.timetable.pause(before: channel.place) else { return }
        plan(.channelValue, Int(channel.number), 0, now.advanced(by: pause))
    }

    /// The next value of a channel's timetable is due.
    func channelDue(_ number: Int, at now: Instant) {
        guard let channel = channels.first(where: { Int($0.number) == number }), channel.isOpen,
            let value = channel.description.timetable.take(&channel.place)
        else { return }
        send(value, over: channel, at: now)
        planChannelValue(channel, at: now)
        guard let left = peripherals[channel.peripheral].faults.closeChannelAfter else { return }
        peripherals[channel.peripheral].faults.closeChannelAfter = left > 1 ? left - 1 : nil
        guard left <= 1 else { return }
        trace?.channelClosed(channel.number, fromPhone: false, at: now)
        closeChannels(at: now) { $0 === channel }
    }

    private func send(_ value: [UInt8], over channel: SimulatedChannel, at now: Instant) {
        if channel.backlog.count + value.count <= Self.backlogLimit { channel.backlog += value }
        drain(channel, at: now)
    }

    /// Writes what waits, as far as there is room.
    private func drain(_ channel: SimulatedChannel, at now: Instant) {
        while channel.isOpen, !channel.backlog.isEmpty, peripherals[channel.peripheral].inRange {
            let flags = Int32(truncatingIfNeeded: MSG_NOSIGNAL)
            let count = unsafe Glibc.send(channel.descriptor, channel.backlog, channel.backlog.count, flags)
            if count > 0 {
                if trace != nil {
                    let bytes = Array(channel.backlog[..<count])
                    trace?.channelCarries(bytes, over: channel.number, fromPhone: false, at: now)
                }
                channel.backlog.removeFirst(count)
                table.written?(channel.number)
            } else if count < 0, errno == EINTR {
                continue
            } else {
                if errno != EAGAIN { channel.close() }
                return
            }
        }
    }

    package func look(at now: Instant) {
        guard !channels.isEmpty else { return }
        for channel in channels where channel.isOpen {
            drain(channel, at: now)
            receive(over: channel, at: now)
        }
        // Their apps have closed them.
        for channel in channels where !channel.isOpen { trace?.channelClosed(channel.number, fromPhone: true, at: now) }
        channels.removeAll { !$0.isOpen }
    }

    private func receive(over channel: SimulatedChannel, at now: Instant) {
        let held = channel.pace.nextRoom
        // What an app writes without end is read a little in each turn.
        for _ in 0..<16 {
            guard let bytes = channel.receive(atMost: 4_096, at: now) else { break }
            trace?.channelCarries(bytes, over: channel.number, fromPhone: true, at: now)
            if channel.description.echo { send(bytes, over: channel, at: now) }
        }
        guard channel.isOpen, channel.pace.nextRoom != held else { return }
        channel.watchWhatIsTaken()
        if let next = channel.pace.nextRoom { plan(.channelRoom, Int(channel.number), 0, next) }
    }

    /// The air carries on what an app writes without end.
    func channelHasRoom(_ number: Int, at now: Instant) {
        guard let channel = channels.first(where: { Int($0.number) == number }), channel.isOpen else { return }
        receive(over: channel, at: now)
    }

    /// Closes the channels that match: the app reads what is there, and then the end.
    func closeChannels(at now: Instant, where matches: (SimulatedChannel) -> Bool) {
        for channel in channels where matches(channel) {
            trace?.channelClosed(channel.number, fromPhone: true, at: now)
            channel.close()
        }
        channels.removeAll { !$0.isOpen }
    }

    package func takeChannel(_ number: UInt32) -> Int32? { table.take(number) }
}

import WakeDevices
import WakeModel

/// One packet between the phone's Bluetooth stack and its controller.
package struct HCIPacket: Hashable, Sendable {
    /// The first byte of a packet on a serial line (Bluetooth Core Specification, volume 4, part A, 2).
    package enum Kind: UInt8, Sendable {
        case command = 1
        case data = 2
        case event = 4
    }

    package var kind: Kind
    /// Whether the stack sends it; else the controller does.
    package var fromHost: Bool
    /// Without its first byte.
    package var bytes: [UInt8]
    package var at: Instant

    package init(kind: Kind, fromHost: Bool, bytes: [UInt8], at: Instant) {
        (self.kind, self.fromHost, self.bytes, self.at) = (kind, fromHost, bytes, at)
    }
}

/// What the Bluetooth stack of a phone would have logged: packets of HCI, made of what happens on the air. There is one for a
/// controller, whatever its links are for.
package final class HCITrace {
    /// How a link is timed, in the units of HCI.
    package struct Parameters: Hashable, Sendable {
        /// In 1.25 ms.
        package var interval: UInt16
        /// In connection events.
        package var latency: UInt16
        /// In 10 ms.
        package var supervisionTimeout: UInt16

        package init(interval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
            (self.interval, self.latency, self.supervisionTimeout) = (interval, latency, supervisionTimeout)
        }
    }

    struct Link {
        var address: [UInt8]
        var handle: UInt16
        /// The numbers of the last requests on the signalling channel, by either end.
        var signals = (phone: UInt8(0), other: UInt8(0))
    }

    /// Takes the packets, in order.
    private let write: (HCIPacket) -> Void
    var links: [Link] = []
    /// The channels over all links.
    var channels: [Channel] = []
    /// What the phone says on the air; nil while it is silent.
    var advertised: AdvertisingData?
    /// The devices that the controller connects to when it sees them, in the order in which they were asked for.
    private var wanted: [(address: [UInt8], parameters: Parameters)] = []
    private var isScanning = false

    /// The most data of an ACL packet, as a controller with the Data Length Extension takes it.
    private static let dataLength = 251
    private static let attributes: UInt16 = 0x0004
    /// Random and static; no phone's own.
    private static let ownAddress: [UInt8] = [0xC0, 0x57, 0x41, 0x4B, 0x45, 0x01]
    private static let firstHandle: UInt16 = 0x0040

    package init(write: @escaping (HCIPacket) -> Void) { self.write = write }

    // MARK: Commands

    /// The stack has started: it resets its controller and asks for the events of LE.
    package func begin(at now: Instant) {
        (links, wanted, channels, advertised, isScanning) = ([], [], [], nil, false)
        command(0x0C03, [], at: now)
        command(0x0C01, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F], at: now)
        command(0x2001, [0xFF, 0x1F, 0, 0, 0, 0, 0, 0], at: now)
        command(0x2005, Self.ownAddress.reversed(), at: now)
    }

    /// A scan begins or ends; nothing is logged of one that goes on.
    package func scan(_ isOn: Bool, at now: Instant) {
        guard isOn != isScanning else { return }
        isScanning = isOn
        // Active, with the shortest intervals, from a random address.
        if isOn { command(0x200B, [1, 0x10, 0, 0x10, 0, 1, 0], at: now) }
        command(0x200C, [isOn ? 1 : 0, 0], at: now)
    }

    func command(_ opcode: UInt16, _ parameters: [UInt8], returns: [UInt8] = [], at now: Instant) {
        let word = AttributeExchange.word(opcode)
        emit(.command, fromHost: true, word + [UInt8(parameters.count)] + parameters, at: now)
        event(0x0E, [1] + word + [0] + returns, at: now)
    }

    /// A command that is answered by an event of its own later.
    private func commandWithStatus(_ opcode: UInt16, _ parameters: [UInt8], at now: Instant) {
        let word = AttributeExchange.word(opcode)
        emit(.command, fromHost: true, word + [UInt8(parameters.count)] + parameters, at: now)
        event(0x0F, [0, 1] + word, at: now)
    }

    private func event(_ code: UInt8, _ parameters: [UInt8], at now: Instant) {
        emit(.event, fromHost: false, [code, UInt8(parameters.count)] + parameters, at: now)
    }

    private func emit(_ kind: HCIPacket.Kind, fromHost: Bool, _ bytes: [UInt8], at now: Instant) {
        write(HCIPacket(kind: kind, fromHost: fromHost, bytes: bytes, at: now))
    }

    // MARK: Advertising

    /// The controller has seen a device.
    ///
    /// - Parameter address: six bytes, most significant first.
    package func sighting(of address: [UInt8], _ advertisement: Advertisement, at now: Instant) {
        let data = AdvertisingData(advertisement)
        let strength = UInt8(truncatingIfNeeded: advertisement.signalStrength)
        let who = [Self.type(of: address)] + address.reversed()
        guard !data.isExtended else {
            // Connectable or not; one report, complete, on LE 1M.
            let kind: [UInt8] = [advertisement.connectable ? 0x01 : 0x00, 0x00]
            let head = kind + who + [1, 0, 0xFF, 0x7F, strength, 0, 0, 0] + [UInt8](repeating: 0, count: 6)
            let shown = data.advertised.prefix(229)
            return event(0x3E, [0x0D, 1] + head + [UInt8(shown.count)] + shown, at: now)
        }
        report(advertisement.connectable ? 0x00 : 0x03, who, data.advertised, strength, at: now)
        if !data.scanResponse.isEmpty { report(0x04, who, data.scanResponse, strength, at: now) }
    }

    private func report(_ kind: UInt8, _ who: [UInt8], _ data: [UInt8], _ strength: UInt8, at now: Instant) {
        event(0x3E, [0x02, 1, kind] + who + [UInt8(data.count)] + data + [strength], at: now)
    }

    /// Random where the two highest bits say static, else public.
    private static func type(of address: [UInt8]) -> UInt8 { (address.first ?? 0) >> 6 == 3 ? 1 : 0 }

    // MARK: Links

    /// The stack wants a link: its controller makes one as soon as it sees the device.
    package func connecting(to address: [UInt8], _ parameters: Parameters, at now: Instant) {
        guard !wanted.contains(where: { $0.address == address }) else { return }
        stopWaiting(at: now)
        command(0x2011, [Self.type(of: address)] + address.reversed(), at: now)
        wanted.append((address, parameters))
        wait(at: now)
    }

    /// The stack wants the link no more, and there was none yet.
    package func cancelling(_ address: [UInt8], at now: Instant) {
        guard wanted.contains(where: { $0.address == address }) else { return }
        stopWaiting(at: now)
        forget(address, at: now)
        wait(at: now)
    }

    /// There is a link, in which the phone is the central.
    package func connected(to address: [UInt8], _ parameters: Parameters, at now: Instant) {
        complete(0, handle: handle(of: address), address, parameters, at: now)
        forget(address, at: now)
        wait(at: now)
    }

    /// There is a link that a central has made to the phone. The controller has ended the advertisement with it.
    package func accepted(from address: [UInt8], _ parameters: Parameters, at now: Instant) {
        complete(0, handle: handle(of: address), isPeripheral: true, address, parameters, at: now)
        if advertised != nil { enableAdvertising(true, at: now) }
    }

    /// Lets the controller connect to whichever of the wanted devices it sees first: it makes one link at a time.
    private func wait(at now: Instant) {
        guard let first = wanted.first else { return }
        let timing = Self.bytes(first.parameters)
        commandWithStatus(0x200D, [0x60, 0, 0x30, 0, 1, 0] + [UInt8](repeating: 0, count: 6) + [1] + timing, at: now)
    }

    private func stopWaiting(at now: Instant) {
        guard !wanted.isEmpty else { return }
        command(0x200E, [], at: now)
        let none = Parameters(interval: 0, latency: 0, supervisionTimeout: 0)
        complete(0x02, handle: 0, [UInt8](repeating: 0, count: 6), none, at: now)
    }

    private func forget(_ address: [UInt8], at now: Instant) {
        guard let place = wanted.firstIndex(where: { $0.address == address }) else { return }
        wanted.remove(at: place)
        command(0x2012, [Self.type(of: address)] + address.reversed(), at: now)
    }

    private func complete(
        _ status: UInt8,
        handle: UInt16,
        isPeripheral: Bool = false,
        _ address: [UInt8],
        _ parameters: Parameters,
        at now: Instant
    ) {
        let timing =
            AttributeExchange.word(parameters.interval) + AttributeExchange.word(parameters.latency)
            + AttributeExchange.word(parameters.supervisionTimeout)
        let head = [0x01, status] + AttributeExchange.word(handle) + [isPeripheral ? 1 : 0, Self.type(of: address)]
        event(0x3E, head + address.reversed() + timing + [0], at: now)
    }

    /// The timing of a link is another from now on.
    package func updated(_ address: [UInt8], _ parameters: Parameters, at now: Instant) {
        let timing =
            AttributeExchange.word(parameters.interval) + AttributeExchange.word(parameters.latency)
            + AttributeExchange.word(parameters.supervisionTimeout)
        event(0x3E, [0x03, 0] + AttributeExchange.word(handle(of: address)) + timing, at: now)
    }

    /// The link is encrypted from now on.
    package func encrypted(_ address: [UInt8], at now: Instant) {
        event(0x08, [0] + AttributeExchange.word(handle(of: address)) + [1], at: now)
    }

    /// The link is gone.
    ///
    /// - Parameter reason: an error code of the Core Specification, volume 1, part F; 0x16 is the phone's own will, and it asks for
    ///   it before.
    package func disconnected(_ address: [UInt8], reason: UInt8, at now: Instant) {
        guard let place = links.firstIndex(where: { $0.address == address }) else { return }
        let handle = AttributeExchange.word(links.remove(at: place).handle)
        channels.removeAll { $0.address == address }
        if reason == 0x16 { commandWithStatus(0x0406, handle + [0x13], at: now) }
        event(0x05, [0] + handle + [reason], at: now)
    }

    private func handle(of address: [UInt8]) -> UInt16 {
        if let link = links.first(where: { $0.address == address }) { return link.handle }
        var handle = Self.firstHandle
        while links.contains(where: { $0.handle == handle }) { handle += 1 }
        links.append(Link(address: address, handle: handle))
        return handle
    }

    /// For a command that makes a link: the shortest and the longest interval are one, and no length of events is asked for.
    private static func bytes(_ parameters: Parameters) -> [UInt8] {
        AttributeExchange.word(parameters.interval) + AttributeExchange.word(parameters.interval)
            + AttributeExchange.word(parameters.latency) + AttributeExchange.word(parameters.supervisionTimeout)
            + [0, 0, 0, 0]
    }

    /// The stack has asked how strongly the device is heard.
    ///
    /// - Parameter strength: in dBm.
    package func strength(_ strength: Int16, of address: [UInt8], at now: Instant) {
        let handle = AttributeExchange.word(handle(of: address))
        command(0x1405, handle, returns: handle + [UInt8(truncatingIfNeeded: strength)], at: now)
    }

    // MARK: Attributes

    /// A packet of the Attribute Protocol goes over a link.
    package func attribute(_ packet: [UInt8], with address: [UInt8], fromPhone: Bool, at now: Instant) {
        send(packet, over: Self.attributes, with: address, fromPhone: fromPhone, at: now)
    }

    /// A packet of L2CAP goes over a channel of a link, in as many packets of ACL as it takes.
    func send(_ packet: [UInt8], over channel: UInt16, with address: [UInt8], fromPhone: Bool, at now: Instant) {
        let handle = handle(of: address)
        let frame = AttributeExchange.word(UInt16(packet.count)) + AttributeExchange.word(channel) + packet
        var count: UInt16 = 0
        for start in stride(from: 0, to: frame.count, by: Self.dataLength) {
            let part = frame[start..<min(start + Self.dataLength, frame.count)]
            // First of a packet: not to be flushed from the stack, as it comes from the controller; else a continuation.
            let boundary: UInt16 = start > 0 ? 0x1000 : fromPhone ? 0x0000 : 0x2000
            let head = AttributeExchange.word(handle | boundary) + AttributeExchange.word(UInt16(part.count))
            emit(.data, fromHost: fromPhone, head + part, at: now)
            count += 1
        }
        if fromPhone { event(0x13, [1] + AttributeExchange.word(handle) + AttributeExchange.word(count), at: now) }
    }
}

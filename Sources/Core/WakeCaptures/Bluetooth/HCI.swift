import WakeDevices
import WakeModel

// Bluetooth Core Specification, volume 4, part E: commands, events and ACL data.
extension CaptureReading {
    private static func key(_ controller: UInt16, _ handle: UInt16) -> UInt32 {
        UInt32(controller) << 16 | UInt32(handle & 0x0fff)
    }

    // MARK: ACL data

    func takeACL(_ record: CaptureRecord, _ bytes: Span<UInt8>) {
        guard bytes.count >= 4 else { return skip(.badPacket) }
        let word = bytes.little16(0)
        let length = Int(bytes.little16(2))
        guard bytes.count >= 4 + length else { return skip(.badPacket) }
        let isStart = word >> 12 & 3 != 1
        // Without a direction in the record: only controllers send the start that may be flushed.
        let isSent = record.direction == .unknown ? word >> 12 & 3 == 0 : record.direction == .sent
        takeFragment(
            link(Self.key(record.controller, word)),
            bytes.extracting(4..<4 + length),
            isStart: isStart,
            isSent: isSent,
            at: record.time
        )
    }

    /// A part of a packet of L2CAP; a start ends one that is not whole.
    func takeFragment(_ link: CapturedLink, _ part: Span<UInt8>, isStart: Bool, isSent: Bool, at time: Int64) {
        if isStart {
            guard part.count >= 4 else { return startSmall(link, part, isSent: isSent) }
            let length = 4 + Int(part.little16(0))
            if part.count == length { return takeL2CAP(link, part, isSent: isSent, at: time) }
            guard part.count < length else { return skip(.badPacket) }
            if isSent { link.parts.sent.begin(part, length) } else { link.parts.received.begin(part, length) }
            return
        }
        if isSent {
            takeContinuation(link, &link.parts.sent, part, isSent: true, at: time)
        } else {
            takeContinuation(link, &link.parts.received, part, isSent: false, at: time)
        }
    }

    /// A start that does not even hold the length.
    private func startSmall(_ link: CapturedLink, _ part: Span<UInt8>, isSent: Bool) {
        if isSent { link.parts.sent.begin(part, 4) } else { link.parts.received.begin(part, 4) }
    }

    private func takeContinuation(
        _ link: CapturedLink,
        _ packet: inout L2CAPPacket,
        _ part: Span<UInt8>,
        isSent: Bool,
        at time: Int64
    ) {
        guard packet.length > 0 else { return skip(.continuation) }
        packet.add(part)
        if packet.bytes.count >= 4 { packet.length = 4 + Int(packet.bytes[0]) + Int(packet.bytes[1]) << 8 }
        if packet.bytes.count < packet.length { return }
        if packet.bytes.count == packet.length {
            // Taken out, so that nobody else holds it while it is read.
            var whole = L2CAPPacket()
            swap(&whole, &packet)
            takeL2CAP(link, whole.bytes.span, isSent: isSent, at: time)
            swap(&whole, &packet)
        } else {
            skip(.badPacket)
        }
        packet.clear()
    }

    private func takeL2CAP(_ link: CapturedLink, _ packet: Span<UInt8>, isSent: Bool, at time: Int64) {
        let body = packet.extracting(4...)
        switch packet.little16(2) {
        case 0x0004: return takeATT(link, link.bearer, body, isSent: isSent, at: time)
        case 0x0005: takeSignal(link, body, isSent: isSent)
        case 0x0006: takeSecurity(link, body, isSent: isSent)
        case let channel:
            guard let bearer = link.channels.bearer(channel, isSent: isSent) else { break }
            return takeFrame(link, bearer, body, isSent: isSent, at: time)
        }
        skip(.otherChannel)
    }

    // MARK: Events

    func takeEvent(_ record: CaptureRecord, _ bytes: Span<UInt8>) {
        guard bytes.count >= 2, bytes.count >= 2 + Int(bytes[1]) else { return skip(.badPacket) }
        let body = bytes.extracting(2..<2 + Int(bytes[1]))
        switch bytes[0] {
        case 0x05: takeDisconnection(record, body)
        case 0x08: takeEncryption(record, body)
        case 0x0e: takeCommandComplete(record, body)
        case 0x3e where body.count >= 1: takeLowEnergy(record, body)
        default: break
        }
    }

    private func takeDisconnection(_ record: CaptureRecord, _ body: Span<UInt8>) {
        guard body.count >= 4 else { return skip(.badPacket) }
        guard body[0] == 0, let link = endLink(Self.key(record.controller, body.little16(1))) else { return }
        // 0x16: ended by the local host.
        let isEndedHere = body[3] == 0x16 || link.isEndedHere
        let side: CapturedLink.Side? = isEndedHere ? .captured : Self.hostReasons.contains(body[3]) ? .peer : nil
        link.close(at: record.time, reason: body[3], by: side)
    }

    /// What a host may say to end a link, so that the other end hears it (Bluetooth Core, volume 4, part E, 7.1.6).
    private static let hostReasons: Set<UInt8> = [0x05, 0x13, 0x14, 0x15, 0x1a, 0x29, 0x3b]

    private func takeEncryption(_ record: CaptureRecord, _ body: Span<UInt8>) {
        guard body.count >= 4 else { return skip(.badPacket) }
        guard body[0] == 0, body[3] != 0 else { return }
        link(Self.key(record.controller, body.little16(1))).encrypt()
    }

    private func takeCommandComplete(_ record: CaptureRecord, _ body: Span<UInt8>) {
        // Read BD_ADDR.
        guard body.count >= 10, body.little16(1) == 0x1009, body[3] == 0 else { return }
        let controller = controller(record.controller)
        controller.publicAddress = Self.known(body.address(4))
        controller.update()
    }

    /// An address that says something: some controllers have none of their own.
    private static func known(_ address: UInt64) -> UInt64? { address == 0 ? nil : address }

    private func takeLowEnergy(_ record: CaptureRecord, _ body: Span<UInt8>) {
        switch body[0] {
        case 0x01: takeConnection(record, body, interval: 12)
        case 0x0a, 0x29: takeConnection(record, body, interval: 24)
        case 0x02: takeReports(record, body)
        case 0x0d: takeExtendedReports(record, body)
        case 0x03:
            guard body.count >= 10 else { return skip(.badPacket) }
            guard body[1] == 0 else { return }
            let link = link(Self.key(record.controller, body.little16(2)))
            link.change(interval: body.little16(4))
            for device in [link.peer, link.local] { device?.conduct.agreed(body.extracting(4...), at: place) }
        case 0x04 where body.count >= 12 && body[1] == 0:
            let peer = link(Self.key(record.controller, body.little16(2))).peer
            peer?.conduct.extendsPackets(body[4] & 0x20 != 0, at: place)
        case 0x06 where body.count >= 11:
            let peer = link(Self.key(record.controller, body.little16(1))).peer
            peer?.conduct.asked(body.extracting(3...), at: place)
        case 0x07 where body.count >= 11:
            let longest = max(body.little16(3), body.little16(7))
            let peer = link(Self.key(record.controller, body.little16(1))).peer
            if Int(longest) > PeripheralRules.shortPacket { peer?.conduct.extendsPackets(true, at: place) }
        default: break
        }
    }

    private func takeConnection(_ record: CaptureRecord, _ body: Span<UInt8>, interval: Int) {
        guard body.count >= interval + 2 else { return skip(.badPacket) }
        guard body[1] == 0 else { return }
        let link = newLink(Self.key(record.controller, body.little16(2)), peer: peer(body.address(6)))
        link.open(at: record.time, interval: body.little16(interval))
    }

    // MARK: Advertising

    private func takeReports(_ record: CaptureRecord, _ body: Span<UInt8>) {
        guard body.count >= 2 else { return skip(.badPacket) }
        var position = 2
        for _ in 0..<body[1] {
            guard body.count >= position + 9, body.count >= position + 10 + Int(body[position + 8]) else {
                return skip(.badPacket)
            }
            let kind = body[position]
            let end = position + 9 + Int(body[position + 8])
            seen(
                body.address(position + 2),
                body.extracting(position + 9..<end),
                at: record.time,
                isAnswer: kind == 4,
                isConnectable: kind < 2,
                strength: Int8(bitPattern: body[end]),
                scan: scans[record.controller]?.number
            )
            position = end + 1
        }
    }

    private func takeExtendedReports(_ record: CaptureRecord, _ body: Span<UInt8>) {
        guard body.count >= 2 else { return skip(.badPacket) }
        var position = 2
        for _ in 0..<body[1] {
            guard body.count >= position + 24, body.count >= position + 24 + Int(body[position + 23]) else {
                return skip(.badPacket)
            }
            let kind = body.little16(position)
            let end = position + 24 + Int(body[position + 23])
            seen(
                body.address(position + 3),
                body.extracting(position + 24..<end),
                at: record.time,
                isAnswer: kind & 8 != 0,
                isConnectable: kind & 1 != 0,
                strength: Int8(bitPattern: body[position + 13]),
                scan: scans[record.controller]?.number
            )
            position = end
        }
    }

    /// An advertisement of a device.
    ///
    /// - Parameter scan: the number of a scan that hears nearly all there is; nil for any other.
    func seen(
        _ address: UInt64,
        _ data: Span<UInt8>,
        at time: Int64,
        isAnswer: Bool,
        isConnectable: Bool,
        strength: Int8?,
        scan: Int?
    ) {
        guard let device = peer(address) else { return skip(.tooManyDevices) }
        let news = device.advertising.news
        device.advertising.take(
            data,
            at: time,
            isAnswer: isAnswer,
            isConnectable: isConnectable,
            strength: strength
        )
        device.conduct.heard(at: place, isAnswer: isAnswer, scan: scan)
        if device.advertising.news != news { device.conduct.said(device.advertising, at: place) }
    }

    // MARK: Commands

    func takeCommand(_ record: CaptureRecord, _ bytes: Span<UInt8>) {
        guard bytes.count >= 3, bytes.count >= 3 + Int(bytes[2]) else { return skip(.badPacket) }
        let body = bytes.extracting(3..<3 + Int(bytes[2]))
        let opcode = bytes.little16(0)
        switch opcode {
        case 0x0406 where body.count >= 3: link(Self.key(record.controller, body.little16(0))).isEndedHere = true
        case 0x200b, 0x200c, 0x2041, 0x2042: takeScanCommand(record.controller, opcode, body)
        case 0x2005, 0x2006, 0x2008, 0x2009, 0x2035, 0x2036, 0x2037, 0x2038:
            takeAdvertisingCommand(controller(record.controller), opcode, body)
        default: break
        }
    }

    /// What the captured side advertises itself.
    private func takeAdvertisingCommand(_ controller: LocalController, _ opcode: UInt16, _ body: Span<UInt8>) {
        switch opcode {
        case 0x2005 where body.count >= 6: controller.randomAddress = body.address(0)
        case 0x2035 where body.count >= 7: controller.randomAddress = body.address(1)
        case 0x2006 where body.count >= 15:
            controller.advertising.interval = Self.advertisingInterval(UInt32(body.little16(0)))
            controller.conduct.sets(interval: UInt32(body.little16(0)), at: place)
            controller.advertising.setConnectable(body[4] < 2)
            controller.usesRandom = body[5] & 1 != 0
        case 0x2036 where body.count >= 25:
            controller.advertising.interval = Self.advertisingInterval(body.little32(3) & 0xff_ffff)
            controller.conduct.sets(interval: body.little32(3) & 0xff_ffff, at: place)
            controller.advertising.setConnectable(body[1] & 1 != 0)
            controller.usesRandom = body[10] & 1 != 0
        case 0x2008 where body.count >= 1, 0x2009 where body.count >= 1:
            controller.advertising.take(body.extracting(1..<min(body.count, 1 + Int(body[0]))))
        case 0x2037 where body.count >= 4, 0x2038 where body.count >= 4:
            controller.advertising.take(body.extracting(4..<min(body.count, 4 + Int(body[3]))))
        default: return
        }
        controller.conduct.said(controller.advertising, at: place)
        controller.update()
    }

    /// In units of 625 µs.
    private static func advertisingInterval(_ units: UInt32) -> Instant.Span {
        .milliseconds(max(20, min(Int64(units) * 625 / 1000, 3_600_000)))
    }

    /// New Index and Index Information of BlueZ's monitor: a controller with its address.
    func takeController(_ record: CaptureRecord, _ bytes: Span<UInt8>) {
        let start = bytes.count == 16 ? 2 : 0
        guard bytes.count >= start + 6 else { return }
        let controller = controller(record.controller)
        if let address = Self.known(bytes.address(start)) { controller.publicAddress = address }
        controller.update()
    }
}

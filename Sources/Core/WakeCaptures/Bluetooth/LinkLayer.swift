import WakeDevices

// Packets as they are on the air, from a sniffer: Bluetooth Core, volume 6, part B. A packet begins with its access address and ends with
// three bytes of checksum.

extension CaptureReading {
    func takeLinkLayer(_ record: CaptureRecord, _ bytes: Span<UInt8>) {
        guard bytes.count >= 6 else { return skip(.badPacket) }
        let access = bytes.little32(0)
        let length = Int(bytes[5])
        guard bytes.count >= 6 + length else { return skip(.badPacket) }
        let body = bytes.extracting(6..<6 + length)
        if access == LinkLayer.advertising {
            takeAdvertisement(record, bytes[4], body)
        } else {
            takeData(record, access, bytes[4], body)
        }
    }

    // MARK: Advertising

    private func takeAdvertisement(_ record: CaptureRecord, _ header: UInt8, _ body: Span<UInt8>) {
        let type = header & 15
        switch type {
        case 0, 2, 4, 6:
            guard body.count >= 6 else { return skip(.badPacket) }
            seen(
                body.address(0),
                body.extracting(6...),
                at: record.time,
                isAnswer: type == 4,
                isConnectable: type == 0,
                strength: record.strength,
                scan: CapturedScan.sniffing
            )
        case 5: takeConnectionRequest(record, body)
        default: break
        }
    }

    /// CONNECT_IND: who connects to whom, and by which access address they go on.
    private func takeConnectionRequest(_ record: CaptureRecord, _ body: Span<UInt8>) {
        guard body.count >= 34 else { return skip(.badPacket) }
        let access = body.little32(12)
        let link = CapturedLink(controller: 0, key: access, peer: peer(body.address(6)))
        link.open(at: record.time, interval: body.little16(22))
        sniffer.begin(access, link, at: record.time)
    }

    // MARK: Data

    private func takeData(_ record: CaptureRecord, _ access: UInt32, _ header: UInt8, _ body: Span<UInt8>) {
        let heard = sniffer.links[access] ?? sniffer.begin(access, CapturedLink(controller: 0, key: access, peer: nil))
        let isEncrypted = record.isEncrypted ?? heard.isEncrypted
        let isSent =
            record.direction == .unknown
            ? heard.isSent(header, body, at: record.time, isReadable: !isEncrypted) : record.direction == .sent
        guard heard.takes(header, body, isSent: isSent, at: record.time) else {
            if !body.isEmpty { skip(.again) }
            return
        }
        if body.isEmpty { return }
        if isEncrypted { return skip(.encrypted) }
        switch header & 3 {
        case 1: takeFragment(heard.link, body, isStart: false, isSent: isSent, at: record.time)
        case 2: takeFragment(heard.link, body, isStart: true, isSent: isSent, at: record.time)
        case 3: takeControl(heard, access, body, isSent: isSent, at: record.time)
        default: skip(.badPacket)
        }
    }

    private func takeControl(
        _ heard: HeardLink,
        _ access: UInt32,
        _ body: Span<UInt8>,
        isSent: Bool,
        at time: Int64
    ) {
        switch body[0] {
        case 0x00 where body.count >= 6:
            let interval = body.little16(4)
            heard.link.change(interval: interval)
            if body.count >= 10 { heard.link.peer?.conduct.agreed(body.extracting(4...), at: place) }
        case 0x07 where body.count >= 2 && body[1] == 0x14 && !isSent:
            heard.link.peer?.conduct.extendsPackets(false, at: place)
        case 0x09 where body.count >= 9 && !isSent, 0x0e where body.count >= 9 && !isSent:
            heard.link.peer?.conduct.extendsPackets(body[1] & 0x20 != 0, at: place)
        case 0x0f where body.count >= 9 && !isSent: heard.link.peer?.conduct.asked(body.extracting(1...), at: place)
        case 0x14 where body.count >= 7 && !isSent, 0x15 where body.count >= 7 && !isSent:
            let longest = max(body.little16(1), body.little16(5))
            heard.link.peer?.conduct.extendsPackets(Int(longest) > PeripheralRules.shortPacket, at: place)
        case 0x02 where body.count >= 2:
            // The central's end is the one that stands for the phone.
            heard.link.close(at: time, reason: body[1], by: isSent ? .captured : .peer)
            sniffer.end(access)
        case 0x05:
            heard.isEncrypted = true
            heard.link.encrypt()
        default: break
        }
    }
}

extension CaptureRecord {
    /// The header of Nordic's sniffer, after a byte for the board; the packet follows it.
    mutating func readNordic(_ bytes: Span<UInt8>) {
        // Its own header has 6 bytes, of which the third is the version and the last the kind; the second has its length first.
        guard bytes.count >= 17, (1...3).contains(bytes[3]), bytes[7] == 10 else { return }
        let isAdvertising =
            bytes[3] == 3 ? bytes[6] == 2 : bytes.count >= 21 && bytes.little32(17) == LinkLayer.advertising
        guard bytes[6] == 6 || bytes[6] == 2 else { return }
        kind = .linkLayer
        let flags = bytes[8]
        isDamaged = flags & 1 == 0
        if !isAdvertising {
            direction = flags & 2 != 0 ? .sent : .received
            // Decrypted packets have a right MIC.
            isEncrypted = flags & 4 != 0 && flags & 8 == 0
        }
        strength = Int8(clamping: -Int(bytes[10]))
        payload = payload.lowerBound + 17..<payload.upperBound
    }

    /// Link type 256: what was known of the reception is in the flags.
    mutating func readReception(_ bytes: Span<UInt8>) {
        kind = .linkLayer
        let flags = bytes.little16(8)
        // Checked and found wrong.
        isDamaged = flags & 0x0400 != 0 && flags & 0x0800 == 0
        isEncrypted = flags & 0x0008 != 0 ? false : nil
        strength = flags & 0x0002 != 0 ? Int8(bitPattern: bytes[1]) : nil
        switch flags >> 7 & 7 {
        case 2: direction = .sent
        case 3: direction = .received
        default: direction = .unknown
        }
        payload = payload.lowerBound + 10..<payload.upperBound
    }
}

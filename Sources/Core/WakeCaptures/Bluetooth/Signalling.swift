// What a peripheral asks for beside attributes, and how the captured side listens.
extension CaptureReading {
    /// The signalling channel (Bluetooth Core, volume 3, part A, 4): a peripheral asks for other connection parameters, and either end for
    /// channels.
    func takeSignal(_ link: CapturedLink, _ packet: Span<UInt8>, isSent: Bool) {
        guard packet.count >= 4, packet.count >= 4 + Int(packet.little16(2)) else { return }
        let body = packet.extracting(4...)
        switch packet[0] {
        case 0x12 where body.count >= 8: (isSent ? link.local : link.peer)?.conduct.asked(body, at: place)
        case 0x17 where body.count >= 10: link.channels.asked(packet[1], body, isSent: isSent)
        case 0x18 where body.count >= 10:
            if let mtu = link.channels.answered(packet[1], body, isSent: isSent) { link.widen(mtu: mtu) }
        case 0x07 where body.count >= 4: link.channels.closed(body, isSent: isSent)
        default: break
        }
    }

    /// The Security Manager (Bluetooth Core, volume 3, part H, 3): a peripheral asks for security, and a central pairs. Where it
    /// encrypts instead, they are paired already.
    func takeSecurity(_ link: CapturedLink, _ packet: Span<UInt8>, isSent: Bool) {
        guard packet.count >= 1 else { return }
        switch packet[0] {
        case 0x0b where !link.wasRefused && link.wish == nil:
            if let device = isSent ? link.local : link.peer { link.wish = (place, device) }
        case 0x01: link.endPairing()
        default: break
        }
    }

    /// The captured side sets how it scans, or begins or ends to.
    func takeScanCommand(_ controller: UInt16, _ opcode: UInt16, _ body: Span<UInt8>) {
        var scan = scans[controller] ?? CapturedScan()
        switch opcode {
        case 0x200b where body.count >= 5: scan.isThorough = Self.isThorough(body, at: 1)
        case 0x2041 where body.count >= 8: scan.isThorough = Self.isThorough(body, at: 4)
        case 0x200c where body.count >= 2, 0x2042 where body.count >= 2:
            let reportsAll = body[0] == 1 && body[1] == 0
            if reportsAll { scanCount += 1 }
            scan.number = reportsAll && scan.isThorough ? scanCount : nil
        default: return
        }
        scans[controller] = scan
    }

    /// Whether the window, after the interval, is at least half of it.
    private static func isThorough(_ body: Span<UInt8>, at start: Int) -> Bool {
        Int(body.little16(start + 2)) * 2 >= Int(body.little16(start))
    }
}

// What a peripheral asks for beside attributes, and how the captured side listens.
extension CaptureReading {
    /// The signalling channel (Bluetooth Core, volume 3, part A, 4): a peripheral asks for other connection parameters.
    func takeSignal(_ link: CapturedLink, _ packet: Span<UInt8>, isSent: Bool) {
        guard packet.count >= 12, packet[0] == 0x12 else { return }
        (isSent ? link.local : link.peer)?.conduct.asked(packet.extracting(4...), at: place)
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

/// Puts zeros in the place of keys, so that who gets a capture cannot read what these devices say later, nor pass for one of them.
///
/// Link keys and PINs of BR/EDR, long-term keys, identity keys, signing keys and Diffie-Hellman keys of LE, data for pairing out of
/// band, and codes of broadcasts: in commands, in events, and in the packets with which devices hand them to each other. Lengths stay
/// as they are (Bluetooth Core Specification, volume 4, part E, 7, and volume 3, part H, 3.6).
package struct HCISecrets {
    /// Links in whose direction a packet of the Security Manager goes on, by handle and direction.
    private var unfinished: Set<UInt16> = []

    package init() {}

    /// The Security Manager over LE, and over BR/EDR.
    private static let securityManager: [UInt16] = [0x0006, 0x0007]
    /// Encryption Information, Identity Information, Signing Information.
    private static let keyPackets: [UInt8] = [0x06, 0x08, 0x0A]

    /// Where the secret of a command begins, behind its opcode and length; all from there is secret.
    private static let commands: [UInt16: Int] = [
        0x040B: 6,  // Link Key Request Reply
        0x040D: 6,  // PIN Code Request Reply
        0x042E: 6,  // User Passkey Request Reply
        0x0430: 6,  // Remote OOB Data Request Reply
        0x0445: 6,  // Remote OOB Extended Data Request Reply
        0x0C11: 1,  // Write Stored Link Key
        0x2017: 0,  // LE Encrypt
        0x2019: 12,  // LE Enable Encryption
        0x201A: 2,  // LE Long Term Key Request Reply
        0x2027: 7,  // LE Add Device To Resolving List
        0x2068: 15,  // LE Create BIG
        0x2069: 20,  // LE Create BIG Test
        0x206B: 4,  // LE BIG Create Sync
    ]

    /// Commands whose completion brings a secret, behind the status.
    private static let completions: [UInt16] = [
        0x0C57,  // Read Local OOB Data
        0x0C7D,  // Read Local OOB Extended Data
        0x2017,  // LE Encrypt
    ]

    /// Takes the secrets out of a packet; to be given all packets of a controller, in order.
    package mutating func erase(from packet: inout HCIPacket) {
        switch packet.kind {
        case .command: Self.eraseCommand(&packet.bytes)
        case .event: eraseEvent(&packet.bytes)
        case .data: eraseData(&packet.bytes, fromHost: packet.fromHost)
        }
    }

    private static func eraseCommand(_ bytes: inout [UInt8]) {
        guard bytes.count >= 3, let start = commands[word(bytes, 0)] else { return }
        zero(&bytes, from: 3 + start)
    }

    private mutating func eraseEvent(_ bytes: inout [UInt8]) {
        guard bytes.count >= 3 else { return }
        switch bytes[0] {
        // Disconnection Complete: the handle may be another link's from now on.
        case 0x05 where bytes.count >= 5:
            let handle = Self.word(bytes, 3) & 0x0FFF
            unfinished.subtract([handle, handle | 0x8000])
        case 0x0E where bytes.count >= 6 && Self.completions.contains(Self.word(bytes, 3)): Self.zero(&bytes, from: 6)
        // Return Link Keys: behind their number.
        case 0x15: Self.zero(&bytes, from: 3)
        // Link Key Notification, and User Passkey Notification: behind the address.
        case 0x18, 0x3B: Self.zero(&bytes, from: 8)
        // LE Generate DHKey Complete: behind the status.
        case 0x3E where bytes[2] == 0x09: Self.zero(&bytes, from: 4)
        default: break
        }
    }

    private mutating func eraseData(_ bytes: inout [UInt8], fromHost: Bool) {
        guard bytes.count >= 4 else { return }
        let word = Self.word(bytes, 0)
        let link = word & 0x0FFF | (fromHost ? 0x8000 : 0)
        if word >> 12 & 3 == 1 {
            if unfinished.contains(link) { Self.zero(&bytes, from: 4) }
            return
        }
        unfinished.remove(link)
        // Behind the heads of the link and of the channel: one who splits even these hides what comes.
        guard bytes.count > 8 else {
            if bytes.count < 8 || Self.securityManager.contains(Self.word(bytes, 6)) { unfinished.insert(link) }
            return
        }
        guard Self.securityManager.contains(Self.word(bytes, 6)) else { return }
        unfinished.insert(link)
        if Self.keyPackets.contains(bytes[8]) { Self.zero(&bytes, from: 9) }
    }

    private static func zero(_ bytes: inout [UInt8], from start: Int) {
        for place in bytes.indices.dropFirst(start) { bytes[place] = 0 }
    }

    private static func word(_ bytes: [UInt8], _ place: Int) -> UInt16 {
        UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
    }
}

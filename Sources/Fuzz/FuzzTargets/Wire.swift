import WakeWire

/// The wire, both ways.
enum Wire {
    /// What is read is written and read again as the same.
    static func fromApp(_ bytes: [UInt8]) {
        guard let message = try? AppMessage(decoding: bytes) else { return }
        guard let again = try? AppMessage(decoding: message.encode()) else {
            preconditionFailure("a message that cannot be read again: \(message)")
        }
        precondition(again == message, "\(message) is read again as \(again)")
    }

    static func fromBench(_ bytes: [UInt8]) {
        var reader = BenchPacketReader()
        guard let messages = try? reader.messages(in: bytes) else { return }
        for message in messages {
            let written = message.encode()
            guard let again = try? BenchMessage(decoding: written) else {
                // What is written in full may be longer than what was read.
                precondition(written.count > WireLimits.packetBytes, "a message that cannot be read again: \(message)")
                continue
            }
            precondition(again == message, "\(message) is read again as \(again)")
        }
    }
}

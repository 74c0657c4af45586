import WakeWire

/// A packet in the making: the messages of one turn for one process.
package struct PacketBatch {
    private var bytes: [UInt8] = []
    private var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// Adds a message; false where the packet has no room for it, and then nothing is added.
    package mutating func add(_ message: BenchMessage) -> Bool {
        guard count < WireLimits.messages else { return false }
        let end = bytes.count
        bytes.append(isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
        message.append(to: &bytes)
        // The bracket at the end needs room as well.
        guard bytes.count < WireLimits.packetBytes else {
            bytes.removeSubrange(end...)
            return false
        }
        count += 1
        return true
    }

    /// Calls back with the packet, unless it is empty, and begins the next one. A single message is a packet by itself.
    package mutating func take(_ body: ([UInt8]) -> Void) {
        guard !isEmpty else { return }
        if count == 1 { bytes.removeFirst() } else { bytes.append(UInt8(ascii: "]")) }
        count = 0
        body(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}

import WakeJSON

/// Reads the bench's packets, each of one message or of several, in memory that it keeps from packet to packet.
package struct BenchPacketReader {
    /// Deliveries to one manager whose numbers follow each other.
    package struct Run: Sendable {
        /// The manager that they are for.
        package let manager: UInt32
        /// Their numbers.
        package private(set) var numbers: ClosedRange<UInt64>

        init(_ manager: UInt32, _ number: UInt64) {
            self.manager = manager
            numbers = number...number
        }

        /// The run with one more delivery, where that goes on with it.
        func goingOn(_ manager: UInt32, _ number: UInt64) -> Run? {
            guard manager == self.manager, number == numbers.upperBound + 1 else {
                return nil
            }
            var longer = self
            longer.numbers = numbers.lowerBound...number
            return longer
        }
    }

    private var tokens: [JSONToken] = []
    private var values = ValueReader()

    /// A reader that has read nothing.
    package init() {}

    /// What the messages of the latest packet are together, where all are deliveries of values and they are a run.
    package private(set) var run: Run?

    /// The messages of a packet, in their order: that of a JSON object, or those of an array of 1 to
    /// ``WireLimits/messages`` objects.
    ///
    /// - Parameter count: How many bytes at the front are the packet; nil means all.
    /// - Throws: ``WireError`` where any part is not a message of the bench; then none of them counts.
    package mutating func messages(in bytes: [UInt8], count: Int? = nil) throws(WireError) -> [BenchMessage] {
        let count = count ?? bytes.count
        guard count <= WireLimits.packetBytes else {
            throw .tooLarge(bytes: count)
        }
        run = nil
        if let messages = values.messages(bytes.span.extracting(0..<count)) {
            run = values.run
            return messages
        }
        var messages: [BenchMessage] = []
        var memory: [JSONToken] = []
        swap(&memory, &tokens)
        let packet = try Packet(bytes, count: count, reusing: memory)
        defer { tokens = packet.tokens }
        try packet.forEachMessage { (fields) throws(WireError) in messages.append(try BenchMessage(fields)) }
        return messages
    }
}

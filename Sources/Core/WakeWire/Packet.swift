import WakeJSON

/// A packet and the tokens of its JSON text.
struct Packet {
    let bytes: [UInt8]
    let tokens: [JSONToken]

    /// Reads the first bytes of a buffer; the tokens stand in the given array's memory.
    init(_ bytes: [UInt8], count: Int, reusing tokens: consuming [JSONToken] = []) throws(WireError) {
        guard count <= WireLimits.packetBytes else {
            throw .tooLarge(bytes: count)
        }
        self.bytes = bytes
        do throws(JSONFault) {
            self.tokens = try JSONReader.read(
                bytes.span.extracting(0..<count),
                deepest: WireLimits.depth,
                reusing: tokens
            )
        } catch {
            throw WireError(error)
        }
    }

    /// The object that the packet is, or that stands at a place in it.
    ///
    /// - Throws: ``WireError/notAnObject`` for anything else.
    func object(at place: Int = 0) throws(WireError) -> Fields {
        guard tokens[place].kind == .object else {
            throw .notAnObject
        }
        return Fields(packet: self, object: place)
    }

    /// Takes the object that the packet is, or those of the array that it is, in their order.
    func forEachMessage(_ take: (Fields) throws(WireError) -> Void) throws(WireError) {
        guard tokens[0].kind == .array else {
            return try take(object())
        }
        var count = 0
        var place = 1
        while place < tokens.count {
            count += 1
            place = Int(tokens[place].next)
        }
        guard (1...WireLimits.messages).contains(count) else {
            throw .badBatch(messages: count)
        }
        place = 1
        while place < tokens.count {
            try take(object(at: place))
            place = Int(tokens[place].next)
        }
    }
}

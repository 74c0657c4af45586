extension AppMessage {
    /// Reads a packet.
    ///
    /// - Throws: ``WireError`` for anything that is not a message of an app.
    package init(decoding packet: [UInt8]) throws(WireError) {
        if let acknowledgement = AppMessage.plainAcknowledgement(packet.span) {
            self = acknowledgement
            return
        }
        var coder = FieldCoder(reading: try Packet(packet, count: packet.count).object())
        self = .launched
        try coder.message("type", of: &self, unknown: WireError.unknownType)
    }

    /// The packet.
    package func encode() -> [UInt8] {
        var buffer: [UInt8] = []
        buffer.reserveCapacity(256)
        append(to: &buffer)
        return buffer
    }

    /// Appends the packet to a buffer that the caller reuses.
    package func append(to buffer: inout [UInt8]) {
        if case .acknowledge(let delivery, let through) = self {
            return ValueWriter.append(to: &buffer, acknowledging: delivery, through: through)
        }
        FieldCoder.append(self, to: &buffer)
    }
}

extension AppMessage: CodedByWord {
    static let byWord = {
        let blanks: [Self] = [
            .hello(version: 0, client: "", pid: 0), .launched, .acknowledge(delivery: 0), .done,
            .beginTask(token: 0, name: nil), .endTask(token: 0), .timeRemaining(id: 0), .drew,
            .signpost(.blank),
        ]
        return table(blanks + areas)
    }()

    var word: String {
        switch self {
        case .hello: "hello"
        case .launched: "launched"
        case .acknowledge: "ack"
        case .done: "done"
        case .beginTask: "task.begin"
        case .endTask: "task.end"
        case .timeRemaining: "time.remaining"
        case .drew: "drew"
        case .signpost: "signpost"
        default: areaWord
        }
    }

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .hello(let version, let client, let pid, let batches):
            self = try .hello(
                version: coder.field("version", version, .whole(in: 1...1_000_000)),
                client: coder.field("client", client, .text),
                pid: coder.field("pid", pid, .whole(in: 1...Int64(Int32.max))),
                batches: coder.field("batches", batches, .bool, omitted: false)
            )
        case .acknowledge(let delivery, let through):
            let delivery = try coder.field("delivery", delivery, .whole)
            let through = try coder.field("through", through, .whole)
            if let through, through < delivery {
                throw .badValue(key: "through", expected: "at least 'delivery'")
            }
            self = .acknowledge(delivery: delivery, through: through)
        case .beginTask(let token, let name, let id):
            let id = try coder.field("id", id, .whole)
            self = try .beginTask(
                token: coder.field("token", token, .whole),
                name: coder.field("name", name, .text),
                id: id
            )
        case .endTask(let token): self = try .endTask(token: coder.field("token", token, .whole))
        case .timeRemaining(let id): self = try .timeRemaining(id: coder.field("id", id, .whole))
        case .signpost(let signpost): self = try .signpost(signpost.coded(&coder))
        case .launched, .done, .drew: break
        default: try codeRequest(&coder)
        }
    }
}

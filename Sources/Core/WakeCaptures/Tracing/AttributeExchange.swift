import WakeDevices
import WakeModel

/// The packets of the Attribute Protocol with which a central carries out what it was asked, and the server answers (Bluetooth
/// Core Specification, volume 3, part F, 3.4, and the procedures of part G, 4).
package struct AttributeExchange: Hashable, Sendable {
    /// A request and its response; a command, a notification and a confirmation have none.
    package struct Round: Hashable, Sendable {
        package var request: [UInt8]
        package var response: [UInt8]?

        package init(request: [UInt8], response: [UInt8]? = nil) {
            (self.request, self.response) = (request, response)
        }
    }

    /// A declaration in a table of attributes, and what belongs to it.
    package struct Entry: Hashable, Sendable {
        package var handle: UInt16
        /// The last handle of the group; of a characteristic, its properties' byte is beside.
        package var end: UInt16
        package var properties: UInt8
        /// Canonical.
        package var uuid: String

        package init(handle: UInt16, end: UInt16 = 0, properties: UInt8 = 0, uuid: String) {
            (self.handle, self.end, self.properties, self.uuid) = (handle, end, properties, uuid)
        }
    }

    /// What both ends agreed on, 23 to 517 bytes.
    package var mtu: Int

    package init(mtu: Int) { self.mtu = min(max(mtu, 23), 517) }

    /// The default of a link before anything is agreed on.
    package static let leastMTU = 23

    private static let primaryService: [UInt8] = [0x00, 0x28]
    private static let include: [UInt8] = [0x02, 0x28]
    private static let declaration: [UInt8] = [0x03, 0x28]
    private static let attributeNotFound: UInt8 = 0x0A
    private static let attributeNotLong: UInt8 = 0x0B

    // MARK: Discovery

    /// The exchange of MTUs with which a link begins.
    package static func agreeing(client: Int, server: Int) -> Round {
        Round(request: [0x02] + word(UInt16(client)), response: [0x03] + word(UInt16(server)))
    }

    /// Discovers all primary services.
    package func discovering(services: [Entry]) -> [Round] {
        pages(of: services, from: 1, to: .max, request: 0x10, type: Self.primaryService) { entry in
            Self.word(entry.handle) + Self.word(entry.end) + Self.bytes(ofUUID: entry.uuid)
        } last: {
            $0.end
        }
    }

    /// Discovers the primary services of one UUID, which are in the list.
    package func discovering(service uuid: String, found: [Entry]) -> [Round] {
        let value = Self.bytes(ofUUID: uuid)
        var rounds: [Round] = []
        var start: UInt16 = 1
        var rest = found[...]
        while true {
            let request = [0x06] + Self.word(start) + Self.word(.max) + Self.primaryService + value
            let page = rest.prefix((mtu - 1) / 4)
            rest = rest.dropFirst(page.count)
            guard let last = page.last else { return rounds + [refused(request, start)] }
            rounds.append(
                Round(request: request, response: [0x07] + page.flatMap { Self.word($0.handle) + Self.word($0.end) })
            )
            guard last.end < .max else { return rounds }
            start = last.end + 1
        }
    }

    /// Discovers the included services of a service, which has none.
    package func discoveringIncluded(from first: UInt16, to end: UInt16) -> [Round] {
        [refused([0x08] + Self.word(first) + Self.word(end) + Self.include, first)]
    }

    /// Discovers the characteristics between two handles.
    package func discovering(characteristics: [Entry], from first: UInt16, to end: UInt16) -> [Round] {
        pages(of: characteristics, from: first, to: end, request: 0x08, type: Self.declaration) { entry in
            Self.word(entry.handle) + [entry.properties] + Self.word(entry.handle + 1) + Self.bytes(ofUUID: entry.uuid)
        } last: {
            $0.handle
        }
    }

    /// Discovers the descriptors between two handles.
    package func discovering(descriptors: [Entry], from first: UInt16, to end: UInt16) -> [Round] {
        guard first <= end else { return [] }
        var rounds: [Round] = []
        var start = first
        var rest = descriptors[...]
        while true {
            let request = [0x04] + Self.word(start) + Self.word(end)
            guard let head = rest.first else { return rounds + [refused(request, start)] }
            let size = Self.bytes(ofUUID: head.uuid).count
            let page = rest.prefix { Self.bytes(ofUUID: $0.uuid).count == size }.prefix((mtu - 2) / (2 + size))
            rest = rest.dropFirst(page.count)
            let list = page.flatMap { Self.word($0.handle) + Self.bytes(ofUUID: $0.uuid) }
            rounds.append(Round(request: request, response: [0x05, size == 2 ? 1 : 2] + list))
            guard let last = page.last, last.handle < end else { return rounds }
            start = last.handle + 1
        }
    }

    /// Read By Group Type and Read By Type: as many of one length as there is room for, until there are no more.
    private func pages(
        of entries: [Entry],
        from first: UInt16,
        to end: UInt16,
        request opcode: UInt8,
        type: [UInt8],
        value: (Entry) -> [UInt8],
        last: (Entry) -> UInt16
    ) -> [Round] {
        var rounds: [Round] = []
        var start = first
        var rest = entries[...]
        while true {
            let request = [opcode] + Self.word(start) + Self.word(end) + type
            guard let head = rest.first else { return rounds + [refused(request, start)] }
            let size = value(head).count
            let page = rest.prefix { value($0).count == size }.prefix((mtu - 2) / size)
            rest = rest.dropFirst(page.count)
            rounds.append(Round(request: request, response: [opcode + 1, UInt8(size)] + page.flatMap(value)))
            guard let reached = page.last.map(last), reached < end else { return rounds }
            start = reached + 1
        }
    }

    // MARK: Values

    /// Reads a value, with further requests for what one response has no room for.
    package func reading(_ handle: UInt16, value: [UInt8]) -> [Round] {
        let room = mtu - 1
        var rounds = [Round(request: [0x0A] + Self.word(handle), response: [0x0B] + value.prefix(room))]
        if value.count == room {
            let request = [0x0C] + Self.word(handle) + Self.word(UInt16(room))
            return rounds + [refused(request, handle, Self.attributeNotLong)]
        }
        var offset = room
        while offset <= value.count {
            let request = [0x0C] + Self.word(handle) + Self.word(UInt16(offset))
            rounds.append(Round(request: request, response: [0x0D] + value.dropFirst(offset).prefix(room)))
            offset += room
        }
        return rounds
    }

    /// Reads the values of characteristics of one UUID, of which there is one.
    package func reading(characteristic uuid: String, at handle: UInt16, value: [UInt8]) -> Round {
        let shown = value.prefix(min(mtu - 4, 253))
        return Round(
            request: [0x08] + Self.word(1) + Self.word(.max) + Self.bytes(ofUUID: uuid),
            response: [0x09, UInt8(shown.count + 2)] + Self.word(handle) + shown
        )
    }

    /// Writes a value with a response; a long one in parts.
    package func writing(_ handle: UInt16, value: [UInt8]) -> [Round] {
        guard value.count > mtu - 3 else {
            return [Round(request: [0x12] + Self.word(handle) + value, response: [0x13])]
        }
        return preparing(handle, value: value)
    }

    /// Writes a value in parts, and all at once in the end.
    package func preparing(_ handle: UInt16, value: [UInt8]) -> [Round] {
        var rounds: [Round] = []
        for offset in stride(from: 0, to: value.count, by: mtu - 5) {
            let part = Self.word(handle) + Self.word(UInt16(offset)) + value.dropFirst(offset).prefix(mtu - 5)
            rounds.append(Round(request: [0x16] + part, response: [0x17] + part))
        }
        return rounds + [Round(request: [0x18, 1], response: [0x19])]
    }

    /// Writes a value without a response.
    package func commanding(_ handle: UInt16, value: [UInt8]) -> Round {
        Round(request: [0x52] + Self.word(handle) + value.prefix(mtu - 3))
    }

    /// A value that the server sends of itself.
    package func notifying(_ handle: UInt16, value: [UInt8]) -> Round {
        Round(request: [0x1B] + Self.word(handle) + value.prefix(mtu - 3))
    }

    /// A value that the server sends of itself, and the central confirms.
    package func indicating(_ handle: UInt16, value: [UInt8]) -> Round {
        Round(request: [0x1D] + Self.word(handle) + value.prefix(mtu - 3), response: [0x1E])
    }

    /// The last round again, refused with an error of the Attribute Protocol.
    package static func refused(_ rounds: [Round], with error: UInt8) -> [Round] {
        guard let round = rounds.first, let opcode = round.request.first, round.request.count >= 3 else {
            return rounds
        }
        return [Round(request: round.request, response: [0x01, opcode] + round.request[1..<3] + [error])]
    }

    private func refused(_ request: [UInt8], _ handle: UInt16, _ error: UInt8 = attributeNotFound) -> Round {
        Round(request: request, response: [0x01, request[0]] + Self.word(handle) + [error])
    }

    /// A number of two bytes, lowest first.
    package static func word(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }

    /// A UUID as it goes over the air: two bytes for those of the Bluetooth base, else 16, last first.
    package static func bytes(ofUUID canonical: String) -> [UInt8] {
        let digits = canonical.utf8.filter { $0 != UInt8(ascii: "-") }.map(Self.digit)
        return stride(from: digits.count - 2, through: 0, by: -2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static func digit(_ letter: UInt8) -> UInt8 {
        letter <= UInt8(ascii: "9") ? letter - UInt8(ascii: "0") : letter - UInt8(ascii: "A") + 10
    }
}

import WakeDevices

/// A request that its server has not answered yet.
struct ATTQuestion {
    /// 0 when nothing is asked.
    var opcode: UInt8 = 0
    var first: UInt16 = 0
    var last: UInt16 = 0
    var type: AttributeType?
    var offset: UInt16 = 0
    /// What Find By Type Value looks for, or what is to be written.
    var value: [UInt8] = []
    /// Parts of a long write that are prepared.
    var prepared: [UInt8] = []
    /// Which of the server's happenings it is, of a write.
    var order = 0
}

// The Attribute Protocol: Bluetooth Core Specification, volume 3, part F.
extension CaptureReading {
    /// A packet of ATT. Requests, commands and confirmations go to a server; all else comes from one.
    func takeATT(_ link: CapturedLink, _ bearer: ATTBearer, _ packet: Span<UInt8>, isSent: Bool, at time: Int64) {
        guard packet.count >= 1 else { return skip(.badAttribute) }
        let opcode = packet[0]
        let isForServer = Self.isForServer(opcode)
        let isLocal = isSent != isForServer
        let device = server(link, isLocal: isLocal)
        device.operations += 1
        let body = packet.extracting(1...)
        if opcode == 0x01, body.count >= 4, Self.securityErrors.contains(body[3]) { link.wasRefused = true }
        if opcode == 0x1b || opcode == 0x1d || opcode == 0x23 {
            return takeNotification(device, opcode, body, at: time)
        }
        if opcode == 0x03, body.count >= 2 {
            let question = isLocal ? bearer.local : bearer.peer
            if question.opcode == 0x02 { agree(link, question.offset, body.little16(0), isLocal: isLocal) }
        }
        if isForServer {
            if isLocal {
                takeRequest(device, &bearer.local, opcode, body, at: time)
            } else {
                takeRequest(device, &bearer.peer, opcode, body, at: time)
            }
        } else if isLocal {
            takeAnswer(device, &bearer.local, opcode, body, at: time)
        } else {
            takeAnswer(device, &bearer.peer, opcode, body, at: time)
        }
    }

    /// Insufficient authentication, authorization, size of the key, and encryption.
    private static let securityErrors: Set<UInt8> = [0x05, 0x08, 0x0c, 0x0f]

    static func isForServer(_ opcode: UInt8) -> Bool {
        // Commands have bit 6 set; requests and the confirmation are even, and what servers send is odd.
        opcode & 0x40 != 0 || opcode & 1 == 0
    }

    /// The ends said how much they take in a packet: the less of it holds for both, whichever asked.
    ///
    /// - Parameter isLocal: whether the server is the captured side.
    private func agree(_ link: CapturedLink, _ client: UInt16, _ server: UInt16, isLocal: Bool) {
        link.agree(mtu: max(23, Int(min(client, server))))
        link.local?.conduct.exchanged(mtu: Int(isLocal ? server : client), at: place)
        link.peer?.conduct.exchanged(mtu: Int(isLocal ? client : server), at: place)
    }

    private func takeNotification(_ device: CapturedDevice, _ opcode: UInt8, _ body: Span<UInt8>, at time: Int64) {
        guard opcode == 0x23 else {
            guard body.count >= 2 else { return skip(.badAttribute) }
            let value = body.extracting(2...)
            device.notified(body.little16(0), value, at: time, isIndication: opcode == 0x1d, store)
            return
        }
        var position = 0
        while position < body.count {
            guard body.count >= position + 4 else { return skip(.badAttribute) }
            let end = position + 4 + Int(body.little16(position + 2))
            guard body.count >= end else { return skip(.badAttribute) }
            let value = body.extracting(position + 4..<end)
            device.notified(body.little16(position), value, at: time, isIndication: false, store)
            position = end
        }
    }

    // MARK: Requests

    private func takeRequest(
        _ device: CapturedDevice,
        _ question: inout ATTQuestion,
        _ opcode: UInt8,
        _ body: Span<UInt8>,
        at time: Int64
    ) {
        switch opcode {
        case 0x1e: return
        case 0x52, 0xd2:
            // A signature of 12 bytes stands at the end of a signed one.
            let end = opcode == 0x52 ? body.count : body.count - 12
            guard end >= 2 else { return skip(.badAttribute) }
            return written(device, body.little16(0), body.extracting(2..<end), at: time, order: device.happened())
        case 0x02, 0x04, 0x06, 0x08, 0x0a, 0x0c, 0x0e, 0x10, 0x12, 0x16, 0x18, 0x20: break
        default: return skip(.badAttribute)
        }
        question.opcode = opcode
        question.type = nil
        question.value.removeAll(keepingCapacity: true)
        guard body.count >= Self.shortestRequest(opcode) else {
            question.opcode = 0
            return skip(.badAttribute)
        }
        switch opcode {
        case 0x02: question.offset = body.little16(0)
        case 0x04: (question.first, question.last) = (body.little16(0), body.little16(2))
        case 0x06:
            (question.first, question.last) = (body.little16(0), body.little16(2))
            question.type = .short(body.little16(4))
            question.value = body.extracting(6...).copied(limit: 16)
        case 0x08, 0x10:
            (question.first, question.last) = (body.little16(0), body.little16(2))
            question.type = AttributeType(body.extracting(4...))
        case 0x0a: (question.first, question.offset) = (body.little16(0), 0)
        case 0x0c: (question.first, question.offset) = (body.little16(0), body.little16(2))
        case 0x12:
            question.first = body.little16(0)
            question.value = body.extracting(2...).copied(limit: 512)
            question.order = device.happened()
        case 0x16: takePrepared(&question, body)
        case 0x18:
            question.offset = UInt16(body[0])
            question.order = device.happened()
        default: break
        }
        device.conduct.discovers(question)
    }

    private static func shortestRequest(_ opcode: UInt8) -> Int {
        switch opcode {
        case 0x02, 0x0a, 0x12: 2
        case 0x04, 0x0c, 0x16: 4
        case 0x06, 0x08, 0x10: 6
        case 0x18: 1
        default: 0
        }
    }

    private func takePrepared(_ question: inout ATTQuestion, _ body: Span<UInt8>) {
        let offset = Int(body.little16(2))
        question.first = body.little16(0)
        // Attributes have at most 512 bytes; parts come in order.
        if offset == 0 { question.prepared.removeAll(keepingCapacity: true) }
        guard offset == question.prepared.count else { return }
        for index in 4..<body.count where question.prepared.count < 512 { question.prepared.append(body[index]) }
    }

    /// A write that took place.
    ///
    /// - Parameter order: which of the device's happenings the request was.
    private func written(
        _ device: CapturedDevice,
        _ handle: UInt16,
        _ value: Span<UInt8>,
        at time: Int64,
        order: Int
    ) {
        if value.count == 2, let characteristic = device.table.characteristic(configuredBy: handle) {
            return device.configured(characteristic, value.little16(0), at: time, store)
        }
        if device.writes[handle] == nil && !store.takeAttribute() { return }
        device.writes[handle, default: 0] += 1
        device.wrote(handle, value, at: time, order: order, store)
    }

    // MARK: Answers

    private func takeAnswer(
        _ device: CapturedDevice,
        _ question: inout ATTQuestion,
        _ opcode: UInt8,
        _ body: Span<UInt8>,
        at time: Int64
    ) {
        let asked = question.opcode
        question.opcode = 0
        if opcode == 0x01 {
            return takeError(device, asked, question, body, at: time)
        }
        guard asked != 0, opcode == asked + 1 else { return skip(.strayAnswer) }
        switch opcode {
        case 0x03:
            guard body.count >= 2 else { return skip(.badAttribute) }
        case 0x05: takeInformation(device, body)
        case 0x07: takeFound(device, question, body)
        case 0x09: takeValues(device, question, body)
        case 0x0b, 0x0d:
            device.reads += 1
            takeValue(device, question.first, at: Int(question.offset), body)
        case 0x11: takeGroups(device, question, body)
        case 0x13: written(device, question.first, question.value.span, at: time, order: question.order)
        case 0x19:
            if question.offset == 1 && !question.prepared.isEmpty {
                written(device, question.first, question.prepared.span, at: time, order: question.order)
            }
            question.prepared.removeAll(keepingCapacity: true)
        default: break
        }
    }

    private func takeError(
        _ device: CapturedDevice,
        _ asked: UInt8,
        _ question: ATTQuestion,
        _ body: Span<UInt8>,
        at time: Int64
    ) {
        guard body.count >= 4 else { return skip(.badAttribute) }
        device.errors += 1
        device.conduct.refused(question, body[0], with: body[3], at: place)
        if asked == 0x12, body[0] == asked, !Self.securityErrors.contains(body[3]) {
            device.wrote(
                question.first,
                question.value.span,
                at: time,
                order: question.order,
                refusedWith: body[3],
                store
            )
        }
        // Insufficient authentication, encryption, or size of its key.
        guard [0x05, 0x0f, 0x0c].contains(body[3]) else { return }
        let handle = device.table.characteristic(configuredBy: question.first) ?? question.first
        if device.protected.contains(handle) || store.takeAttribute() { device.protected.insert(handle) }
    }

    /// Find Information: handles with their types.
    private func takeInformation(_ device: CapturedDevice, _ body: Span<UInt8>) {
        guard body.count >= 1, body[0] == 1 || body[0] == 2 else { return skip(.badAttribute) }
        let size = body[0] == 1 ? 4 : 18
        guard (body.count - 1).isMultiple(of: size) else { return skip(.badAttribute) }
        for start in stride(from: 1, to: body.count, by: size) {
            let handle = body.little16(start)
            guard let type = AttributeType(body.extracting(start + 2..<start + size)) else { continue }
            if device.table.types[handle] != nil || store.takeAttribute() { device.table.types[handle] = type }
        }
    }

    /// Find By Type Value: where services of the asked UUID begin and end.
    private func takeFound(_ device: CapturedDevice, _ question: ATTQuestion, _ body: Span<UInt8>) {
        guard question.type == .primaryService, let uuid = AttributeType(question.value.span) else { return }
        guard body.count.isMultiple(of: 4) else { return skip(.badAttribute) }
        for start in stride(from: 0, to: body.count, by: 4) {
            let service = AttributeTable.Service(end: body.little16(start + 2), uuid: uuid, isPrimary: true)
            add(service, at: body.little16(start), to: device)
        }
    }

    private func add(_ service: AttributeTable.Service, at handle: UInt16, to device: CapturedDevice) {
        guard device.table.services[handle] != nil || store.takeAttribute() else { return }
        device.conduct.showed(service, at: handle, instead: device.table.services[handle], place)
        device.table.services[handle] = service
    }

    /// Read By Group Type: services.
    private func takeGroups(_ device: CapturedDevice, _ question: ATTQuestion, _ body: Span<UInt8>) {
        guard let size = Self.entrySize(body, least: 6) else { return skip(.badAttribute) }
        guard question.type == .primaryService || question.type == .secondaryService else { return }
        for start in stride(from: 1, to: body.count, by: size) {
            guard let uuid = AttributeType(body.extracting(start + 4..<start + size)) else { continue }
            let isPrimary = question.type == .primaryService
            let service = AttributeTable.Service(end: body.little16(start + 2), uuid: uuid, isPrimary: isPrimary)
            add(service, at: body.little16(start), to: device)
        }
    }

    /// Read By Type: characteristics, or values of one type.
    private func takeValues(_ device: CapturedDevice, _ question: ATTQuestion, _ body: Span<UInt8>) {
        guard let size = Self.entrySize(body, least: 2) else { return skip(.badAttribute) }
        for start in stride(from: 1, to: body.count, by: size) {
            let handle = body.little16(start)
            guard question.type == .characteristic else {
                let value = body.extracting(start + 2..<start + size)
                takeValue(device, handle, at: 0, value)
                if question.type == .deviceName, device.gapName == nil { device.gapName = value.copied(limit: 248) }
                continue
            }
            guard size >= 7, let uuid = AttributeType(body.extracting(start + 5..<start + size)) else { continue }
            guard device.table.characteristics[handle] != nil || store.takeAttribute() else { continue }
            let characteristic = AttributeTable.Characteristic(
                properties: body[start + 2],
                value: body.little16(start + 3),
                uuid: uuid
            )
            device.table.add(characteristic, at: handle)
            device.conduct.showed(declaration: handle, place)
        }
    }

    /// The size of each entry of a list that begins with it; nil when the list does not have that form.
    private static func entrySize(_ body: Span<UInt8>, least: Int) -> Int? {
        guard body.count >= 1 else { return nil }
        let size = Int(body[0])
        return size >= least && (body.count - 1).isMultiple(of: size) ? size : nil
    }

    /// A value that was read, or its further part. The first reading of a value stays.
    private func takeValue(_ device: CapturedDevice, _ handle: UInt16, at offset: Int, _ part: Span<UInt8>) {
        if device.table.type(of: handle) == .deviceName, offset == 0, device.gapName == nil {
            device.gapName = part.copied(limit: 248)
        }
        guard let value = device.table.values[handle] else {
            guard offset == 0, store.takeAttribute() else { return }
            device.conduct.showed(value: handle, place)
            device.table.values[handle] = part.copied(limit: 512)
            return
        }
        guard offset == value.count, offset > 0, offset < 512 else { return }
        device.table.values[handle] = value + part.copied(limit: 512 - offset)
    }
}

/// How a packet stands in a record: what precedes it and says what it is.
enum Encapsulation {
    /// The type of a UART transport (Bluetooth Core, volume 4, part A), then the packet.
    case h4
    /// Nothing: the record's flags say whether it is a command or event.
    case bare
    /// BlueZ's monitor: kind and controller are the record's flags.
    case monitor
    /// Link type 201: four bytes of direction, then as ``h4``.
    case h4WithDirection
    /// Link type 254: controller and kind as BlueZ's monitor has them, then the packet.
    case linuxMonitor
    /// Link type 272: the header of Nordic's sniffer, then a packet of the link layer.
    case nordic
    /// Link type 251: a packet of the link layer.
    case linkLayer
    /// Link type 256: ten bytes about its reception, then a packet of the link layer.
    case linkLayerWithReception
    /// A link type of networks, by its number.
    case network(UInt16)
    /// Another link type, by its number.
    case unread(UInt16)

    /// What is read of pcap and pcapng, for people.
    static let linkTypes = "link type 187, 201, 251, 254, 256 or 272, or of a network 0, 1, 101, 108, 113 or 276"

    /// The encapsulation of a link type of pcap's.
    init(linkType: UInt32) {
        switch linkType {
        case 187: self = .h4
        case 201: self = .h4WithDirection
        case 251: self = .linkLayer
        case 254: self = .linuxMonitor
        case 256: self = .linkLayerWithReception
        case 272: self = .nordic
        case 0, 1, 101, 108, 113, 276: self = .network(UInt16(linkType))
        default: self = .unread(UInt16(truncatingIfNeeded: linkType))
        }
    }

    /// The record with its kind, its direction and the place of the packet proper.
    func record(_ outer: CaptureRecord, flags: UInt32 = 0, _ bytes: Span<UInt8>) -> CaptureRecord {
        var record = outer
        switch self {
        case .h4: record.readH4(bytes, at: 0)
        case .bare:
            let isCommandOrEvent = flags & 2 != 0
            record.kind = isCommandOrEvent ? (flags & 1 == 0 ? .command : .event) : .acl
        case .monitor:
            record.controller = UInt16(flags >> 16)
            record.setMonitor(UInt16(truncatingIfNeeded: flags))
        case .h4WithDirection:
            guard bytes.count > 4 else { break }
            record.direction = bytes.big32(0) & 1 == 0 ? .sent : .received
            record.readH4(bytes, at: 4)
        case .linuxMonitor:
            guard bytes.count >= 4 else { break }
            record.controller = bytes.big16(0)
            record.setMonitor(bytes.big16(2))
            record.payload = record.payload.lowerBound + 4..<record.payload.upperBound
        case .nordic: record.readNordic(bytes)
        case .linkLayer: record.kind = .linkLayer
        case .linkLayerWithReception:
            guard bytes.count > 10 else { break }
            record.readReception(bytes)
        case .network(let number):
            record.kind = .network
            record.linkType = number
        case .unread(let number):
            record.kind = .unread
            record.linkType = number
        }
        return record
    }
}

extension CaptureRecord {
    /// A packet behind its type of a UART transport.
    fileprivate mutating func readH4(_ bytes: Span<UInt8>, at start: Int) {
        guard bytes.count > start else { return }
        switch bytes[start] {
        case 1: (kind, direction) = (.command, .sent)
        case 2: kind = .acl
        case 3: kind = .synchronous
        case 4: (kind, direction) = (.event, .received)
        case 5: kind = .isochronous
        default: return
        }
        payload = payload.lowerBound + start + 1..<payload.upperBound
    }

    /// The numbers of BlueZ's monitor.
    fileprivate mutating func setMonitor(_ opcode: UInt16) {
        switch opcode {
        case 0, 10: (kind, direction) = (.controllerAdded, .received)
        case 1: (kind, direction) = (.controllerRemoved, .received)
        case 2: (kind, direction) = (.command, .sent)
        case 3: (kind, direction) = (.event, .received)
        case 4: (kind, direction) = (.acl, .sent)
        case 5: (kind, direction) = (.acl, .received)
        case 6: (kind, direction) = (.synchronous, .sent)
        case 7: (kind, direction) = (.synchronous, .received)
        case 18: (kind, direction) = (.isochronous, .sent)
        case 19: (kind, direction) = (.isochronous, .received)
        case 8, 9, 11...17: (kind, direction) = (.note, .unknown)
        default: (kind, direction) = (.unknown, .unknown)
        }
    }
}

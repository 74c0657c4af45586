/// The formats of captures, told apart by their first bytes.
package enum CaptureFormat: String, CaseIterable, Sendable {
    case btsnoop
    case packetLoggerBig = "packetlogger"
    case packetLoggerLittle = "packetlogger-2"
    case pcap
    case pcapng

    /// What people call it.
    package var name: String {
        switch self {
        case .packetLoggerBig, .packetLoggerLittle: "PacketLogger"
        case .btsnoop, .pcap, .pcapng: rawValue
        }
    }

    /// The names of all, each once.
    package static var names: [String] { ["btsnoop", "PacketLogger", "pcap", "pcapng"] }

    /// What captures must be of to be read, for people.
    package static var expected: String {
        "\(Encapsulation.linkTypes); of btsnoop version 1 and datalink 1001, 1002 or 2001"
    }

    /// The format that a file has; nil when it is none of them.
    package static func detect(_ source: inout CaptureBytes) -> CaptureFormat? {
        let count = source.peek(64)
        let bytes = source.window.span.extracting(source.position..<source.position + count)
        if bytes.starts(BTSnoopReader.magic) { return .btsnoop }
        if PCAPReader.fits(bytes) { return .pcap }
        if bytes.starts(PCAPNGReader.magic) { return .pcapng }
        return PacketLoggerReader.order(bytes).map { $0 ? .packetLoggerBig : .packetLoggerLittle }
    }
}

/// Takes the records of a capture, one after the other.
protocol RecordTaker: AnyObject {
    /// Takes a record; false when no more is wanted.
    func take(_ record: CaptureRecord, _ bytes: Span<UInt8>) -> Bool
}

extension CaptureFormat {
    /// Reads a capture to its end, or until no more is wanted.
    func read(_ source: inout CaptureBytes, into taker: some RecordTaker) throws(CaptureDamage) {
        switch self {
        case .btsnoop:
            var reader = try BTSnoopReader(&source)
            try Self.read(&source, &reader, taker)
        case .packetLoggerBig:
            var reader = PacketLoggerReader(isBig: true)
            try Self.read(&source, &reader, taker)
        case .packetLoggerLittle:
            var reader = PacketLoggerReader(isBig: false)
            try Self.read(&source, &reader, taker)
        case .pcap:
            var reader = try PCAPReader(&source)
            try Self.read(&source, &reader, taker)
        case .pcapng:
            var reader = PCAPNGReader()
            try Self.read(&source, &reader, taker)
        }
    }

    private static func read(
        _ source: inout CaptureBytes,
        _ reader: inout some RecordReader,
        _ taker: some RecordTaker
    ) throws(CaptureDamage) {
        while let record = try reader.next(&source) {
            guard taker.take(record, source.window.span.extracting(record.payload)) else { return }
        }
    }

    /// Whether a file is a capture of a network, by the first packet of a kind that is known, among the first 1 000.
    package static func isOfNetwork(_ source: inout CaptureBytes) -> Bool {
        guard let format = detect(&source) else { return false }
        let probe = KindProbe()
        // What is damaged is told when it is read for what it is.
        try? format.read(&source, into: probe)
        return probe.kind == .network
    }
}

/// Looks for the first packet of a kind that is known.
private final class KindProbe: RecordTaker {
    private(set) var kind: CaptureRecord.Kind?
    private var rest = 1_000

    func take(_ record: CaptureRecord, _ bytes: Span<UInt8>) -> Bool {
        rest -= 1
        if ![.unknown, .unread, .note].contains(record.kind) { kind = record.kind }
        return kind == nil && rest > 0
    }
}

extension Span<UInt8> {
    func starts(_ bytes: [UInt8]) -> Bool {
        guard count >= bytes.count else { return false }
        for index in bytes.indices where self[index] != bytes[index] { return false }
        return true
    }
}

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

extension Span<UInt8> {
    func starts(_ bytes: [UInt8]) -> Bool {
        guard count >= bytes.count else { return false }
        for index in bytes.indices where self[index] != bytes[index] { return false }
        return true
    }
}

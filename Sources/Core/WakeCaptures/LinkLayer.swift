/// What a sniffer hears: links by their access address.
struct LinkLayer {}

extension CaptureReading {
    func takeLinkLayer(_ record: CaptureRecord, _ bytes: Span<UInt8>) {}
}
extension CaptureRecord {
    mutating func readNordic(_ bytes: Span<UInt8>) {}
}

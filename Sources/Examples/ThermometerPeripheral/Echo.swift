import CoreBluetooth

/// Sends back what comes through a channel, until the other end closes it.
@MainActor
final class Echo: NSObject, @preconcurrency StreamDelegate {
    /// What waits at most for the other end to take it, in bytes; beyond it nothing more is read.
    private static let limit = 65_536

    private let channel: CBL2CAPChannel
    private let ended: (Echo) -> Void
    private var waiting = Data()
    private var count = 0
    /// Bytes were left in the stream because too many wait; no event tells of them again.
    private var isPaused = false

    init(_ channel: CBL2CAPChannel, ended: @escaping (Echo) -> Void) {
        self.channel = channel
        self.ended = ended
        super.init()
        for stream in [channel.inputStream as Stream, channel.outputStream as Stream] {
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable: receive()
        case .hasSpaceAvailable: send()
        case .endEncountered, .errorOccurred: close()
        default: break
        }
    }

    private func receive() {
        isPaused = waiting.count >= Self.limit
        guard !isPaused else { return }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let received = unsafe channel.inputStream.read(&buffer, maxLength: buffer.count)
        guard received > 0 else { return }
        waiting.append(contentsOf: buffer[..<received])
        send()
    }

    private func send() {
        while !waiting.isEmpty, channel.outputStream.hasSpaceAvailable {
            let sent = unsafe waiting.withUnsafeBytes { bytes in
                unsafe channel.outputStream.write(
                    bytes.bindMemory(to: UInt8.self).baseAddress!,
                    maxLength: bytes.count
                )
            }
            guard sent > 0 else { return }
            waiting.removeFirst(sent)
            count += sent
        }
        if isPaused, waiting.count < Self.limit { receive() }
    }

    private func close() {
        log("channel closed echoed=\(count)")
        for stream in [channel.inputStream as Stream, channel.outputStream as Stream] {
            stream.delegate = nil
            stream.close()
        }
        ended(self)
    }
}

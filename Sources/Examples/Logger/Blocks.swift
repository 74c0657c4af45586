import CoreBluetooth

/// Reads the blocks of a channel and counts them in memory.
@MainActor
final class Blocks: NSObject, @preconcurrency StreamDelegate {
    private static let size = 8

    private let channel: CBL2CAPChannel
    private let ended: () -> Void
    private var received: [UInt8] = []
    private var count = 0

    init(_ channel: CBL2CAPChannel, ended: @escaping () -> Void) {
        self.channel = channel
        self.ended = ended
        super.init()
        for stream in streams {
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
    }

    private var streams: [Stream] { [channel.inputStream, channel.outputStream] }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable: read()
        case .endEncountered, .errorOccurred: close()
        default: break
        }
    }

    /// A stream has no bounds in it: a block may come in parts, or several at once.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let length = unsafe channel.inputStream.read(&buffer, maxLength: buffer.count)
        guard length > 0 else { return }
        received += buffer[..<length]
        while received.count >= Self.size {
            let digits = received.prefix(Self.size).map { String(format: "%02x", $0) }.joined()
            received.removeFirst(Self.size)
            count += 1
            log("block pid=\(ProcessInfo.processInfo.processIdentifier) count=\(count) value=\(digits)")
        }
    }

    private func close() {
        log("channel closed blocks=\(count)")
        for stream in streams {
            stream.delegate = nil
            stream.close()
        }
        ended()
    }
}

import ExternalAccessory

/// One session: says the greeting, and logs each piece that arrives.
@MainActor
final class Conversation: NSObject, @preconcurrency StreamDelegate {
    private let session: EASession
    private var count = 0

    init(_ session: EASession, greeting: [UInt8]) {
        self.session = session
        super.init()
        log("session \(session.protocolString ?? "?")")
        for stream in streams {
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
        // A few bytes always fit into a fresh session.
        if !greeting.isEmpty { _ = unsafe session.outputStream?.write(greeting, maxLength: greeting.count) }
    }

    private var streams: [Stream] { [session.inputStream, session.outputStream].compactMap { $0 } }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable: read()
        case .endEncountered: close()
        case .errorOccurred:
            log("error \(aStream.streamError.map { ($0 as NSError).code } ?? 0)")
            close()
        default: break
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        guard let length = unsafe session.inputStream?.read(&buffer, maxLength: buffer.count), length > 0 else {
            return
        }
        count += length
        let shown = buffer[..<length].filter { $0 != 0 }.map { byte in
            (0x20..<0x7f).contains(byte) ? String(Character(Unicode.Scalar(byte))) : byte == 0x0a ? "" : "\\\(byte)"
        }
        log("received pid=\(ProcessInfo.processInfo.processIdentifier) bytes=\(length) text=\(shown.joined())")
    }

    func close() {
        for stream in streams where stream.delegate != nil {
            stream.delegate = nil
            stream.close()
        }
    }
}

import UIKit

/// The connection to the server, and the one call that there may be (RFC 3261, over TCP).
@MainActor
final class Line: NSObject, @preconcurrency StreamDelegate {
    private let host: String
    private let port: Int
    private var input: InputStream?
    private var output: OutputStream?
    private var received: [UInt8] = []
    private var unsent: [UInt8] = []
    private var call: String?
    private var sound: CallSound?
    private var registrations = 0

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Connects, has the phone look after the connection, and registers.
    func connect() {
        Stream.getStreamsToHost(withName: host, port: port, inputStream: &input, outputStream: &output)
        guard let input, let output else { return log("no streams") }
        received = []
        for stream in [input, output] as [Stream] {
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
        }
        let isWatched = input.setProperty(StreamNetworkServiceTypeValue.voIP, forKey: .networkServiceType)
        log("connect watched=\(isWatched)")
        input.open()
        output.open()
        register()
    }

    /// The server hears that the phone is still there.
    func keepAlive() {
        log("keepAlive")
        send("\r\n\r\n")
    }

    private func register() {
        registrations += 1
        send(
            """
            REGISTER sip:\(host) SIP/2.0
            Via: SIP/2.0/TCP \(host);branch=z9hG4bK-register-\(registrations)
            Max-Forwards: 70
            From: <sip:phone@\(host)>;tag=phone
            To: <sip:phone@\(host)>
            Call-ID: register-\(registrations)@phone
            CSeq: \(registrations) REGISTER
            Contact: <sip:phone@\(host);transport=tcp>
            Expires: 3600
            Content-Length: 0


            """
        )
    }

    // MARK: Streams

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable: read()
        case .hasSpaceAvailable: push()
        case .endEncountered, .errorOccurred:
            guard aStream === input else { return }
            log(eventCode == .endEncountered ? "closed" : "failed")
            hangUp()
        default: break
        }
    }

    private func hangUp() {
        for stream in [input, output].compactMap({ $0 as Stream? }) {
            stream.delegate = nil
            stream.close()
        }
        input = nil
        output = nil
        call = nil
        sound?.end()
        sound = nil
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        guard let input else { return }
        let length = unsafe input.read(&buffer, maxLength: buffer.count)
        guard length > 0 else { return }
        received += buffer[..<length]
        while let message = Message.next(in: &received) { handle(message) }
    }

    /// Messages are in lines that end in CR and LF.
    private func send(_ text: String) {
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\n"), unsent.last != UInt8(ascii: "\r") { unsent.append(UInt8(ascii: "\r")) }
            unsent.append(byte)
        }
        push()
    }

    private func push() {
        guard let output, output.streamStatus == .open else { return }
        while !unsent.isEmpty {
            let count = unsafe output.write(unsent, maxLength: unsent.count)
            guard count > 0 else { return }
            unsent.removeFirst(count)
        }
    }

    // MARK: Calls

    private func handle(_ message: Message) {
        log("received \(message.startLine) pid=\(ProcessInfo.processInfo.processIdentifier)")
        switch message.method {
        case "INVITE":
            call = message["Call-ID"]
            answer(message, 100, "Trying")
            answer(message, 180, "Ringing")
            answer(message, 200, "OK", body: Self.description)
        case "ACK":
            guard call == message["Call-ID"] else { return log("call unknown") }
            log("call established")
            sound = CallSound()
            sound?.begin()
        case "BYE":
            answer(message, call == message["Call-ID"] ? 200 : 481, call == nil ? "No Such Call" : "OK")
            call = nil
            log("call ended")
            sound?.end()
            sound = nil
        case "OPTIONS": answer(message, 200, "OK")
        case "CANCEL": answer(message, 481, "No Such Call")
        case .none: break
        default: answer(message, 501, "Not Implemented")
        }
    }

    private func answer(_ request: Message, _ code: Int, _ reason: String, body: String = "") {
        log("answer \(code)")
        var to = request["To"] ?? ""
        if code > 100, !to.contains("tag=") { to += ";tag=phone" }
        let body = body.replacing("\n", with: "\r\n")
        var lines = ["SIP/2.0 \(code) \(reason)"]
        lines += request.all("Via").map { "Via: \($0)" }
        lines += ["From: \(request["From"] ?? "")", "To: \(to)", "Call-ID: \(request["Call-ID"] ?? "")"]
        lines += ["CSeq: \(request["CSeq"] ?? "")", "Contact: <sip:phone@\(host);transport=tcp>"]
        if !body.isEmpty { lines.append("Content-Type: application/sdp") }
        lines.append("Content-Length: \(body.utf8.count)")
        send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// What the phone would take of a call's sound (RFC 4566).
    private static let description = """
        v=0
        o=phone 0 0 IN IP4 127.0.0.1
        s=-
        c=IN IP4 127.0.0.1
        t=0 0
        m=audio 49170 RTP/AVP 0

        """
}

import Testing

@testable import WakeVoIP

@Suite("What a call server reads")
struct CallMessageTests {
    @Test("A message with a body is whole when its body is, however it comes")
    func bodies() {
        let text =
            "\r\n\r\nINVITE sip:a SIP/2.0\r\nCall-ID: 1\r\nContent-Length: 5\r\n\r\nhelloBYE sip:a SIP/2.0\r\n\r\n"
        for size in [1, 3, 1_000] {
            var messages = CallMessages(.sip)
            var found: [CallMessage] = []
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: size) {
                messages.add(bytes[start..<min(start + size, bytes.count)])
                while let message = messages.next() { found.append(message) }
            }
            #expect(found.map { $0.lines.first } == ["INVITE sip:a SIP/2.0", "BYE sip:a SIP/2.0"])
            #expect(found.first?.header("call-id") == "1")
            #expect(found.first?.header("Via") == nil)
        }
    }

    @Test("Two empty lines before a message are a ping, however they come, and one is none")
    func pings() {
        let text =
            "\r\n\r\n\r\n\r\nINVITE sip:a SIP/2.0\r\nContent-Length: 4\r\n\r\n\r\n\r\n"
            + "\r\nBYE sip:a SIP/2.0\r\n\r\n\r\n\r\n\r\n"
        for size in [1, 2, 3, 1_000] {
            var messages = CallMessages(.sip)
            var found: [String] = []
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: size) {
                messages.add(bytes[start..<min(start + size, bytes.count)])
                while true {
                    found += Array(repeating: "ping", count: messages.takePings())
                    guard let message = messages.next() else { break }
                    found.append(message.lines[0])
                }
            }
            // The invitation's body is two lines; behind the last message stand three.
            #expect(found == ["ping", "ping", "INVITE sip:a SIP/2.0", "BYE sip:a SIP/2.0", "ping"], "\(size)")
        }
    }

    @Test("A line is a message where lines are")
    func lines() {
        var messages = CallMessages(.lines)
        messages.add(Array("HELLO there\nBY".utf8))
        #expect(messages.takePings() == 0)
        #expect(messages.next()?.begins(with: "HELLO") == true)
        #expect(messages.next() == nil)
    }

    @Test("An answer repeats headers of the message, and its lines end in CR and LF")
    func filled() {
        let message = CallMessage(head: Array("BYE a\r\nFrom: <x>;tag=1\r\nVia: v\r\n".utf8))
        let bytes = message.filled("SIP/2.0 200\nFrom: ${From}\nTo: ${To}\r\n${Via")
        #expect(String(decoding: bytes, as: UTF8.self) == "SIP/2.0 200\r\nFrom: <x>;tag=1\r\nTo: \r\n${Via")
    }

    @Test("Lengths that mean nothing are taken as none, and what never ends is bounded")
    func nonsense() {
        var messages = CallMessages(.sip)
        messages.add(Array("A\r\nContent-Length: -5\r\n\r\nB\r\nContent-Length: 99999999999999999999\r\n\r\n".utf8))
        #expect(messages.next()?.begins(with: "A") == true)
        #expect(messages.next()?.begins(with: "B") == true)
        for _ in 0..<40 { messages.add(Array(repeating: UInt8(ascii: "x"), count: 65_536)) }
        #expect(messages.next() == nil)
    }
}

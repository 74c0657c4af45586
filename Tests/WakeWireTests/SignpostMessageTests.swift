import Testing

@testable import WakeWire

@Suite("The message of signposts")
struct SignpostMessageTests {
    private static let signposts = [
        WireSignpost(.event, name: "saved"),
        WireSignpost(.begin, name: "fetch \"all\"", span: "18446744073709551615", message: "\u{1}\n", time: 0),
        WireSignpost(.end, name: "", subsystem: "com.example", category: "sync", message: "é", time: 8_120.250000001),
    ]

    @Test("A signpost is read as it was written, and cut anywhere it is refused", arguments: signposts)
    func signpost(signpost: WireSignpost) throws {
        let packet = AppMessage.signpost(signpost).encode()
        #expect(try AppMessage(decoding: packet) == .signpost(signpost))
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try AppMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test("A text that is too long is cut before it travels, between two characters")
    func cut() throws {
        let long = String(repeating: "é", count: 200)
        let signpost = WireSignpost(.event, name: "a" + long, message: long)
        #expect((signpost.name.utf8.count, signpost.message.utf8.count) == (255, 256))
        #expect(try AppMessage(decoding: AppMessage.signpost(signpost).encode()) == .signpost(signpost))
    }

    @Test(
        "A signpost with a value that means nothing is refused",
        arguments: [
            (#"{"type":"signpost","name":"a"}"#, WireError.missing(key: "mark")),
            (#"{"type":"signpost","mark":"begin"}"#, .missing(key: "name")),
            (
                #"{"type":"signpost","mark":"middle","name":"a"}"#,
                .badValue(key: "mark", expected: "one of event, begin, end")
            ),
            (#"{"type":"signpost","mark":"begin","name":"a","span":1}"#, .wrongType(key: "span", expected: "a string")),
            (
                #"{"type":"signpost","mark":"begin","name":"a","time":-1}"#,
                .badValue(key: "time", expected: "a number from 0.0 to 1000000000.0")
            ),
            (
                #"{"type":"signpost","mark":"begin","name":"a","time":1e300}"#,
                .badValue(key: "time", expected: "a number from 0.0 to 1000000000.0")
            ),
            (
                #"{"type":"signpost","mark":"begin","name":"a","message":"\#(String(repeating: "b", count: 257))"}"#,
                .badValue(key: "message", expected: "at most 256 bytes of text")
            ),
        ]
    )
    func refused(packet: String, error: WireError) {
        #expect(throws: error) { try AppMessage(decoding: Array(packet.utf8)) }
    }
}

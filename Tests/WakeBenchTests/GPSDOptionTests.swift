import Testing
import WakeBench

@Suite("Where a gpsd listens")
struct GPSDOptionTests {
    private static let places: [(String, String, UInt16)] = [
        ("localhost:2947", "localhost", 2947), ("pi.local", "pi.local", 2947), (":39474", "localhost", 39_474),
        ("39474", "localhost", 39_474), ("192.0.2.1:80", "192.0.2.1", 80), ("[::1]:2948", "::1", 2948),
        ("[::1]", "::1", 2947),
    ]

    @Test("A host, a port or both are read, and IPv6 in brackets", arguments: places)
    func read(text: String, host: String, port: UInt16) {
        let place = RunOptions.gpsd(text)
        #expect(place?.host == host && place?.port == port)
    }

    @Test(
        "Anything else is refused",
        arguments: [
            "", ":", "host:", "host:0", ":0", "0", "65536", "host:65536", "::1", "a:b:1", "[::1", "[]:1", "[::1]x",
        ]
    )
    func refused(text: String) { #expect(RunOptions.gpsd(text) == nil) }
}

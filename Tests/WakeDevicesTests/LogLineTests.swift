import Testing
import WakeDevices

@Suite("Lines of logs")
struct LogLineTests {
    private static func body(_ text: String) -> String { String(decoding: LogLine.body(text.utf8), as: UTF8.self) }

    @Test("A line without a front is whole, and so is one that is no sentence")
    func plain() {
        for line in [
            "$GPGGA,1", "!AIVDM,1", "{\"class\":1}", "# at 10:15:00 $GPGGA,1", "device: x", "", "garbage $GPGGA,1",
        ] {
            #expect(Self.body(line) == line)
        }
    }

    @Test("A time and TAG blocks before a sentence or an object are left out")
    func fronts() {
        #expect(Self.body("10:15:00 $GPGGA,1") == "$GPGGA,1")
        #expect(Self.body("\\s:a*00\\!AIVDM,1") == "!AIVDM,1")
        #expect(Self.body("$$GPGGA,1") == "$GPGGA,1")
        #expect(Self.body("1764315511.5 {\"class\":1}") == "{\"class\":1}")
        // No end of a sentence with many numbers is a time.
        #expect(Self.body("41,087,38,05,63,211$GPGGA,1") == "41,087,38,05,63,211$GPGGA,1")
        #expect(Self.body(String(repeating: "10:15 ", count: 50) + "$GPGGA,1").hasPrefix("10:15"))
    }
}

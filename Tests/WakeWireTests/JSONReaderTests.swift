import Foundation
import Testing

@testable import WakeWire

@Suite("JSON as the wire reads it")
struct JSONReaderTests {
    private static func fields(_ text: String) throws -> Fields {
        let bytes = Array(text.utf8)
        return try Packet(bytes, count: bytes.count).object()
    }

    private static func text(_ key: StaticString, of fields: Fields) throws -> String {
        try #require(fields.value(key)).text()
    }

    @Test("Escapes, in keys too, stand for what RFC 8259 says")
    func escapes() throws {
        let fields = try Self.fields(
            #"{"\u0061":"\"\\\/\b\f\n\r\t","b":"\u00fc\uD83D\uDE00","c":"ü😀 plain and long enough","d\n":"x"}"#
        )
        #expect(try Self.text("a", of: fields) == "\"\\/\u{8}\u{C}\n\r\t")
        #expect(try Self.text("b", of: fields) == "ü😀")
        #expect(try Self.text("c", of: fields) == "ü😀 plain and long enough")
        #expect(try Self.text("d\n", of: fields) == "x")
    }

    @Test("A text of any length, whatever stands where in it, is read whole")
    func lengths() throws {
        for length in 0..<40 {
            for place in 0...length {
                for middle in ["", "\\\"", "ü", "\\u0041", "~"] {
                    let text =
                        String(repeating: "x", count: place) + middle + String(repeating: "y", count: length - place)
                    let expected = text.replacing("\\\"", with: "\"").replacing("\\u0041", with: "A")
                    #expect(try Self.text("k", of: Self.fields("{\"k\":\"\(text)\"}")) == expected)
                }
            }
        }
    }

    @Test(
        "What RFC 8259 does not allow is refused",
        arguments: [
            ("", 0), (" ", 1), ("{", 1), ("{}}", 2), ("{,}", 1), (#"{"a"}"#, 4), (#"{"a":}"#, 5), (#"{"a":1,}"#, 7),
            (#"{"a":01}"#, 6), (#"{"a":+1}"#, 5), (#"{"a":.5}"#, 5), (#"{"a":1.}"#, 7), (#"{"a":1e}"#, 7),
            (#"{"a":1e999}"#, 10), (#"{"a":-}"#, 6), (#"{"a":nul}"#, 8), (#"{"a":True}"#, 5), (#"{"a":"b}"#, 8),
            (#"{"a":"\x"}"#, 8), (#"{"a":"\u12"}"#, 10), (#"{"a":"\u12G4"}"#, 12), (#"{"a":"\uD800"}"#, 12),
            (#"{"a":"\uD800\u0041"}"#, 18), (#"{"a":"\uDC00"}"#, 12), (#"{"a":"\"#, 8), ("{\"a\":\"\n\"}", 6),
            ("{\"a\":\"longer than a word \u{1} of it\"}", 25), ("{'a':1}", 1), (#"{a:1}"#, 1), (#"{"a":[1,]}"#, 8),
            (#"{"a":[1 2]}"#, 8), (#"{"a":1 "b":2}"#, 7), (#"{"a":1}x"#, 7), ("\u{FEFF}{}", 0),
        ]
    )
    func refused(text: String, offset: Int) {
        #expect(throws: WireError.notJSON(offset: offset)) { try Self.fields(text) }
    }

    @Test("Bytes that are not UTF-8 are refused wherever they stand in a text")
    func notUTF8() {
        for place in 0..<20 {
            var content = Array(repeating: UInt8(ascii: "x"), count: 20)
            content[place] = 0xFF
            let bytes = Array("{\"k\":\"".utf8) + content + Array("\"}".utf8)
            #expect(throws: WireError.notJSON(offset: bytes.count - 2)) { try Packet(bytes, count: bytes.count) }
        }
    }

    @Test("Numbers are whole, or have a fraction, and are never rounded into each other")
    func numbers() throws {
        let fields = try Self.fields(
            #"{"a":-0,"b":9007199254740991,"c":-9223372036854775808,"d":9223372036854775808,"e":1.0,"f":1E2,"g":-7}"#
        )
        let all = Int64.min...Int64.max
        #expect(try fields.value("a")?.whole(in: all) == 0)
        #expect(try fields.value("b")?.whole(in: all) == 9_007_199_254_740_991)
        #expect(try fields.value("c")?.whole(in: all) == .min)
        #expect(try fields.value("g")?.whole(in: all) == -7)
        for key in ["d", "e", "f"] as [StaticString] {
            let error = WireError.wrongType(
                key: key.description,
                expected: "a whole number from -9223372036854775808 to 9223372036854775807"
            )
            #expect(throws: error) { try fields.value(key)?.whole(in: all) }
        }
        #expect(try fields.value("d")?.number() == 9_223_372_036_854_775_808)
        #expect(try fields.value("f")?.number() == 100)
        #expect(try fields.value("g")?.number() == -7)
    }

    @Test("A repeated key is refused, with escapes and among very many too; the same in another object is not")
    func repeatedKeys() throws {
        for (text, offset) in [
            (#"{"ab":1,"c":2,"ab":3}"#, 18), (#"{"a":1,"\u0061":2}"#, 15), (#"{"\u0061":1,"a":2}"#, 15),
            (#"{"":1,"":2}"#, 8), (#"{"o":{"a":[{"b":1}],"a":2}}"#, 23),
        ] {
            #expect(throws: WireError.notJSON(offset: offset), "\(text)") { try Self.fields(text) }
        }
        _ = try Self.fields(#"{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":3},"ab":1,"ba":2,"aab":3,"abb":4}"#)
        let many = (0..<5_000).map { "\"k\($0)\":0" }
        #expect(try Self.fields("{" + many.joined(separator: ",") + "}").value("k4999") != nil)
        for repeated in [0, 31, 32, 33, 4_999] {
            let text = "{" + (many + ["\"k\(repeated)\":1"]).joined(separator: ",") + "}"
            #expect(throws: WireError.notJSON(offset: text.utf8.count - ":1}".utf8.count)) { try Self.fields(text) }
        }
    }

    @Test("Sixteen levels are read, and one more is refused")
    func depth() throws {
        let deepest = WireLimits.depth
        func text(_ levels: Int) -> String {
            "{\"a\":" + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + "}"
        }
        _ = try Self.fields(text(deepest))
        #expect(throws: WireError.tooDeep(offset: 20)) { try Self.fields(text(deepest + 1)) }
    }

    @Test("Spaces may stand between all parts")
    func spaces() throws {
        let fields = try Self.fields(" \r\n\t{ \"a\" : [ { } , \"x\" , null , true ] , \"b\" : false } \n")
        #expect(try fields.value("b")?.bool() == false)
    }
}

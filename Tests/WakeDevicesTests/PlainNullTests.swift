import Testing
import WakeJSON
import WakeModel

@testable import WakeDevices

@Suite("Null is no text")
struct PlainNullTests {
    private func app(_ key: String) throws(FileError) -> ScriptedApp? {
        let head = "scenario: s\napps:\n  - scripted: com.example.a\n    name: a\n"
        let text = "\(head)    \(key)\nsteps: [{at: 0, launch: a}]\n"
        let scenario = try Scenario.parse(Array(text.utf8), file: "s.yaml")
        guard case .scripted(let app)? = scenario.apps.first?.form else { return nil }
        return app
    }

    @Test(
        "A plain null where a text is meant is refused as nothing is, with its place",
        arguments: [
            ("restore-identifier: null", "s.yaml:5: nothing; expected a restore identifier"),
            ("restore-identifier: ~", "s.yaml:5: nothing; expected a restore identifier"),
            ("restore-identifier:", "s.yaml:5: nothing; expected a restore identifier"),
            ("count: null", "s.yaml:5: nothing; expected a whole number from 1 to 10000"),
            ("modes: ~", "s.yaml:5: nothing; expected a list of"), ("modes: [null]", "s.yaml:5: nothing; expected"),
            ("exits-on-suspend: NULL", "s.yaml:5: nothing; expected true or false"),
        ]
    )
    func refused(key: String, words: String) {
        let error = #expect(throws: FileError.self) { try app(key) }
        #expect(error?.description.hasPrefix(words) == true, "\(error as Any)")
    }

    @Test("Between quotes the same words are texts")
    func quoted() throws {
        #expect(try app("restore-identifier: 'null'")?.restoreIdentifier == "null")
        #expect(try app("restore-identifier: !!str ~")?.restoreIdentifier == "~")
        #expect(try app("modes: []")?.restoreIdentifier == nil)
    }

    @Test("JSON's null says the same as that of a file")
    func json() throws {
        #expect(try YAMLNode(.null, file: "s.yaml").summary == "nothing")
    }

    @Test("A block of text where bytes are meant is said to be one")
    func block() {
        let head = "device: bluetooth-peripheral\naddress: \"F0:11:22:33:44:55\"\n"
        let text = head + "advertising:\n  manufacturer-data: |\n    4c00\n"
        let error = #expect(throws: FileError.self) {
            try BluetoothPeripheral.parse(Array(text.utf8), file: "belt.yaml")
        }
        #expect(
            error?.description
                == "belt.yaml:4: a text with line ends; expected pairs of hexadecimal digits such as \"0048\", at most 512"
        )
    }
}

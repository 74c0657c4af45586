import Foundation
import Testing

@testable import WakeWire

@Suite("WIRE.md")
struct WireDocumentTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .appending(path: "../../Sources/Core/WakeWire")
        .standardizedFileURL

    /// Where the sources read a type or a kind.
    private static let word = #"(?:case |says\("(?:type|kind)", )"([a-zA-Z0-9.]+)"[:)]"#

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    /// The example packets under the heading, up to the next one.
    private static func examples(under heading: String) throws -> [String] {
        let sections = try text("WIRE.md").components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix(heading) }, "no heading '\(heading)'")
        return section.split(separator: "\n").map(String.init).filter { $0.hasPrefix("{") || $0.hasPrefix("[") }
    }

    /// The words in quotes that the pattern's group finds in the files.
    private static func words(_ pattern: String, in files: [String]) throws -> Set<String> {
        let expression = try NSRegularExpression(pattern: pattern)
        var found: Set<String> = []
        for file in files {
            let source = try text(file)
            for match in expression.matches(in: source, range: NSRange(source.startIndex..., in: source)) {
                found.insert(String(source[try #require(Range(match.range(at: 1), in: source))]))
            }
        }
        return found
    }

    @Test("Every example of an app's packet is a message that survives being written again")
    func appExamples() throws {
        let examples = try Self.examples(under: "From the app to the bench")
        #expect(examples.count >= 25)
        for example in examples {
            let message = try AppMessage(decoding: Array(example.utf8))
            #expect(String(decoding: message.encode(), as: UTF8.self) == example)
        }
    }

    @Test("Every example of the bench's packets is a message that survives being written again")
    func benchExamples() throws {
        let examples = try Self.examples(under: "From the bench to the app")
        #expect(examples.count >= 30)
        #expect(examples.contains { $0.hasPrefix("[") })
        var reader = BenchPacketReader()
        for example in examples {
            let messages = try reader.messages(in: Array(example.utf8))
            #expect(messages.count > 1 || !example.hasPrefix("["))
            for message in messages {
                #expect(try BenchMessage(decoding: message.encode()) == message, "\(example)")
            }
        }
    }

    @Test("Every type and kind that the wire reads has an example")
    func everyWordHasAnExample() throws {
        let requests = [
            "AppMessage+Decoding.swift", "PeripheralManagerRequest+Coding.swift", "LocationRequest.swift",
            "AudioMessages.swift", "VoIPRequest.swift",
        ]
        let app = try Self.words(Self.word, in: requests)
        let ofBench = try Self.words(Self.word, in: ["AudioMessages.swift"]).filter { Self.isAudioEvent($0) }
        #expect(app.subtracting(ofBench).count == 69)
        let appExamples = try Self.examples(under: "From the app to the bench").joined()
        for word in app.subtracting(ofBench) {
            #expect(appExamples.contains("\"type\":\"\(word)\""), "no example of '\(word)'")
        }
        let benchExamples = try Self.examples(under: "From the bench to the app").joined()
        let deliveries = [
            "BenchMessage+Decoding.swift", "PeripheralManagerEvent+Coding.swift", "LocationDelivery+Coding.swift",
            "VoIPDelivery.swift",
        ]
        for word in try Self.words(Self.word, in: deliveries).union(ofBench) {
            let isThere = ["type", "kind"].contains { benchExamples.contains("\"\($0)\":\"\(word)\"") }
            #expect(isThere, "no example of '\(word)'")
        }
        for word in try Self.words(#"case \.[a-zA-Z]+: "([a-zA-Z]+)""#, in: ["BenchMessage+Encoding.swift"]) {
            #expect(benchExamples.contains("\"name\":\"\(word)\""), "no example of '\(word)'")
        }
    }

    /// The kinds of what happens to an app's sound, which stand in one file with the requests.
    private static func isAudioEvent(_ word: String) -> Bool {
        [
            "audio.interrupted", "audio.interruptionEnded", "audio.routeChanged", "audio.permissionAnswered",
            "audio.noted", "audio.lost",
        ].contains(word)
    }

    @Test("The document names every state, every property and the bounds")
    func namesClosedLists() throws {
        let document = try Self.text("WIRE.md")
        let words =
            WireAppState.allCases.map(\.rawValue) + WireRadioState.allCases.map(\.rawValue)
            + WireLinkState.allCases.map(\.rawValue) + WireProperties.words.map(\.word)
            + WirePermissions.words.map(\.word)
            + WireAuthorization.allCases.map(\.rawValue) + WireRegionState.allCases.map(\.rawValue)
            + WireProximity.allCases.map(\.rawValue) + WireAudioCategory.allCases.map(\.rawValue)
            + WireMicrophone.allCases.map(\.rawValue) + WireAudioPortKind.allCases.map(\.rawValue)
        for word in words + [
            WireLimits.socketVariable, "Version \(WireLimits.version)", "\(WireLimits.valueBytes)",
            "array of 1 to \(WireLimits.messages) such objects",
            "\(WireLimits.regionIdentifierBytes)", "\(WireLimits.listed)",
            "A text has at most \(WireLimits.signpostTextBytes) bytes",
        ] {
            #expect(document.contains(word), "no '\(word)'")
        }
    }
}

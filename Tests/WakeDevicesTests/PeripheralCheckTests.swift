import Testing
import WakeModel

@testable import WakeDevices

private func check(_ text: String) throws(FileError) -> [String] {
    try PeripheralCheck.findings(in: Array(text.utf8), file: "d.yaml").map { finding in
        guard case .line(let line) = finding.place else { return "\(finding.place)" }
        return "\(finding.guideline.rawValue):\(line)"
    }
}

private let good = """
    device: bluetooth-peripheral
    name: Belt
    address: "F0:11:22:33:44:55"
    advertising: {interval: 152.5ms, services: [180D], tx-power: 4}
    gatt:
      - {service: 180D, characteristics: [{uuid: 2A37, properties: [notify]}]}
      - service: 180A
        characteristics:
          - {uuid: 2A29, properties: [read], value: "41"}
          - {uuid: 2A24, properties: [read], value: "42"}
          - {uuid: 2A26, properties: [read], value: "31"}
          - {uuid: 2A28, properties: [read], value: "31"}
      - {service: C2A9A400-8A2D-4B6E-9B43-5B0D6A8D0E11, characteristics: []}
    """

@Suite("Devices against guidelines")
struct PeripheralCheckTests {
    @Test("Nothing is found about a device that does all as advised")
    func clean() throws {
        #expect(try check(good) == [])
    }

    @Test(
        "Each guideline finds what is against it, at its line, and nothing else",
        arguments: [
            ("tx-power: 4}", "}", ["ADG-1:4"]),
            ("name: Belt", "", ["ADG-1:4"]),
            ("services: [180D], ", "", ["ADG-1:4"]),
            ("name: Belt", "name: \"Belt: 2\"", ["ADG-2:2"]),
            ("152.5ms", "100ms", ["ADG-3:4"]),
            ("[180D], tx", "[180D, 180A], tx", ["ADG-9:4"]),
            ("gatt:", "connection: {interval: 20ms}\ngatt:", ["ADG-4:5"]),
            ("gatt:", "connection: {supervision-timeout: 7s}\ngatt:", ["ADG-5:5"]),
            (
                "gatt:", "connection: {interval: 90ms, latency: 23, supervision-timeout: 6500ms}\ngatt:",
                ["ADG-5:5", "ADG-6:5"]
            ),
            ("gatt:", "connection: {data-length: 27}\ngatt:", ["ADG-7:5"]),
            ("service: 180A", "service: 180B", ["ADG-8:6"]),
            ("uuid: 2A24", "uuid: 2A25", ["ADG-10:7"]),
            ("value: \"41\"", "value: \"\(String(repeating: "41", count: 27))\"", ["ADG-11:9"]),
            ("gatt:", "connection: {interval: 10ms, supervision-timeout: 2s}\ngatt:", ["ADG-4:5"]),
            ("gatt:", "connection: {interval: 7.5ms}\ngatt:", ["ADG-4:5"]),
            ("gatt:", "connection: {interval: 30ms, supervision-timeout: 1s}\ngatt:", ["ADG-5:5"]),
            (
                "gatt:", "connection: {interval: 3s, latency: 499, supervision-timeout: 32s}\ngatt:",
                ["ADG-5:5", "ADG-6:5", "ADG-12:5", "ADG-14:5"]
            ),
            ("service: 180D", "service: C2A9A401-8A2D-4B6E-9B43-5B0D6A8D0E11", ["GATT-1:13"]),
            (
                "0E11, characteristics: []}", "0E11, characteristics: []}\n  - {service: 180F, characteristics: []}",
                ["GATT-1:14"]
            ),
        ] as [(String, String, [String])]
    )
    func found(old: String, new: String, findings: [String]) throws {
        #expect(good.contains(old))
        #expect(try check(good.replacing(old, with: new)) == findings)
    }

    @Test(
        "A connection that the specification has not is refused, whoever reads it",
        arguments: [
            "interval: 5ms", "interval: 8ms", "interval: 5s", "latency: 500", "supervision-timeout: 33s",
            "data-length: 26",
        ]
    )
    func noConnection(text: String) {
        let error = #expect(throws: FileError.self) {
            try check(good.replacing("gatt:", with: "connection: {\(text)}\ngatt:"))
        }
        #expect(error?.line == 5)
    }

    private static let faults = """

        faults:
          - {name: late, late-subscribe-answer: 3s}
          - {name: gone, change-services: {remove: [180D]}}
          - {name: moved, stale-handles: 16}
        """
    private static let changed =
        "\n  - {service: 1801, characteristics: [{uuid: 2A05, properties: [indicate]}]}"

    @Test(
        "ADG-17: faults that change what a phone has found want Service Changed, and one that is not as it must be is found"
    )
    func serviceChanged() throws {
        #expect(try check(good + Self.faults) == ["ADG-17:16", "ADG-17:17"])
        // Services stand together by the length of their UUIDs.
        let table = good.replacing("\n  - {service: C2A9", with: Self.changed + "\n  - {service: C2A9")
        #expect(try check(table + Self.faults) == [])
        let wrong = table.replacing("properties: [indicate]", with: "properties: [notify, read]")
        #expect(try check(wrong + Self.faults) == ["GATT-2:13"])
        let elsewhere = table.replacing("service: 1801", with: "service: 180F")
        #expect(try check(elsewhere + Self.faults) == ["ADG-17:17", "ADG-17:18"])
    }

    @Test("GATT-1: where Service Changed stands in a file is not where it stands on a phone")
    func placeOfServiceChanged() throws {
        #expect(try check(good + Self.changed) == check(good))
    }

    @Test("Of a broadcaster nothing is asked that only a connection needs")
    func broadcaster() throws {
        let text = """
            device: bluetooth-peripheral
            address: "F0:11:22:33:44:55"
            advertising: {interval: 152.5ms, connectable: false}
            """
        #expect(try check(text) == [])
    }

    @Test("A file that is no peripheral is refused with its line")
    func refused() {
        let error = #expect(throws: FileError.self) { try check("device: beacon") }
        #expect(error?.line == 1)
    }

    @Test("The table of guidelines refuses a row that is none, and a guideline without one")
    func table() {
        let head = "guideline\tedition\tsection\tsays\tremedy\n"
        let rows = PeripheralGuideline.allCases.map { "\($0.rawValue)\tapple\ta\tb\tc\n" }
        let more = head + rows.joined() + "ADG-0\tapple\ta\tb\tc\n"
        #expect(throws: TableError("guidelines.tsv", line: rows.count + 2, "there is no ADG-0")) {
            try PeripheralGuideline.rows(Array(more.utf8))
        }
        #expect(throws: TableError("guidelines.tsv", line: 2, "there is no row for ADG-1")) {
            try PeripheralGuideline.rows(Array(head.utf8))
        }
    }
}

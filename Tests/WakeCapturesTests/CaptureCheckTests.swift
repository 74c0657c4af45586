import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

/// A phone's session with a device that does all as advised, but for what a test plants.
private struct Session {
    typealias Entry = AttributeExchange.Entry

    /// How the phone scans, the pause between two advertisements in milliseconds, and what they say.
    var scans: [UInt8] = [1, 0x10, 0, 0x10, 0, 1, 0]
    var reportsAll: UInt8 = 0
    var pause: Int64 = 155
    var data: [UInt8] = [2, 1, 6, 3, 3, 0x0d, 0x18, 2, 0x0a, 4, 5, 9] + Array("Belt".utf8)
    var answersScans = true
    var features: UInt8 = 0x20
    /// Shortest and longest interval, latency and timeout, in the units of the air.
    var asked: [UInt16]? = [24, 36, 4, 600]
    var agreed: [UInt16] = [24, 4, 500]
    var mtu = 185
    var wantsSecurity = false
    var isRefused = false
    var isPaired = false
    var services: [(entry: Entry, characteristics: [Entry])] = [
        (Entry(handle: 1, end: 3, uuid: "1801"), [Entry(handle: 2, properties: 0x20, uuid: "2A05")]),
        (
            Entry(handle: 10, end: 18, uuid: "180A"),
            ["2A29", "2A24", "2A26", "2A28"].enumerated().map {
                Entry(handle: UInt16(11 + 2 * $0), properties: 0x02, uuid: $1)
            }
        ),
        (Entry(handle: 20, end: 30, uuid: "C2A9A400-8A2D-4B6E-9B43-5B0D6A8D0E11"), []),
    ]
    var name: [UInt8] = Array("Wakebench".utf8)
    var isDiscoveryRefused = false
    /// What stands at the handle of the last service on a second link.
    var later: String?

    private var packets: [HCIPacket] = []
    private var now: Int64 = 0
    /// Where something happened, by frame.
    private(set) var marks: [String: Int] = [:]

    private static let address: [UInt8] = [0x55, 0x44, 0x33, 0x22, 0x11, 0xf0]
    private static let link: [UInt8] = [0x40, 0]

    private mutating func emit(_ kind: HCIPacket.Kind, _ fromHost: Bool, _ bytes: [UInt8], mark: String? = nil) {
        packets.append(
            HCIPacket(kind: kind, fromHost: fromHost, bytes: bytes, at: Instant(nanoseconds: now * 1_000_000))
        )
        guard let mark else { return }
        marks[mark] = packets.count
        if marks["first of \(mark)"] == nil { marks["first of \(mark)"] = packets.count }
    }

    private mutating func command(_ opcode: UInt16, _ body: [UInt8]) {
        emit(.command, true, AttributeExchange.word(opcode) + [UInt8(body.count)] + body)
    }

    private mutating func event(_ code: UInt8, _ body: [UInt8], mark: String? = nil) {
        emit(.event, false, [code, UInt8(body.count)] + body, mark: mark)
    }

    private mutating func send(_ channel: UInt16, _ body: [UInt8], fromHost: Bool, mark: String? = nil) {
        let frame = AttributeExchange.word(UInt16(body.count)) + AttributeExchange.word(channel) + body
        let head = [Self.link[0], fromHost ? 0x00 : 0x20] + AttributeExchange.word(UInt16(frame.count))
        emit(.data, fromHost, head + frame, mark: mark)
    }

    private mutating func play(_ rounds: [AttributeExchange.Round], mark: String? = nil) {
        for round in rounds {
            send(4, round.request, fromHost: true)
            if let response = round.response { send(4, response, fromHost: false, mark: mark) }
        }
    }

    private static func words(_ numbers: [UInt16]) -> [UInt8] { numbers.flatMap(AttributeExchange.word) }

    private mutating func advertise() {
        command(0x200b, scans)
        command(0x200c, [1, reportsAll])
        for count in 0..<12 {
            let mark = count == 0 ? "advertised" : count == 1 ? "pause" : nil
            event(0x3e, [2, 1, 0, 1] + Self.address + [UInt8(data.count)] + data + [0xc4], mark: mark)
            if answersScans { event(0x3e, [2, 1, 4, 1] + Self.address + [0, 0xc4]) }
            now += pause
        }
        command(0x200c, [0, 0])
    }

    private mutating func connect() {
        event(0x3e, [1, 0] + Self.link + [0, 1] + Self.address + Self.words([24, 0, 72]) + [0])
        event(0x3e, [4, 0] + Self.link + [features, 0, 0, 0, 0, 0, 0, 0], mark: "features")
    }

    private mutating func secure() {
        if isRefused { play(AttributeExchange.refused([.init(request: [0x0a, 12, 0])], with: 0x05)) }
        if wantsSecurity { send(6, [0x0b, 1], fromHost: false, mark: "security") }
        if isPaired { return event(0x08, [0] + Self.link + [1]) }
        if wantsSecurity { send(6, [1, 3, 0, 1, 16, 0, 0], fromHost: true) }
    }

    private mutating func discover() {
        let exchange = AttributeExchange(mtu: mtu)
        if isDiscoveryRefused {
            return play(
                [.init(request: [0x10, 1, 0, 0xff, 0xff, 0, 0x28], response: [1, 0x10, 1, 0, 0x05])],
                mark: "services"
            )
        }
        play(exchange.discovering(services: services.map(\.entry)).dropLast(), mark: "services")
        play(exchange.discovering(services: services.map(\.entry)).suffix(1))
        for (service, characteristics) in services {
            let rounds = exchange.discovering(
                characteristics: characteristics,
                from: service.handle,
                to: service.end
            )
            play(rounds, mark: "characteristics of \(service.uuid)")
            for characteristic in characteristics where characteristic.properties & 2 != 0 {
                let value = characteristic.uuid == "2A24" ? name : Array("1".utf8)
                play(exchange.reading(characteristic.handle + 1, value: value), mark: "value \(characteristic.uuid)")
            }
        }
    }

    /// All of it, as bytes of a capture.
    mutating func bytes(_ format: TraceFormat) -> [UInt8] {
        advertise()
        connect()
        play([AttributeExchange.agreeing(client: 517, server: mtu)], mark: "mtu")
        secure()
        discover()
        if let asked { send(5, [0x12, 1, 8, 0] + Self.words(asked), fromHost: false, mark: "asked") }
        event(0x3e, [3, 0] + Self.link + Self.words(agreed), mark: "agreed")
        now += 1_000
        event(0x05, [0] + Self.link + [0x13])
        if let later {
            connect()
            services[2].entry.uuid = later
            let first = marks["services"]
            discover()
            marks["changed"] = marks["services"]
            marks["services"] = first
        }
        var bytes = format.head
        for packet in packets { format.append(packet, start: 1_764_000_000_000_000_000, to: &bytes) }
        return bytes
    }
}

private func check(
    _ format: TraceFormat = .btsnoop,
    _ plant: (inout Session) -> Void = { _ in }
) throws -> (check: CaptureCheck, marks: [String: Int]) {
    var session = Session()
    plant(&session)
    let reading = try #require(Captures.reading(session.bytes(format)))
    #expect(reading.damage == nil)
    let device = try #require(reading.reading.devices.first)
    let start = try #require(reading.reading.first)
    return (CaptureCheck(device, start: start, files: ["session"]), session.marks)
}

/// A fault that is planted, and what is found: a guideline, and the mark of its frame.
private struct Fault: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var finds: [(String, String)]
    var plant: @Sendable (inout Session) -> Void

    init(_ description: String, _ finds: [(String, String)], _ plant: @escaping @Sendable (inout Session) -> Void) {
        (testDescription, self.finds, self.plant) = (description, finds, plant)
    }

    static let all = [
        Fault("no TX power", [("ADG-1", "advertised")]) { $0.data.removeSubrange(7..<10) },
        Fault("a colon in the name", [("ADG-2", "advertised")]) { $0.data[$0.data.count - 1] = UInt8(ascii: ":") },
        Fault("100 ms", [("ADG-3", "pause")]) { $0.pause = 103 },
        Fault("no multiple of 15 ms agreed on", [("ADG-4", "agreed")]) { $0.agreed = [16, 4, 500] },
        Fault("no multiple of 15 ms asked for", [("ADG-4", "asked")]) { $0.asked = [16, 36, 4, 600] },
        Fault("a timeout of 1 s", [("ADG-5", "asked")]) { $0.asked = [24, 36, 4, 100] },
        Fault("a silence of 2.4 s", [("ADG-6", "asked"), ("ADG-14", "asked")]) { $0.asked = [60, 72, 25, 600] },
        Fault("short packets", [("ADG-7", "features")]) { $0.features = 0 },
        Fault("no Device Information", [("ADG-8", "services")]) { $0.services.remove(at: 1) },
        Fault("Device Information advertised", [("ADG-9", "advertised")]) { $0.data[5] = 0x0a },
        Fault("no firmware revision", [("ADG-10", "first of services")]) {
            $0.services[1].characteristics.remove(at: 2)
        },
        Fault("a long model's number", [("ADG-11", "value 2A24")]) { $0.name = [UInt8](repeating: 65, count: 27) },
        Fault("a latency of 31", [("ADG-12", "agreed")]) { $0.agreed = [24, 31, 500] },
        Fault("a range of 10 ms", [("ADG-13", "asked")]) { $0.asked = [24, 32, 4, 600] },
        Fault("15 ms alone", []) { $0.asked = [12, 12, 4, 600] },
        Fault("a timeout of twice the silence", [("ADG-14", "agreed")]) { $0.agreed = [72, 14, 270] },
        Fault("discovery that needs pairing", [("ADG-15", "services")]) { $0.isDiscoveryRefused = true },
        Fault("pairing unasked", [("ADG-16", "security")]) { $0.wantsSecurity = true },
        Fault("pairing after a refusal", []) { ($0.wantsSecurity, $0.isRefused) = (true, true) },
        Fault("encryption of a bond", []) { ($0.wantsSecurity, $0.isPaired) = (true, true) },
        Fault("other services, and Service Changed", []) { $0.later = "C2A9A401-8A2D-4B6E-9B43-5B0D6A8D0E11" },
        Fault("other services", [("ADG-17", "changed")]) {
            $0.services[0].characteristics.removeAll()
            $0.later = "C2A9A401-8A2D-4B6E-9B43-5B0D6A8D0E11"
        },
        Fault("services in disorder", [("GATT-1", "services")]) {
            $0.services.append((.init(handle: 40, end: 41, uuid: "180F"), []))
        },
        Fault("a Service Changed to read", [("GATT-2", "first of characteristics of 1801")]) {
            $0.services[0].characteristics[0].properties = 0x22
        },
        Fault("an MTU of 22", [("ATT-1", "mtu")]) { $0.mtu = 22 },
    ]
}

@Suite("Captures against guidelines")
struct CaptureCheckTests {
    @Test(
        "Nothing is found about a device that does all as advised, and everything is judged",
        arguments: TraceFormat.allCases
    )
    func clean(format: TraceFormat) throws {
        let (check, _) = try check(format)
        #expect(check.findings == [])
        #expect(check.unjudged == [])
    }

    @Test("Each guideline finds what is against it, at its frame, and nothing else", arguments: Fault.all)
    fileprivate func found(fault: Fault) throws {
        let (check, marks) = try check(.btsnoop, fault.plant)
        let found = check.findings.map { finding in
            guard case .frame(let frame, _, "session") = finding.place else { return "\(finding.place)" }
            return "\(finding.guideline.rawValue) at \(frame)"
        }
        #expect(found == fault.finds.map { "\($0) at \(marks[$1] ?? 0)" })
    }

    @Test("Every guideline has a fault here that it finds")
    func covered() {
        let found = Set(Fault.all.flatMap { $0.finds.map(\.0) })
        #expect(PeripheralGuideline.allCases.map(\.rawValue).filter { !found.contains($0) } == [])
    }

    @Test(
        "What a device adds by chance to each pause is no finding, from none to 10 ms",
        arguments: [(153, true), (158, true), (164, true), (149, false), (168, false)] as [(Int64, Bool)]
    )
    func chance(pause: Int64, isAdvised: Bool) throws {
        #expect(try check { $0.pause = pause }.check.findings.isEmpty == isAdvised)
    }

    @Test("Pauses are not judged where the scan reports each device once, or mostly listens to nothing")
    func unheard() throws {
        for plant in [{ $0.reportsAll = 1 }, { $0.scans = [1, 0x10, 0, 0x04, 0, 1, 0] }] as [(inout Session) -> Void] {
            let found = try check {
                $0.pause = 103
                plant(&$0)
            }
            #expect(found.check.findings == [])
            #expect(found.check.unjudged == ["advertising interval"])
        }
    }

    @Test("What the answer to a scan may say is not missed where nobody asked for it")
    func unasked() throws {
        let found = try check {
            $0.data.removeSubrange(7..<10)
            $0.answersScans = false
        }
        #expect(found.check.findings == [])
        #expect(found.check.unjudged == ["what the answer to a scan says"])
    }

    @Test("Of a capture that ends before the discovery nothing is found that only the discovery shows")
    func early() throws {
        var session = Session()
        let bytes = session.bytes(.btsnoop)
        // Frames of the advertising alone.
        let end = 16 + (24 + 11) + (24 + 6)
        let reading = try #require(Captures.reading(Array(bytes.prefix(end + 200)))).reading
        let device = try #require(reading.devices.first)
        let check = CaptureCheck(device, start: try #require(reading.first), files: ["session"])
        #expect(check.findings == [])
        #expect(check.unjudged.contains("order of services"))
    }

    @Test("The belt's own capture has the belt's six faults, from either end, in the frames that Wireshark numbers so")
    func belt() throws {
        let frames = [
            "belt-central.btsnoop": [33, 35, 83, 83, 83, 137], "belt-peripheral.btsnoop": [27, 29, 74, 74, 74, 133],
        ]
        for (name, wanted) in frames {
            let reading = try Captures.reading(name)
            let device = try #require(reading.devices.first)
            let check = CaptureCheck(device, start: try #require(reading.first), files: [name])
            let guidelines = check.findings.map(\.guideline.rawValue)
            #expect(guidelines == ["ADG-1", "ADG-3", "ADG-10", "ADG-10", "ADG-10", "ADG-11"], "\(name)")
            let found = check.findings.map { if case .frame(let frame, _, _) = $0.place { frame } else { 0 } }
            #expect(found == wanted, "\(name)")
        }
    }
}

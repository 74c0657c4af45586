import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

@Suite("Call servers of captures")
struct CallLiftTests {
    private static func register(_ number: Int) -> String {
        "REGISTER sip:s SIP/2.0\nVia: SIP/2.0/TCP p;branch=z9hG4bK\(number);rport\nFrom: <sip:a@s>;tag=1\nTo: <sip:a@s>\n"
            + "Call-ID: r@p\nCSeq: \(number) REGISTER\nContent-Length: 0\n\n"
    }

    private static func agreed(_ number: Int) -> String {
        "SIP/2.0 200 OK\nVia: SIP/2.0/TCP p;branch=z9hG4bK\(number);rport=40000\nFrom: <sip:a@s>;tag=1\n"
            + "To: <sip:a@s>;tag=9\nCall-ID: r@p\nCSeq: \(number) REGISTER\nContent-Length: 0\n\n"
    }

    private static let call =
        "INVITE sip:a@p SIP/2.0\nVia: SIP/2.0/TCP s;branch=z9hG4bKc\nFrom: <sip:b@s>;tag=2\nTo: <sip:a@s>\nCall-ID: c@s\n"
        + "CSeq: 1 INVITE\nContent-Length: 5\n\nv=0\n"

    /// A message with the short names of its headers.
    private static func shortened(_ text: String) -> String {
        let names = [("Via", "v"), ("From", "f"), ("To", "t"), ("Call-ID", "i"), ("Content-Length", "l")]
        return names.reduce(text) { $0.replacing("\n\($1.0):", with: "\n\($1.1):") }
    }

    private func lift(_ capture: NetworkCapture, server: String? = nil) throws -> CallServerLift {
        let reading = capture.reading
        return CallServerLift(
            try #require(reading.calls.first),
            start: try #require(reading.first),
            server: try server.map { try #require(NetworkPlace($0)) }
        )
    }

    /// The steps of a plan by how they begin.
    private func steps(_ lift: CallServerLift) -> [String] {
        lift.server.plan.map { step in
            switch step {
            case .send(let text): "send \(text.prefix { $0 != "\n" })"
            case .await(let prefix): "await \(prefix)"
            case .pause(let span): "pause \(DurationText.text(span))"
            default: "\(step)"
            }
        }
    }

    // MARK: What is captured

    @Test("What SIPp did to a phone becomes the plan that SIPp played")
    func sipp() throws {
        let reading = CallReading()
        var source = try CaptureBytes(file: Captures.folder + "call.pcapng")
        let isOfNetwork = CaptureFormat.isOfNetwork(&source)
        #expect(isOfNetwork)
        source = try CaptureBytes(file: Captures.folder + "call.pcapng")
        try reading.read(&source, .pcapng)
        let call = try #require(reading.calls.first)
        let lift = CallServerLift(call, start: try #require(reading.first))
        #expect(
            steps(lift).filter { !$0.hasPrefix("pause") } == [
                "await REGISTER", "send SIP/2.0 200 OK", "send INVITE sip:phone@127.0.0.1 SIP/2.0", "await SIP/2.0 100",
                "await SIP/2.0 180", "await SIP/2.0 200", "send ACK sip:phone@127.0.0.1 SIP/2.0",
                "send BYE sip:phone@127.0.0.1 SIP/2.0", "await SIP/2.0 200",
            ]
        )
        #expect(lift.server.answers.map(\.prefix) == ["REGISTER"])
        #expect(lift.notes.isEmpty && reading.leftOut.entries.isEmpty)
    }

    @Test(
        "The same is read of each kind of link, over IPv4 and IPv6",
        arguments: [UInt16(0), 1, 101, 108, 113, 276],
        [false, true]
    )
    func links(linkType: UInt16, isV6: Bool) throws {
        var capture = NetworkCapture(linkType: linkType, isV6: isV6)
        capture.datagram(.phone, Self.register(1))
        capture.datagram(.server, Self.agreed(1))
        let reading = capture.reading
        #expect(reading.leftOut.entries.isEmpty)
        #expect(reading.calls.map(\.messages.count) == [2])
        #expect(reading.calls[0].endpoint(.other).text == (isV6 ? "[fd00::2]:5060" : "192.0.2.2:5060"))
    }

    @Test("Segments that come in another order, and again, say the same")
    func segments() throws {
        var capture = NetworkCapture()
        capture.segment(.phone, [], flags: 2)
        capture.segment(.server, [], flags: 18)
        let bytes = NetworkCapture.wire(Self.register(1) + Self.register(2))
        let (one, two, three) = (bytes[..<50], bytes[50..<200], bytes[200...])
        capture.segment(.phone, Array(three), skip: 200, moves: false)
        capture.segment(.phone, Array(two), skip: 50, moves: false)
        capture.segment(.phone, Array(two), skip: 50, moves: false)
        capture.segment(.phone, Array(one), moves: false)
        capture.segment(.phone, Array(bytes[..<120]), moves: false)
        let reading = capture.reading
        #expect(reading.calls[0].messages.map(\.message.beginning) == ["REGISTER", "REGISTER"])
        #expect(reading.leftOut.entries.map(\.why) == [CallReading.Skip.again.rawValue])
        #expect(reading.leftOut.entries[0].count == 2)
    }

    @Test("Behind a segment that never came the next message is found")
    func gap() throws {
        var capture = NetworkCapture()
        capture.segment(.phone, [], flags: 2)
        capture.message(.phone, Self.register(1))
        capture.segment(.phone, NetworkCapture.wire("lost\n" + Self.register(2)), skip: 40, moves: false)
        let reading = capture.reading
        #expect(reading.calls[0].messages.count == 2)
        #expect(reading.leftOut.entries.contains { $0.why == CallReading.Skip.gap.rawValue && $0.count == 1 })
    }

    @Test("Fragments, cut packets and others are left out, with the reason and the offset of the first")
    func leftOut() throws {
        var capture = NetworkCapture()
        let places = [capture.bytes.count]
        capture.add(capture.packet(.phone, 17, [UInt8](repeating: 0, count: 40), fragment: 0x2000), after: 1)
        let cut = capture.bytes.count
        capture.add(capture.packet(.phone, 17, [UInt8](repeating: 0, count: 40)), after: 1, missing: 9)
        let short = capture.bytes.count
        capture.add([0x45, 0, 0, 80], after: 1)
        let other = capture.bytes.count
        capture.add(capture.packet(.phone, 1, [8, 0]), after: 1)
        capture.datagram(.phone, "GET / HTTP/1.1\n\n")
        capture.datagram(.phone, Self.register(1))
        let entries = capture.reading.leftOut.entries
        #expect(
            entries.prefix(4).map(\.why) == [
                CallReading.Skip.fragment.rawValue, CallReading.Skip.cutByCapture.rawValue,
                CallReading.Skip.badPacket.rawValue, CallReading.Skip.otherTransport.rawValue,
            ]
        )
        #expect(entries.prefix(4).map(\.first) == places + [cut, short, other])
        #expect(entries.last?.why == CallReading.Skip.otherTraffic.rawValue)
    }

    @Test("A capture that is cut anywhere is read as far as it goes")
    func cuts() throws {
        let bytes = try Captures.bytes("call.pcapng")
        var before = 0
        for length in 0..<bytes.count {
            let reading = CallReading()
            var source = CaptureBytes(Array(bytes[..<length]), file: "cut")
            guard let format = CaptureFormat.detect(&source) else { continue }
            do throws(CaptureDamage) { try reading.read(&source, format) } catch { #expect(error.offset <= length) }
            #expect(reading.recordCount >= before, "\(length) bytes")
            before = reading.recordCount
            for call in reading.calls { _ = CallServerLift(call, start: reading.first ?? 0) }
        }
    }

    // MARK: What is made of it

    @Test("Headers of the dialogue are those of what was heard, and a pause is kept")
    func headers() throws {
        var capture = NetworkCapture()
        capture.datagram(.phone, Self.register(1))
        capture.datagram(.server, Self.agreed(1))
        capture.datagram(.server, Self.call, after: 15_000)
        let lift = try lift(capture)
        #expect(lift.reason == "it was registered with")
        #expect(
            lift.server.plan == [
                .await("REGISTER"),
                .send(
                    "SIP/2.0 200 OK\nVia: ${Via}\nFrom: ${From}\nTo: ${To};tag=9\nCall-ID: ${Call-ID}\nCSeq: ${CSeq}\n"
                        + "Content-Length: 0\n\n"
                ),
                .pause(.seconds(15)), .send(Self.call.replacing("To: <sip:a@s>", with: "To: ${To}")),
            ]
        )
    }

    @Test("The headers of a phone that writes them short are spoken of as it writes them")
    func short() throws {
        var capture = NetworkCapture()
        capture.datagram(.phone, Self.shortened(Self.register(1)))
        capture.datagram(.server, Self.agreed(1))
        let steps = try lift(capture).server.plan
        let sent = steps.compactMap { step in if case .send(let text) = step { text } else { nil } }
        let answer = try #require(sent.last)
        #expect(answer.contains("Via: ${v}\nFrom: ${f}\nTo: ${t};tag=9\nCall-ID: ${i}\nCSeq: ${CSeq}\n"))
    }

    @Test("A phone that registers again is answered beside the plan")
    func refresh() throws {
        var capture = NetworkCapture()
        for number in 1...3 {
            capture.datagram(.phone, Self.register(number))
            capture.datagram(.server, Self.agreed(number))
        }
        let lift = try lift(capture)
        #expect(steps(lift) == ["await REGISTER", "send SIP/2.0 200 OK"])
        #expect(lift.server.answers.map(\.prefix) == ["REGISTER"])
    }

    @Test("An answer beside the plan speaks of the last request of the same dialogue and CSeq")
    func sameNumber() throws {
        var capture = NetworkCapture()
        capture.datagram(.phone, Self.register(1))
        capture.datagram(.server, Self.agreed(1))
        let asked = Self.register(2).replacing("REGISTER", with: "OPTIONS")
        capture.datagram(.phone, asked)
        // Only this one has short names, by which the answer tells it.
        capture.datagram(.phone, Self.shortened(asked))
        capture.datagram(.phone, asked.replacing("r@p", with: "other@p"))
        capture.datagram(.phone, asked.replacing("CSeq: 2", with: "CSeq: 3"))
        capture.datagram(.server, Self.agreed(2).replacing("REGISTER", with: "OPTIONS"))
        // A request of the server's own answers nothing, whatever its number is.
        capture.datagram(.server, asked)
        let lift = try lift(capture)
        #expect(steps(lift) == ["await REGISTER", "send SIP/2.0 200 OK", "send OPTIONS sip:s SIP/2.0"])
        #expect(lift.server.answers.map(\.prefix) == ["REGISTER", "OPTIONS"])
        let headers = "Via: ${v}\nFrom: ${f}\nTo: ${t};tag=9\nCall-ID: ${i}\nCSeq: ${CSeq}\n"
        #expect(lift.server.answers.last?.text.contains(headers) == true)
    }

    @Test("A message that comes again over UDP is one")
    func retransmission() throws {
        var capture = NetworkCapture()
        for _ in 1...3 { capture.datagram(.phone, Self.register(1)) }
        #expect(capture.reading.calls[0].messages.count == 1)
        #expect(capture.reading.leftOut.entries.map(\.why) == [CallReading.Skip.again.rawValue])
        #expect(capture.reading.leftOut.entries.map(\.count) == [2])
    }

    @Test("Whom somebody registers with is the server, and so is whom the address names")
    func sides() throws {
        var capture = NetworkCapture()
        capture.datagram(.server, Self.call)
        #expect(try lift(capture).reason == "its port is SIP's, and nobody registered")
        #expect(try steps(lift(capture)) == ["send INVITE sip:a@p SIP/2.0"])
        #expect(try steps(lift(capture, server: "192.0.2.1:40000")) == ["await INVITE"])
        capture.datagram(.phone, Self.register(1))
        #expect(try steps(lift(capture)) == ["send INVITE sip:a@p SIP/2.0", "await REGISTER"])
    }

    @Test("A server that hangs up does so in the plan", arguments: [UInt8(17), 20])
    func hangsUp(flags: UInt8) throws {
        var capture = NetworkCapture()
        capture.segment(.phone, [], flags: 2)
        capture.segment(.server, [], flags: 18)
        capture.message(.phone, Self.register(1))
        capture.message(.server, Self.agreed(1))
        capture.segment(.server, [], flags: flags)
        #expect(try lift(capture).server.plan.last == (flags == 17 ? .close : .reset))
    }

    @Test(
        "Addresses are read as people write them",
        arguments: ["192.0.2.1", "192.0.2.1:5060", "2001:db8::1", "[2001:db8::1]", "[2001:0db8:0::1]:5060"]
    )
    func addresses(text: String) throws {
        let place = try #require(NetworkPlace(text))
        let v4 = NetworkEndpoint(address: [192, 0, 2, 1], port: 5060)
        let v6 = NetworkEndpoint(address: [0x20, 1, 0x0d, 0xb8] + Array(repeating: 0, count: 11) + [1], port: 5060)
        #expect(place.holds(v4) != place.holds(v6))
        #expect(v6.text == "[2001:db8::1]:5060")
    }

    @Test(
        "What is no address is none",
        arguments: ["", "phone", "192.0.2", "192.0.2.1:", "192.0.2.1:70000", "[::1]5060"]
    )
    func noAddresses(text: String) {
        #expect(NetworkPlace(text) == nil)
    }
}

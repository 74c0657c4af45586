import Testing

@testable import WakeWire

@Suite("The messages of background tasks")
struct BackgroundTaskMessageTests {
    private static let cleaning = WireTaskSubmission(
        identifier: "com.example.feed.clean",
        kind: .processing,
        earliestBegin: 1_767_226_500,
        requiresExternalPower: true,
        requiresNetworkConnectivity: true
    )
    private static let requests: [WireBackgroundTaskRequest] = [
        .register(id: 1, identifier: "a"), .submit(id: 2, cleaning),
        .submit(id: 3, WireTaskSubmission(identifier: "é", kind: .refresh)), .cancel(identifier: "a"), .cancelAll,
        .list(id: 4), .completed(number: .max, success: false), .refreshStatus(id: 5), .setFetchInterval(0),
        .setFetchInterval(nil), .fetched(number: 3, result: .failed),
    ]
    private static let events: [WireBackgroundTaskEvent] = [
        .launched(number: 7, identifier: "a", kind: .processing), .expired(identifier: "a"), .fetch(number: 8),
    ]

    @Test("A request is read as it was written, and cut anywhere it is refused", arguments: requests)
    func request(request: WireBackgroundTaskRequest) throws {
        let packet = AppMessage.backgroundTask(request).encode()
        #expect(try AppMessage(decoding: packet) == .backgroundTask(request))
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try AppMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test("An event is read as it was written, and cut anywhere it is refused", arguments: events)
    func event(event: WireBackgroundTaskEvent) throws {
        let delivery = WireDelivery(delivery: 3, cause: "task", manager: 0, body: .backgroundTask(event))
        let packet = BenchMessage.deliver(delivery).encode()
        #expect(try BenchMessage(decoding: packet) == .deliver(delivery))
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try BenchMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test(
        "As many requests as a reply may list fit into a packet, however long their identifiers are written; one more is refused"
    )
    func list() throws {
        let longest = WireTaskSubmission(
            identifier: String(repeating: "\u{1}", count: WireLimits.taskIdentifierBytes),
            kind: .processing,
            earliestBegin: 7_289_654_399.123_456,
            requiresExternalPower: true,
            requiresNetworkConnectivity: true
        )
        let all = Array(repeating: longest, count: WireLimits.tasksListed)
        let packet = BenchMessage.reply(id: .max / 4_096, WireReply(tasks: all)).encode()
        #expect(packet.count <= WireLimits.packetBytes)
        #expect(try BenchMessage(decoding: packet) == .reply(id: .max / 4_096, WireReply(tasks: all)))
        let more = BenchMessage.reply(id: 1, WireReply(tasks: Array(repeating: Self.cleaning, count: all.count + 1)))
        #expect(throws: WireError.badValue(key: "tasks", expected: "at most 32 of them")) {
            try BenchMessage(decoding: more.encode())
        }
    }

    @Test("An identifier of no byte, and one that is too long, are refused", arguments: [0, 256])
    func identifiers(bytes: Int) {
        let packet = AppMessage.backgroundTask(.cancel(identifier: String(repeating: "a", count: bytes))).encode()
        #expect(throws: WireError.badValue(key: "identifier", expected: "1 to 255 bytes of text")) {
            try AppMessage(decoding: packet)
        }
    }
}

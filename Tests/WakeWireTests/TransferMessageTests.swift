import Testing

@testable import WakeWire

@Suite("The messages of transfers")
struct TransferMessageTests {
    private static let task = WireTransferTask(
        task: 2,
        kind: .upload,
        url: "https://example.com/é",
        method: "POST",
        headers: [WireHTTPField(name: "Accept", value: "a\"b")],
        file: "/tmp/a b",
        isSuspended: true
    )
    private static let session = WireTransferSession(
        identifier: "com.example.session",
        kind: .newsstand,
        sendsLaunchEvents: false,
        isDiscretionary: true,
        requestTimeout: 0.5,
        resourceTimeout: 7_200,
        allowsCellular: false
    )
    private static let response = WireTransferResponse(
        status: 206,
        headers: task.headers,
        sent: 1,
        received: 2,
        file: "/tmp/1",
        url: "https://example.com/there"
    )
    private static let requests: [WireTransferRequest] = [
        .join(id: 3, session), .join(id: 3, WireTransferSession(identifier: "s")), .invalidate(cancels: true),
        .create(task), .create(WireTransferTask(task: .max, kind: .download, url: "")),
        .resume(task: 1, earliestBegin: 1_767_225_600, bytesToSend: 5, bytesToReceive: 1 << 40),
        .resume(task: 1, earliestBegin: nil, bytesToSend: nil, bytesToReceive: nil), .suspend(task: 1),
        .cancel(task: 1), .cancelKeepingBytes(task: 1),
        .create(WireTransferTask(task: 3, kind: .download, url: "a", resumes: 1 << 40)),
        .answer(task: 1, .credential, user: "anna", password: "secret"),
        .answer(task: 1, .defaultHandling, user: "", password: ""), .handled(session: "s"),
        .tasks(id: 4, session: "s", after: 4), .tasks(id: 4, session: "s", after: 0),
    ]
    private static let events: [WireTransferEvent] = [
        .events(session: "s"),
        .finished(task: 1, response), .finished(task: 1, WireTransferResponse(status: 404)),
        .failed(task: 1, code: -999, message: "cancelled", reason: 0),
        .failed(task: 1, code: -1001, message: "", reason: nil),
        .failed(task: 1, code: -999, message: "cancelled", reason: nil, resumes: 1 << 40),
        .challenged(task: 1, host: "a", realm: "b", scheme: "digest", failures: 2),
        .progress(task: 1, sent: 3, received: 0, expected: nil), .progress(task: 1, sent: 0, received: 4, expected: 8),
        .waiting(task: 1), .eventsFinished,
    ]

    @Test("A request is read as it was written, and cut anywhere it is refused", arguments: requests)
    func request(request: WireTransferRequest) throws {
        let packet = AppMessage.transfer(manager: 7, request).encode()
        #expect(try AppMessage(decoding: packet) == .transfer(manager: 7, request))
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try AppMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test("An event is read as it was written, and cut anywhere it is refused", arguments: events)
    func event(event: WireTransferEvent) throws {
        let delivery = WireDelivery(delivery: 3, cause: "transfer", manager: 7, body: .transfer(event))
        let message = BenchMessage.deliver(delivery)
        let packet = message.encode()
        #expect(try BenchMessage(decoding: packet) == message)
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try BenchMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test("A reply lists the tasks of a session")
    func list() throws {
        let reply = BenchMessage.reply(id: 1, WireReply(transfers: [Self.task, Self.task]))
        #expect(try BenchMessage(decoding: reply.encode()) == reply)
    }

    @Test("As many tasks as a reply lists fit into a packet, however long they are")
    func longest() throws {
        // A control character takes six bytes.
        let url = String(repeating: "\u{1}", count: WireLimits.transferURLBytes)
        let task = WireTransferTask(task: .max, kind: .uploadOfData, url: url)
        let reply = BenchMessage.reply(
            id: 1,
            WireReply(transfers: Array(repeating: task, count: WireLimits.transfersListed))
        )
        #expect(reply.encode().count <= WireLimits.packetBytes)
    }

    @Test(
        "What is out of bounds is refused",
        arguments: [
            (
                #"{"type":"transfer.join","manager":1,"id":1,"session":{"identifier":""}}"#,
                WireError.badValue(key: "identifier", expected: "1 to 255 bytes of text")
            ),
            (
                #"{"type":"transfer.join","manager":1,"id":1,"session":{"identifier":"a","requestTimeout":0}}"#,
                .badValue(key: "requestTimeout", expected: "a number from 0.001 to 315576000.0")
            ),
            (
                #"{"type":"transfer.create","manager":1,"task":0,"kind":"download","url":"a"}"#,
                .badValue(key: "task", expected: "a whole number from 1 to 4294967295")
            ),
            (
                #"{"type":"transfer.create","manager":1,"task":1,"kind":"stream","url":"a"}"#,
                .badValue(key: "kind", expected: "one of download, upload, upload-of-data, data")
            ),
            (
                #"{"type":"transfer.answer","manager":1,"task":1,"answer":"maybe"}"#,
                .badValue(key: "answer", expected: "one of credential, defaultHandling, cancel")
            ),
            (
                #"{"type":"transfer.resume","manager":1,"task":1,"earliestBegin":1e300}"#,
                .badValue(key: "earliestBegin", expected: "a number from 0.0 to 7289654400.0")
            ),
        ]
    )
    func refused(packet: String, error: WireError) {
        #expect(throws: error) { try AppMessage(decoding: Array(packet.utf8)) }
    }
}

import Testing

@testable import WakeAPNs

@Suite("What is said on a connection")
struct ConversationTests {
    private let owner = Owner()
    private let provider = Provider()
    private func second(_ number: Int64) -> Int64 { number * 1_000_000_000 }

    private func conversation(_ limits: APNsLimits = APNsLimits()) -> APNsConversation {
        APNsConversation(owner.desk(limits), at: 0)
    }

    @Test("An accepted push is answered with 200 and its identifier, and nothing more")
    func accepted() {
        let id = "123e4567-e89b-12d3-a456-426655440000"
        let stream = provider.push(request(["apns-id": id]))
        conversation().talk(with: provider)
        #expect(owner.pushes.map(\.id) == [id])
        #expect(provider.answers == [stream: Provider.Answer(status: 200, id: id)])
        #expect(provider.resets == [:])
    }

    @Test("A push is answered when its owner knows the answer, which may be later")
    func answeredLater() {
        owner.holds = true
        let conversation = conversation()
        var told = 0
        conversation.answeredLater = { told += 1 }
        let stream = provider.push()
        conversation.talk(with: provider)
        #expect(owner.pushes.count == 1 && provider.answers == [:] && told == 0)
        owner.answerHeld()
        conversation.talk(with: provider)
        #expect(provider.answers[stream]?.status == 200 && told == 1)
    }

    @Test("A connection on which an answer is owed is not idle")
    func owed() {
        owner.holds = true
        let conversation = conversation()
        provider.push()
        conversation.talk(with: provider)
        #expect(conversation.nextDeadline == nil)
        owner.answerHeld()
        conversation.talk(with: provider)
        #expect(conversation.nextDeadline == second(3_600))
    }

    @Test("One who may not push gets the reason for each request, and the connection is over")
    func stranger() {
        let conversation = APNsConversation(owner.desk(), stranger: .unknown, at: 0)
        let streams = [provider.push(), provider.push(request(path: "/none"))]
        conversation.talk(with: provider)
        #expect(streams.map { provider.answers[$0]?.status } == [403, 403])
        #expect(provider.farewells == ["{\"reason\":\"Forbidden\"}"])
        #expect(owner.pushes.isEmpty && owner.strangers == [.unknown, .unknown])
        #expect(conversation.isOver)
    }

    @Test("A push by a token whose iat is text is accepted and told of, and neither a refused one nor another is")
    func textDate() {
        let conversation = conversation()
        func push(iat: String) -> Int32 {
            provider.push(request(["authorization": "bearer " + token(iat: iat)]))
        }
        let streams = [push(iat: "\(noon)"), push(iat: "\"\(noon - 3_601)\""), push(iat: "\"soon\"")]
        conversation.talk(with: provider)
        #expect(streams.map { provider.answers[$0]?.status } == [200, 403, 403])
        #expect(owner.textDates == 0)
        let other = APNsConversation(owner.desk(), at: 0)
        let client = Provider()
        let stream = client.push(request(["authorization": "bearer " + token(iat: "\"\(noon)\"")]))
        other.talk(with: client)
        #expect(client.answers[stream]?.status == 200)
        #expect(owner.textDates == 1)
    }

    @Test("A client that has gone is not answered")
    func gone() {
        owner.holds = true
        var conversation: APNsConversation? = conversation()
        provider.push()
        conversation?.talk(with: provider)
        conversation = nil
        owner.answerHeld()
        #expect(provider.answers == [:])
    }

    @Test("A push without an identifier gets the next new one")
    func newID() {
        let streams = [provider.push(), provider.push()]
        conversation().talk(with: provider)
        let ids = streams.map { provider.answers[$0]?.id }
        #expect(ids == ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"])
        #expect(owner.pushes.map(\.id) == ids)
    }

    @Test("Each reason is answered with its status and its word", arguments: APNsReason.allCases)
    func reasons(reason: APNsReason) {
        owner.answer = { _ in .refused(reason) }
        let stream = provider.push()
        conversation().talk(with: provider)
        #expect(provider.answers[stream]?.status == reason.status)
        #expect(provider.answers[stream]?.body == "{\"reason\":\"\(reason.rawValue)\"}")
    }

    @Test("A device that is gone is told with the time when it was found to be")
    func unregistered() {
        owner.answer = { _ in .refused(.unregistered, timestamp: 1_454_402_113_000) }
        let stream = provider.push()
        conversation().talk(with: provider)
        #expect(provider.answers[stream]?.status == 410)
        #expect(provider.answers[stream]?.body == "{\"reason\":\"Unregistered\",\"timestamp\":1454402113000}")
    }

    @Test("What is wrong in form is refused without asking the owner")
    func form() {
        let stream = provider.push(request(path: "/3/device/xyz"))
        conversation().talk(with: provider)
        #expect(provider.answers[stream]?.body == "{\"reason\":\"BadDeviceToken\"}")
        #expect(owner.pushes.isEmpty)
    }

    @Test("Where it is held to, one stream is allowed until a request had a valid token, and then all")
    func streams() {
        var limits = APNsLimits()
        limits.untrustedStreams = 1
        let conversation = conversation(limits)
        provider.push(request(["authorization": nil]))
        conversation.talk(with: provider)
        #expect(provider.streams == 1)
        provider.push()
        conversation.talk(with: provider)
        #expect(provider.streams == 1_000)
    }

    @Test("A provider with a certificate has all streams from the start, and needs no token")
    func certificate() {
        let certificate = ClientCertificate(topic: "com.example.app", validity: 0...noon)
        var limits = APNsLimits()
        limits.untrustedStreams = 1
        let conversation = APNsConversation(owner.desk(limits), certificate: certificate, at: 0)
        let stream = provider.push(request(["authorization": nil]))
        conversation.talk(with: provider)
        #expect(provider.streams == 1_000)
        #expect(provider.answers[stream]?.status == 200)
    }

    @Test("10 000 pushes on a connection are heard once each, in order")
    func order() {
        let conversation = conversation()
        for number in 0..<10_000 { provider.push(request(), Array("\(number)".utf8)) }
        conversation.talk(with: provider)
        let isInOrder = owner.pushes.map { String(decoding: $0.payload, as: UTF8.self) } == (0..<10_000).map { "\($0)" }
        #expect(isInOrder)
        #expect(provider.answered == provider.answered.sorted() && provider.answered.count == 10_000)
        #expect(provider.answers.values.allSatisfy { $0.status == 200 })
    }

    @Test("PUSH-5: a payload that is too large is the owner's to refuse, but for one that has no end in sight")
    func tooLarge() {
        let conversation = conversation()
        owner.answer = { $0.payload.count > 4_096 ? .refused(.payloadTooLarge) : .accepted }
        let little = provider.push(request(), [UInt8](repeating: 32, count: 4_097))
        conversation.talk(with: provider)
        #expect(owner.pushes.map(\.payload.count) == [4_097])
        #expect(
            provider.answers[little] == .init(status: 413, id: owner.id(1), body: "{\"reason\":\"PayloadTooLarge\"}")
        )
        #expect(provider.resets == [:])
        let endless = provider.push(request(), [UInt8](repeating: 32, count: 200_000), ends: false)
        conversation.talk(with: provider)
        #expect(provider.answers[endless]?.status == 413)
        #expect(provider.resets == [endless: 0])
        let after = provider.push()
        conversation.talk(with: provider)
        #expect(provider.answers[after]?.status == 200)
    }

    @Test("Fields without end cost a request its stream, and not the others")
    func longHead() {
        let conversation = conversation()
        let long = (0..<200).map { RequestHead.Field("x-\($0)", String(repeating: "x", count: 100)) }
        let stream = provider.push(request(adding: long))
        conversation.talk(with: provider)
        #expect(provider.resets == [stream: 11])
        let after = provider.push()
        conversation.talk(with: provider)
        #expect(provider.answers[after]?.status == 200)
    }

    @Test("Requests that are begun and never ended may keep so much, and the next has no place")
    func keptBytes() {
        let conversation = conversation()
        let long = (0..<100).map { RequestHead.Field("x-\($0)", String(repeating: "x", count: 100)) }
        let streams = (0..<200).map { _ in provider.push(request(adding: long), [1], ends: false) }
        conversation.talk(with: provider)
        #expect((100..<200).contains(streams.count - provider.resets.count))
        for stream in streams { provider.takeBack(stream) }
        let after = provider.push()
        conversation.talk(with: provider)
        #expect(provider.answers[after]?.status == 200)
    }

    @Test("A request that is taken back before it is whole is nobody's")
    func takenBack() {
        let conversation = conversation()
        let stream = provider.push(request(), [1], ends: false)
        conversation.talk(with: provider)
        provider.takeBack(stream)
        conversation.talk(with: provider)
        #expect(owner.pushes.isEmpty && provider.answers.isEmpty)
        #expect(conversation.nextDeadline == second(3_600))
    }

    @Test("A request that is not whole in time is ended with IdleTimeout, and the connection lives on")
    func lateRequest() {
        let conversation = conversation()
        let late = provider.push(request(), [1], ends: false)
        conversation.talk(with: provider, at: second(1))
        #expect(conversation.nextDeadline == second(31))
        #expect(conversation.timeReached(second(30)))
        conversation.talk(with: provider, at: second(30))
        #expect(provider.answers == [:])
        #expect(conversation.timeReached(second(31)))
        conversation.talk(with: provider, at: second(31))
        #expect(provider.answers[late]?.status == 400)
        #expect(provider.answers[late]?.body == "{\"reason\":\"IdleTimeout\"}")
        let after = provider.push()
        conversation.talk(with: provider, at: second(32))
        #expect(provider.answers[after]?.status == 200)
    }

    @Test("A connection that does not speak HTTP/2 in time is closed without a word")
    func silence() {
        let conversation = conversation()
        #expect(conversation.nextDeadline == second(10))
        #expect(!conversation.timeReached(second(10)))
    }

    @Test("A connection without a request for an hour is told so and is over")
    func idle() {
        let conversation = conversation()
        provider.push()
        conversation.talk(with: provider, at: second(5))
        provider.ping()
        conversation.talk(with: provider, at: second(60))
        #expect(conversation.nextDeadline == second(3_605))
        #expect(conversation.timeReached(second(3_605)))
        conversation.talk(with: provider, at: second(3_605))
        #expect(provider.farewells == ["{\"reason\":\"IdleTimeout\"}"])
        #expect(conversation.isOver)
    }

    @Test("At the end a request that was begun is answered with Shutdown, and then the connection is over")
    func shutdown() {
        let conversation = conversation()
        let begun = provider.push(request(), [1], ends: false)
        conversation.talk(with: provider)
        conversation.shutDown()
        conversation.talk(with: provider)
        #expect(provider.farewells == ["{\"reason\":\"Shutdown\"}"])
        #expect(!conversation.isOver)
        provider.say([2], on: begun)
        conversation.talk(with: provider)
        #expect(provider.answers[begun]?.status == 503)
        #expect(provider.answers[begun]?.body == "{\"reason\":\"Shutdown\"}")
        #expect(conversation.isOver)
        #expect(owner.pushes.isEmpty)
    }

    @Test("Whoever speaks another version of HTTP finds the connection over")
    func otherVersion() {
        let conversation = conversation()
        conversation.receive(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8).span, at: 0)
        #expect(conversation.isOver)
    }

    @Test("PINGs without end from a client that does not read end the connection")
    func flood() {
        let conversation = conversation()
        for _ in 0..<2_000 { provider.ping() }
        conversation.receive(provider.output().span, at: 0)
        #expect(conversation.isOver)
    }

    /// What a provider says that pushes twice.
    private func conversationOfTwo() -> [UInt8] {
        let other = Provider()
        other.push()
        other.push(request(["apns-id": "123e4567-e89b-12d3-a456-426655440000"]), [UInt8](repeating: 32, count: 300))
        return other.output()
    }

    @Test("A connection that is cut anywhere does no harm, and no push is heard that was not whole")
    func cut() {
        let bytes = conversationOfTwo()
        for count in bytes.indices {
            let owner = Owner()
            let conversation = APNsConversation(owner.desk(), at: 0)
            conversation.receive(Array(bytes.prefix(count)).span, at: 0)
            _ = conversation.output()
            #expect(owner.pushes.count < 2)
        }
    }

    @Test("Bytes that come one by one say the same")
    func oneByOne() {
        let conversation = conversation()
        for byte in conversationOfTwo() { conversation.receive([byte].span, at: 0) }
        #expect(owner.pushes.map(\.payload.count) == [2, 300])
    }

    @Test("Scrambled frames do no harm", arguments: 1...8 as ClosedRange<UInt64>)
    func scrambled(seed: UInt64) {
        let bytes = conversationOfTwo()
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<500 {
            var changed = bytes
            // The preface is left alone most times, since nothing is read behind a wrong one.
            let first = next(8) == 0 ? 0 : 24
            for _ in 0...next(6) {
                let place = first + next(changed.count - first)
                switch next(4) {
                case 0: changed[place] = UInt8(next(256))
                case 1: changed[place] ^= 1 << UInt8(next(8))
                case 2: changed.remove(at: place)
                default: changed.insert(contentsOf: changed[place..<min(place + next(64), changed.count)], at: place)
                }
            }
            let conversation = conversation()
            conversation.receive(changed.span, at: 0)
            _ = conversation.output()
            _ = conversation.timeReached(second(100))
            _ = conversation.output()
            conversation.shutDown()
            _ = conversation.output()
        }
        #expect(owner.pushes.allSatisfy { !$0.payload.isEmpty && $0.payload.count <= RequestCheck.largestBody })
    }
}

import WakeAPNs

/// Providers of pushes.
enum Pushes {
    /// The moment at which the corpus's tokens were made, in seconds since 1970.
    private static let now: Int64 = 1_700_000_000

    /// Half of the bytes come, then time passes, then the others come; what is heard of is correct in form, and answered after that.
    static func conversation(_ bytes: [UInt8]) {
        var replies: [() -> Void] = []
        let desk = APNsDesk(
            clock: { now },
            makeID: { "00000000-0000-4000-8000-000000000000" },
            answer: { push, reply in
                let most = RequestCheck.largestBody
                precondition((1...most).contains(push.payload.count), "a payload of \(push.payload.count) bytes")
                precondition(!push.topic.isEmpty && !push.deviceToken.isEmpty, "a push to nobody: \(push)")
                replies.append { reply(push.priority == 10 ? .accepted : .refused(.unregistered, timestamp: 1)) }
            }
        )
        let conversation = APNsConversation(desk, at: 0)
        var output: [UInt8] = []
        for (part, moment) in [(bytes.prefix(bytes.count / 2), 1), (bytes.dropFirst(bytes.count / 2), 1 << 40)] {
            conversation.receive(Array(part).span, at: Int64(moment))
            conversation.takeOutput(into: &output, upTo: 1 << 20)
            for reply in replies { reply() }
            replies.removeAll()
            _ = conversation.timeReached(Int64(moment))
            conversation.takeOutput(into: &output, upTo: 1 << 20)
        }
        conversation.shutDown()
        conversation.takeOutput(into: &output, upTo: 1 << 20)
    }
}

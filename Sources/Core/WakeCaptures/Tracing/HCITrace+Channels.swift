import WakeModel

/// L2CAP channels with credits (Bluetooth Core Specification, volume 3, part A, 3.4, 4.22 to 4.24 and 10.1).
extension HCITrace {
    /// An open channel, or one that is asked for.
    struct Channel {
        var address: [UInt8]
        /// What the radio calls it; nil before it is open.
        var number: UInt32?
        var isAskedByPhone: Bool
        /// The number of the request.
        var request: UInt8
        // The numbers that the ends have given it.
        var phone: UInt16
        var other: UInt16
        // How many packets either end may send still.
        var credits = (phone: HCITrace.credits, other: HCITrace.credits)
    }

    /// Why a channel is refused.
    package enum ChannelRefusal: UInt16, Sendable {
        case unknownNumber = 0x0002
        case insufficientAuthentication = 0x0005
        case insufficientEncryption = 0x0008
    }

    private static let signalling: UInt16 = 0x0005
    /// The numbers that ends give begin with it.
    private static let firstChannel: UInt16 = 0x0040
    /// The most bytes of what is sent at once; the figure is ours, as are those below.
    private static let longestUnit = 2_048
    /// The most bytes of a packet, which so just fits into one of ACL.
    private static let longestSegment = 247
    private static let credits: UInt16 = 16

    /// An end asks for a channel.
    package func channelRequested(_ psm: UInt16, with address: [UInt8], fromPhone: Bool, at now: Instant) {
        let taken = channels.filter { $0.address == address }
        func free(_ number: (Channel) -> UInt16) -> UInt16 {
            (Self.firstChannel...0x007F).first { each in !taken.contains { number($0) == each } } ?? Self.firstChannel
        }
        let channel = Channel(
            address: address,
            isAskedByPhone: fromPhone,
            request: nextSignal(with: address, fromPhone: fromPhone),
            phone: free(\.phone),
            other: free(\.other)
        )
        let own = fromPhone ? channel.phone : channel.other
        let words = [psm, own, UInt16(Self.longestUnit), UInt16(Self.longestSegment), Self.credits]
        channels.append(channel)
        signal(0x14, channel.request, words, with: address, fromPhone: fromPhone, at: now)
    }

    /// The other end opens the channel that was asked for last over a link, or says why not.
    package func channelAnswered(_ answer: Result<UInt32, ChannelRefusal>, with address: [UInt8], at now: Instant) {
        guard let place = channels.lastIndex(where: { $0.address == address && $0.number == nil }) else { return }
        let channel = channels[place]
        let words: [UInt16]
        switch answer {
        case .success(let number):
            channels[place].number = number
            let own = channel.isAskedByPhone ? channel.other : channel.phone
            words = [own, UInt16(Self.longestUnit), UInt16(Self.longestSegment), Self.credits, 0]
        case .failure(let refusal):
            channels.remove(at: place)
            words = [0, 0, 0, 0, refusal.rawValue]
        }
        signal(0x15, channel.request, words, with: address, fromPhone: !channel.isAskedByPhone, at: now)
    }

    /// Bytes go over a channel.
    package func channelCarries(_ bytes: [UInt8], over number: UInt32, fromPhone: Bool, at now: Instant) {
        for start in stride(from: 0, to: bytes.count, by: Self.longestUnit) {
            let unit = bytes[start..<min(start + Self.longestUnit, bytes.count)]
            // The first segment begins with the length of all.
            let whole = AttributeExchange.word(UInt16(unit.count)) + unit
            for start in stride(from: 0, to: whole.count, by: Self.longestSegment) {
                let segment = Array(whole[start..<min(start + Self.longestSegment, whole.count)])
                sendSegment(segment, over: number, fromPhone: fromPhone, at: now)
            }
        }
    }

    /// A packet takes a credit; the other end gives as many again when half of them are gone.
    private func sendSegment(_ segment: [UInt8], over number: UInt32, fromPhone: Bool, at now: Instant) {
        guard let place = channels.firstIndex(where: { $0.number == number }) else { return }
        let channel = channels[place]
        send(
            segment,
            over: fromPhone ? channel.other : channel.phone,
            with: channel.address,
            fromPhone: fromPhone,
            at: now
        )
        let left = (fromPhone ? channel.credits.phone : channel.credits.other) - 1
        let given = left <= Self.credits / 2 ? Self.credits - left : 0
        if fromPhone {
            channels[place].credits.phone = left + given
        } else {
            channels[place].credits.other = left + given
        }
        guard given > 0 else { return }
        let request = nextSignal(with: channel.address, fromPhone: !fromPhone)
        let own = fromPhone ? channel.other : channel.phone
        signal(0x16, request, [own, given], with: channel.address, fromPhone: !fromPhone, at: now)
    }

    /// An end closes a channel; nothing is said of one whose link is gone.
    package func channelClosed(_ number: UInt32, fromPhone: Bool, at now: Instant) {
        guard let place = channels.firstIndex(where: { $0.number == number }) else { return }
        let channel = channels.remove(at: place)
        let request = nextSignal(with: channel.address, fromPhone: fromPhone)
        let ends = fromPhone ? [channel.other, channel.phone] : [channel.phone, channel.other]
        signal(0x06, request, ends, with: channel.address, fromPhone: fromPhone, at: now)
        signal(0x07, request, ends, with: channel.address, fromPhone: !fromPhone, at: now)
    }

    private func nextSignal(with address: [UInt8], fromPhone: Bool) -> UInt8 {
        guard let place = links.firstIndex(where: { $0.address == address }) else { return 1 }
        // From 1 to 255, and again.
        let last = fromPhone ? links[place].signals.phone : links[place].signals.other
        let next = last == .max ? 1 : last + 1
        if fromPhone { links[place].signals.phone = next } else { links[place].signals.other = next }
        return next
    }

    private func signal(
        _ code: UInt8,
        _ number: UInt8,
        _ words: [UInt16],
        with address: [UInt8],
        fromPhone: Bool,
        at now: Instant
    ) {
        let packet =
            [code, number] + AttributeExchange.word(UInt16(words.count * 2)) + words.flatMap(AttributeExchange.word)
        send(packet, over: Self.signalling, with: address, fromPhone: fromPhone, at: now)
    }
}

extension HCITrace.ChannelRefusal: Error {}

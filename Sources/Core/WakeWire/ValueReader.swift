import Glibc
import WakeJSON

/// Reads deliveries of values, the commonest of the bench's messages by far, where they stand as the bench writes them.
///
/// It knows them by their bytes alone. What is spelled in another way, or is another message, is left to ``Packet``, which
/// would read the same from what is read here.
struct ValueReader {
    private var position = 0
    /// The peripheral read last, and its bytes.
    private var peripheral = ""
    private var peripheralBytes: [UInt8] = []
    /// What woke the app last, and its bytes.
    private var cause = ""
    private var causeBytes: [UInt8] = []
    /// What the messages read last are together, as far as they were read.
    private(set) var run: BenchPacketReader.Run?

    /// The messages of a packet that holds nothing but deliveries of values; nil for any other.
    mutating func messages(_ bytes: Span<UInt8>) -> [BenchMessage]? {
        position = 0
        run = nil
        var messages: [BenchMessage] = []
        guard take("[", bytes) else {
            return delivery(bytes, &messages) && position == bytes.count ? messages : nil
        }
        messages.reserveCapacity(min(bytes.count / 128 + 1, WireLimits.messages))
        repeat {
            guard messages.count < WireLimits.messages, delivery(bytes, &messages) else {
                return nil
            }
        } while take(",", bytes)
        guard take("]", bytes), position == bytes.count else {
            return nil
        }
        return messages
    }

    /// Reads one message to the end of those before it; false where it is another.
    private mutating func delivery(_ bytes: Span<UInt8>, _ messages: inout [BenchMessage]) -> Bool {
        guard take(#"{"type":"deliver","delivery":"#, bytes),
            let number = number(bytes, atMost: WireLimits.largestInteger)
        else {
            return false
        }
        let event = take(#","event":""#, bytes) ? word(bytes) : nil
        let decision = take(#","decision":""#, bytes) ? word(bytes) : nil
        let cause = take(#","cause":""#, bytes) ? knownCause(bytes) : nil
        guard take(#","manager":"#, bytes), let manager = self.number(bytes, atMost: UInt64(UInt32.max)),
            take(#","kind":"peripheral.value","peripheral":""#, bytes), let peripheral = identifier(bytes),
            take(#","attribute":"#, bytes), let attribute = self.number(bytes, atMost: UInt64(UInt16.max)),
            take(#","value":""#, bytes), let value = value(bytes), take("}", bytes)
        else {
            return false
        }
        let receiver = UInt32(truncatingIfNeeded: manager)
        run = messages.isEmpty ? BenchPacketReader.Run(receiver, number) : run?.goingOn(receiver, number)
        let body = WireDeliveryBody.peripheral(
            peripheral,
            .value(attribute: UInt16(truncatingIfNeeded: attribute), value: value, failure: nil)
        )
        let delivery = WireDelivery(
            delivery: number,
            event: event,
            decision: decision,
            cause: cause,
            manager: receiver,
            body: body
        )
        messages.append(.deliver(delivery))
        return true
    }

    @inline(__always)
    private mutating func take(_ text: StaticString, _ bytes: Span<UInt8>) -> Bool {
        WireBytes.take(text, bytes, at: &position)
    }

    @inline(__always)
    private mutating func number(_ bytes: Span<UInt8>, atMost limit: UInt64) -> UInt64? {
        WireBytes.number(bytes, at: &position, atMost: limit)
    }

    /// The bytes up to the next quote, which is left behind; nil where they are not plain ASCII.
    @inline(__always)
    private mutating func plain(_ bytes: Span<UInt8>) -> Range<Int>? {
        let start = position
        guard JSONReader.skipPlain(bytes, at: &position), position < bytes.count, bytes[position] == UInt8(ascii: "\"")
        else {
            return nil
        }
        position += 1
        return start..<(position - 1)
    }

    private mutating func word(_ bytes: Span<UInt8>) -> String? {
        plain(bytes).map { ValueReader.text(bytes.extracting($0)) }
    }

    private static func text(_ content: Span<UInt8>) -> String {
        unsafe content.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    private mutating func knownCause(_ bytes: Span<UInt8>) -> String? {
        guard let range = plain(bytes) else {
            return nil
        }
        let content = bytes.extracting(range)
        if !WireBytes.areEqual(causeBytes.span, content) {
            cause = ValueReader.text(content)
            causeBytes = Array(cause.utf8)
        }
        return cause
    }

    /// An identifier in capitals.
    private mutating func identifier(_ bytes: Span<UInt8>) -> String? {
        guard let range = plain(bytes), range.count == 36 else {
            return nil
        }
        let content = bytes.extracting(range)
        if WireBytes.areEqual(peripheralBytes.span, content) {
            return peripheral
        }
        let text = ValueReader.text(content)
        guard WireUUID.canonical(text) == text else {
            return nil
        }
        peripheral = text
        peripheralBytes = Array(text.utf8)
        return text
    }

    private mutating func value(_ bytes: Span<UInt8>) -> [UInt8]? {
        guard let range = plain(bytes), let value = Base64.decode(bytes.extracting(range)),
            value.count <= WireLimits.valueBytes
        else {
            return nil
        }
        return value
    }
}

/// Bytes as a message of known spelling has them.
enum WireBytes {
    /// Goes past the text where the bytes begin with it.
    @inline(__always)
    static func take(_ text: StaticString, _ bytes: Span<UInt8>, at position: inout Int) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count else {
            return false
        }
        let isThere = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe memcmp(bytes.baseAddress.unsafelyUnwrapped + position, text.utf8Start, count) == 0
        }
        if isThere {
            position += count
        }
        return isThere
    }

    @inline(__always)
    static func areEqual(_ some: Span<UInt8>, _ others: Span<UInt8>) -> Bool {
        guard some.count == others.count, some.count > 0 else {
            return some.count == others.count
        }
        return unsafe some.withUnsafeBufferPointer { some in
            unsafe others.withUnsafeBufferPointer { others in
                unsafe memcmp(some.baseAddress.unsafelyUnwrapped, others.baseAddress.unsafelyUnwrapped, some.count) == 0
            }
        }
    }

    /// A whole number as JSON spells it, from 0 to the limit.
    @inline(__always)
    static func number(_ bytes: Span<UInt8>, at position: inout Int, atMost limit: UInt64) -> UInt64? {
        let start = position
        var value: UInt64 = 0
        while position < bytes.count, position - start < 17 {
            let digit = bytes[position] &- 0x30
            guard digit <= 9 else {
                break
            }
            value = value &* 10 &+ UInt64(digit)
            position += 1
        }
        let count = position - start
        guard count > 0, count == 1 || bytes[start] != 0x30, value <= limit else {
            return nil
        }
        return value
    }
}

extension AppMessage {
    /// An acknowledgement that stands as the SDK writes it; nil for anything else.
    static func plainAcknowledgement(_ bytes: Span<UInt8>) -> AppMessage? {
        var position = 0
        guard WireBytes.take(#"{"type":"ack","delivery":"#, bytes, at: &position),
            let delivery = WireBytes.number(bytes, at: &position, atMost: WireLimits.largestInteger)
        else {
            return nil
        }
        var through: UInt64?
        if WireBytes.take(#","through":"#, bytes, at: &position) {
            guard let last = WireBytes.number(bytes, at: &position, atMost: WireLimits.largestInteger), last >= delivery
            else {
                return nil
            }
            through = last
        }
        guard WireBytes.take("}", bytes, at: &position), position == bytes.count else {
            return nil
        }
        return .acknowledge(delivery: delivery, through: through)
    }
}

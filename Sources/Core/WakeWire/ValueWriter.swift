import Glibc
import WakeJSON

/// Writes the delivery of a value, the commonest of the bench's messages by far, as ``ValueReader`` knows it.
@safe
struct ValueWriter {
    private let start: UnsafeMutableBufferPointer<UInt8>
    private var position = 0

    /// Appends the message; false where a text in it needs escapes, and then nothing is written.
    static func append(
        to output: inout [UInt8],
        delivery: UInt64,
        event: String?,
        decision: String?,
        cause: String?,
        manager: UInt32,
        peripheral: String,
        attribute: UInt16,
        value: [UInt8]
    ) -> Bool {
        // The keys and the numbers take at most 180 bytes.
        let texts = (event ?? "").utf8.count + (decision ?? "").utf8.count + (cause ?? "").utf8.count
        let room = 192 + texts + peripheral.utf8.count + Base64.count(of: value)
        var isPlain = false
        output.append(addingCapacity: room) { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer, count in
                var writer = unsafe ValueWriter(start: buffer)
                writer.literal(#"{"type":"deliver","delivery":"#)
                writer.number(delivery)
                isPlain =
                    writer.text(#","event":""#, event) && writer.text(#","decision":""#, decision)
                    && writer.text(#","cause":""#, cause)
                writer.literal(#","manager":"#)
                writer.number(UInt64(manager))
                isPlain = isPlain && writer.text(#","kind":"peripheral.value","peripheral":""#, peripheral)
                writer.literal(#","attribute":"#)
                writer.number(UInt64(attribute))
                writer.literal(#","value":""#)
                writer.base64(value)
                writer.literal(#""}"#)
                count = isPlain ? writer.position : 0
            }
        }
        return isPlain
    }

    /// Appends an acknowledgement, the commonest of an app's messages by far.
    static func append(to output: inout [UInt8], acknowledging delivery: UInt64, through: UInt64?) {
        output.append(addingCapacity: 96) { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer, count in
                var writer = unsafe ValueWriter(start: buffer)
                writer.literal(#"{"type":"ack","delivery":"#)
                writer.number(delivery)
                if let through {
                    writer.literal(#","through":"#)
                    writer.number(through)
                }
                writer.literal("}")
                count = writer.position
            }
        }
    }

    private init(start: UnsafeMutableBufferPointer<UInt8>) {
        unsafe self.start = start
    }

    @inline(__always)
    private mutating func literal(_ text: StaticString) {
        unsafe copy(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    private mutating func copy(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count > 0 else {
            return
        }
        precondition(unsafe bytes.count <= start.count - position, "a message outgrows its room")
        let target = unsafe start.baseAddress.unsafelyUnwrapped + position
        unsafe memcpy(target, bytes.baseAddress.unsafelyUnwrapped, bytes.count)
        position += bytes.count
    }

    /// Writes what comes before the text, the text and a quote; nothing for nil. False where the text needs escapes.
    private mutating func text(_ before: StaticString, _ text: String?) -> Bool {
        guard let text else {
            return true
        }
        let content = text.utf8.span
        var plain = 0
        _ = JSONReader.skipPlain(content, at: &plain)
        guard plain == content.count else {
            return false
        }
        literal(before)
        unsafe content.withUnsafeBufferPointer { unsafe copy($0) }
        literal("\"")
        return true
    }

    private mutating func number(_ value: UInt64) {
        var rest = value
        var count = 1
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        rest = value
        for place in stride(from: position + count - 1, through: position, by: -1) {
            unsafe start[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        position += count
    }

    private mutating func base64(_ value: [UInt8]) {
        Base64.letters(of: value) { letter in
            unsafe start[position] = letter
            position += 1
        }
    }
}

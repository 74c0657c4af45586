import CWakeShims

/// A packet as it came.
struct ReceivedPacket {
    let bytes: [UInt8]
    let descriptors: ReceivedDescriptors
    /// It was too large, or carried more descriptors than this process may have.
    let isTruncated: Bool

    fileprivate init(_ packet: wake_packet) {
        bytes = unsafe Array(UnsafeBufferPointer(start: packet.bytes, count: packet.size))
        let count = unsafe Int(packet.descriptor_count)
        descriptors = ReceivedDescriptors(unsafe Array(UnsafeBufferPointer(start: packet.descriptors, count: count)))
        isTruncated = unsafe packet.is_truncated == 1
    }
}

/// Receives packets, several in one call of the system where several are there.
@safe final class Mail {
    /// The most that one call brings.
    static let mostPackets = Int(WAKE_MOST_PACKETS)

    private let room: OpaquePointer

    init(largest bytes: Int) {
        guard let room = unsafe wake_mail_make(bytes) else { preconditionFailure("no memory for packets") }
        unsafe self.room = room
    }

    deinit { unsafe wake_mail_free(room) }

    /// The packets that are there, as many as one call brings; none with the reason in errno.
    func receive(from socket: Int32) -> [ReceivedPacket] {
        let count = unsafe wake_mail_receive(room, socket)
        return count > 0 ? (0..<count).map { unsafe ReceivedPacket(wake_mail_packet(room, $0)) } : []
    }
}

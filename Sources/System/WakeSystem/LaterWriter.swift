import CWakeShims

/// Writes to a descriptor whose kernel side lets the writer wait, without waiting for it: one piece at a time.
@safe final class LaterWriter {
    private let bell: Descriptor
    private var current: OpaquePointer?

    init() throws(SystemError) { bell = try doorbell() }

    deinit {
        if let current = unsafe current { unsafe wake_later_write_leave(current) }
    }

    /// Readable when a write is over and ``hasRoom()`` was not asked since.
    var bellNumber: Int32 { bell.number }

    /// Whether the next piece may be written: the one before is over.
    ///
    /// - Throws: ``SystemError`` when that one failed, once.
    func hasRoom() throws(SystemError) -> Bool {
        guard let later = unsafe current else { return true }
        _ = bell.answerDoorbell()
        var result = 0
        guard unsafe wake_later_write_result(later, &result) == 1 else { return false }
        unsafe wake_later_write_leave(later)
        unsafe current = nil
        guard result >= 0 else { throw SystemError("write", code: Int32(truncatingIfNeeded: -result)) }
        return true
    }

    /// Begins to write a piece, which must have room.
    func write(_ bytes: [UInt8], to number: Int32) throws(SystemError) {
        precondition(unsafe current == nil, "a write is under way")
        unsafe current = wake_later_write_begin(number, bytes, bytes.count, bell.number)
        guard unsafe current != nil else { throw SystemError(last: "aio_write") }
    }
}

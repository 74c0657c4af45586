import WakeSystem

/// What carries the bytes of a session to and from an accessory: a tty, an RFCOMM socket, or the reports of a hidraw.
package protocol AccessoryLink: AnyObject {
    /// The descriptor to watch, non-blocking.
    var number: Int32 { get }
    /// Whether the kernel holds the sender while nobody reads: true for ttys and RFCOMM, false for hidraw (EA-5).
    var holdsSender: Bool { get }
    /// A descriptor that is readable when there is room to write again; nil when the link's own one is writable then.
    var roomNumber: Int32? { get }

    /// Reads what is there, at most the buffer's size.
    ///
    /// - Returns: the number of bytes, 0 at the end, nil when nothing is there now.
    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int?

    /// Writes as much as goes in.
    ///
    /// - Returns: how many of the bytes went, nil when nothing fits now.
    func write(_ bytes: [UInt8]) throws(SystemError) -> Int?

    /// Lets go of the descriptor.
    func close()
}

extension AccessoryLink {
    package var roomNumber: Int32? { nil }
}

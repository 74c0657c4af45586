import WakeWire

extension WireError {
    /// Why a packet is refused that was cut after so many bytes. A backslash at its end stands with the byte after it.
    static func cut(_ packet: [UInt8], at length: Int) -> WireError {
        .notJSON(offset: packet[..<length].last == UInt8(ascii: "\\") ? length + 1 : length)
    }
}

import WakeModel

/// The write commands of one client on their way to one peripheral. Nothing answers them, so that their sender must be told
/// when there is room again.
struct WriteQueue: Codable {
    /// How many an iPhone keeps: what is written beyond about 20 is lost (Open Radar 20394802; Nordic Semiconductor's nRF Mesh
    /// library, issue 149).
    static let limit = 20

    private(set) var count = 0
    private var wasFull = false

    /// The longest value of a command, in bytes, while nothing is known of the link: what the smallest ATT MTU leaves.
    static let shortestLongest = longest(mtu: 23)

    /// The longest value of a command over a link with an ATT MTU, in bytes: no attribute is longer than 512.
    static func longest(mtu: Int) -> Int { min(mtu - 3, 512) }

    /// How many more are taken now.
    var room: Int { Self.limit - count }

    /// Takes a command; false when the queue is full, and the command is lost.
    mutating func take() -> Bool {
        guard room > 0 else { return false }
        count += 1
        if room == 0 { wasFull = true }
        return true
    }

    /// A command went out. True when the client is to be told that there is room again: once, after the queue was full.
    mutating func leave() -> Bool {
        count -= 1
        defer { wasFull = false }
        return wasFull
    }
}

extension BluetoothOperation {
    /// The value of a write command, which nothing answers; nil for all that is answered.
    var commandValue: [UInt8]? {
        if case .write(_, let value, withResponse: false) = self { value } else { nil }
    }
}

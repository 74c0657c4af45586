/// One region of one app.
struct RegionKey: Hashable, Comparable, Sendable {
    var app: UInt32
    /// Its place among the regions of its app, which stays the same until it is removed.
    var slot: UInt32

    static func < (left: RegionKey, right: RegionKey) -> Bool {
        (left.app, left.slot) < (right.app, right.slot)
    }
}

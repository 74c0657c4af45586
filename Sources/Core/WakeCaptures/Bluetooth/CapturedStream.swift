import WakeModel

/// Where something stands among what happened with a device.
struct Happening: Hashable {
    /// Counted from 1, in the order of the capture.
    var order: Int
    /// Which of the device's links it was on: how many had ended.
    var link: Int
}

/// What one characteristic notified and indicated, in order.
package final class CapturedStream {
    /// How many there were, kept or not.
    package private(set) var count = 0
    package private(set) var indications = 0
    /// When each kept value came: nanoseconds since 1970.
    private(set) var times: [Int64] = []
    /// When each kept value came by the clock that runs while somebody is subscribed.
    private(set) var clocks: [Int64] = []
    private(set) var facts: [Fact] = []
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    private var clock: Int64 = 0
    /// Since when somebody is subscribed; nil while nobody is.
    private var since: Int64?
    /// Which happening that was.
    private var sinceOrder = 0
    /// Whether the device's list of subscribed streams has it.
    var isListed = false

    /// What is known of a kept value beside its bytes and times.
    struct Fact: Hashable {
        var happening: Happening
        /// Which happening the subscription was.
        var subscribed: Int
        var isIndication: Bool
    }

    /// How many values are kept.
    var kept: Int { times.count }

    func value(_ index: Int) -> [UInt8] { Array(bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]) }

    func length(_ index: Int) -> Int { ends[index] - (index == 0 ? 0 : ends[index - 1]) }

    var isSubscribed: Bool { since != nil }

    func subscribe(at time: Int64, order: Int) { if since == nil { (since, sinceOrder) = (time, order) } }

    func unsubscribe(at time: Int64) {
        guard let since else { return }
        clock = Self.sum(clock, max(0, time - since))
        self.since = nil
    }

    /// A clock that is set back and forth may come to more than any time.
    private static func sum(_ clock: Int64, _ time: Int64) -> Int64 {
        let (sum, isFar) = clock.addingReportingOverflow(time)
        return isFar ? .max : sum
    }

    /// Takes a value; it is counted only when there is no store, or no room in it.
    func take(
        _ value: Span<UInt8>,
        at time: Int64,
        _ happening: Happening,
        isIndication: Bool,
        _ store: CaptureStore?
    ) {
        count += 1
        if isIndication { indications += 1 }
        guard let store, store.take(value.count) else { return }
        // Clocks of captures jump; what came later never stands before.
        let now = max(Self.sum(clock, max(0, time - (since ?? time))), clocks.last ?? 0)
        times.append(time)
        clocks.append(now)
        facts.append(Fact(happening: happening, subscribed: sinceOrder, isIndication: isIndication))
        for index in 0..<value.count { bytes.append(value[index]) }
        ends.append(bytes.count)
    }
}

/// What a capture's reading may keep in memory, however long the capture is.
final class CaptureStore {
    /// Notified and written values, more than a device file holds: each takes 19 bytes of text or more there, within 7 MiB.
    private var values = 400_000
    private var bytes = 8 << 20
    private var attributes = 200_000
    private var devices = 20_000
    /// Values that were counted and not kept.
    private(set) var dropped = 0

    func take(_ count: Int) -> Bool {
        guard values > 0, bytes >= count else {
            dropped += 1
            return false
        }
        values -= 1
        bytes -= count
        return true
    }

    func takeAttribute() -> Bool { Self.take(&attributes) }

    func takeDevice() -> Bool { Self.take(&devices) }

    private static func take(_ left: inout Int) -> Bool {
        if left == 0 { return false }
        left -= 1
        return true
    }
}

import WakeModel

/// What the simulated radio has to do later, earliest first; equal times come out in the order in which they went in.
struct SimulatedSchedule: Codable {
    /// What an entry is about; which number it carries is the owner's business.
    enum Task: UInt8, Codable {
        case sighting
        case connection
        case answer
        case notification
        case linkLoss
        case prepared
        case channelValue
        case channelRoom
        case beacon
    }

    /// One entry. Its generation tells the owner whether it still means anything.
    struct Entry: Codable {
        var at: Instant
        var sequence: UInt64
        var task: Task
        var index: Int32
        var generation: UInt32
    }

    private var heap: [Entry] = []
    private var sequence: UInt64 = 0

    /// The earliest time of an entry.
    var nextTime: Instant? { heap.first?.at }

    mutating func add(_ task: Task, index: Int, generation: UInt32, at: Instant) {
        sequence &+= 1
        heap.append(
            Entry(at: at, sequence: sequence, task: task, index: Int32(index), generation: generation)
        )
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard precedes(child, parent) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// The earliest entry that is due at `now`.
    mutating func take(dueAt now: Instant) -> Entry? {
        guard let top = heap.first, top.at <= now else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return top }
        heap[0] = last
        var parent = 0
        while true {
            var smallest = parent
            let left = 2 * parent + 1
            if left < heap.count, precedes(left, smallest) { smallest = left }
            if left + 1 < heap.count, precedes(left + 1, smallest) { smallest = left + 1 }
            if smallest == parent { return top }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }

    mutating func removeAll() { heap.removeAll() }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        heap[left].at != heap[right].at ? heap[left].at < heap[right].at : heap[left].sequence < heap[right].sequence
    }
}

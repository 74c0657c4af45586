import WakeModel

/// The next deadline of each app in one heap: the earliest is known at once, and changing one costs the logarithm of
/// the number of apps. Equal deadlines come out in order of app number.
struct Deadlines {
    private struct Entry {
        var at: Instant
        var app: UInt32
    }

    private var heap: [Entry] = []
    /// Where each app's entry is in the heap; -1 for none.
    private var positions: [Int32] = []

    /// The earliest deadline and its app.
    var first: (at: Instant, app: AppID)? {
        guard let top = heap.first else { return nil }
        return (top.at, AppID(top.app))
    }

    /// Sets or clears an app's deadline.
    mutating func set(_ at: Instant?, for app: AppID) {
        let index = Int(app.number)
        while positions.count <= index { positions.append(-1) }
        let position = Int(positions[index])
        switch (at, position) {
        case (nil, -1):
            return
        case (nil, _):
            remove(at: position)
        case (let at?, -1):
            heap.append(Entry(at: at, app: app.number))
            positions[index] = Int32(heap.count - 1)
            rise(from: heap.count - 1)
        case (let at?, _):
            if heap[position].at == at { return }
            heap[position].at = at
            rise(from: position)
            sink(from: Int(positions[index]))
        }
    }

    private mutating func remove(at position: Int) {
        positions[Int(heap[position].app)] = -1
        let last = heap.removeLast()
        guard position < heap.count else { return }
        heap[position] = last
        positions[Int(last.app)] = Int32(position)
        rise(from: position)
        sink(from: Int(positions[Int(last.app)]))
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        heap[left].at != heap[right].at ? heap[left].at < heap[right].at : heap[left].app < heap[right].app
    }

    private mutating func exchange(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        positions[Int(heap[left].app)] = Int32(left)
        positions[Int(heap[right].app)] = Int32(right)
    }

    private mutating func rise(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard precedes(child, parent) else { return }
            exchange(child, parent)
            child = parent
        }
    }

    private mutating func sink(from start: Int) {
        var parent = start
        while true {
            var smallest = parent
            let left = 2 * parent + 1
            if left < heap.count, precedes(left, smallest) { smallest = left }
            if left + 1 < heap.count, precedes(left + 1, smallest) { smallest = left + 1 }
            if smallest == parent { return }
            exchange(parent, smallest)
            parent = smallest
        }
    }
}

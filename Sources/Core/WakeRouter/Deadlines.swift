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
            let before = heap[position].at
            guard at != before else { return }
            heap[position].at = at
            if at < before { rise(from: position) } else { sink(from: position) }
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

    private func precedes(_ left: Entry, _ right: Entry) -> Bool {
        left.at != right.at ? left.at < right.at : left.app < right.app
    }

    private mutating func put(_ entry: Entry, at position: Int) {
        heap[position] = entry
        positions[Int(entry.app)] = Int32(position)
    }

    /// Moves the entry at a position towards the top, past all that come later.
    private mutating func rise(from start: Int) {
        let entry = heap[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard precedes(entry, heap[parent]) else { break }
            put(heap[parent], at: position)
            position = parent
        }
        if position != start { put(entry, at: position) }
    }

    /// Moves the entry at a position away from the top, past all that come earlier.
    private mutating func sink(from start: Int) {
        let entry = heap[start]
        var position = start
        while 2 * position + 1 < heap.count {
            var child = 2 * position + 1
            if child + 1 < heap.count, precedes(heap[child + 1], heap[child]) { child += 1 }
            guard precedes(heap[child], entry) else { break }
            put(heap[child], at: position)
            position = child
        }
        if position != start { put(entry, at: position) }
    }
}

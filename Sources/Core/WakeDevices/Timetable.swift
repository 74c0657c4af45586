import WakeModel

/// The values a characteristic notifies of itself, and the pauses before them.
package struct Timetable: Hashable, Sendable {
    /// One entry: a pause, then values a fixed time apart.
    package struct Entry: Hashable, Sendable {
        /// The pause before the first value.
        package var after: Instant.Span
        /// The pause before each further value.
        package var every: Instant.Span
        package var values: Values

        package init(after: Instant.Span, every: Instant.Span, values: Values) {
            (self.after, self.every, self.values) = (after, every, values)
        }
    }

    /// The values of an entry.
    package enum Values: Hashable, Sendable {
        case list([[UInt8]])
        case counter(Counter)
        case pattern(Pattern)

        package var count: Int {
            switch self {
            case .list(let values): values.count
            case .counter(let counter): counter.count
            case .pattern(let pattern): pattern.count
            }
        }
    }

    /// A number that grows by 1 a value, big-endian, behind fixed bytes; it wraps at its width.
    package struct Counter: Hashable, Sendable {
        package var from: UInt32
        package var count: Int
        /// In bytes: 1, 2 or 4.
        package var width: Int
        package var prefix: [UInt8]

        func value(_ index: Int) -> [UInt8] {
            let number = from &+ UInt32(truncatingIfNeeded: index)
            var bytes = prefix
            bytes.reserveCapacity(prefix.count + width)
            for place in (0..<width).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (place * 8))) }
            return bytes
        }
    }

    /// Many bytes in blocks, the same each time, of which each says its place: the byte at place p is the exclusive or of the four
    /// lowest bytes of p.
    package struct Pattern: Hashable, Sendable {
        /// In all.
        package var bytes: Int
        /// The bytes of a value; the last may have fewer.
        package var block: Int

        var count: Int { (bytes + block - 1) / block }

        func value(_ index: Int) -> [UInt8] {
            let start = index * block
            let end = min(start + block, bytes)
            guard start % 256 == 0 else { return (start..<end).map { Self.byte($0) } }
            // Of 256 bytes from a place that 256 divides, all differ from those at 0 by the same bits.
            var value: [UInt8] = []
            value.reserveCapacity(end - start)
            for place in stride(from: start, to: end, by: 256) {
                value += Self.rows[Int(Self.byte(place))]
            }
            value.removeLast(value.count - (end - start))
            return value
        }

        /// 256 bytes in order, each changed by the same bits.
        private static let rows: [[UInt8]] = (0..<256).map { bits in (0..<256).map { UInt8($0 ^ bits) } }

        /// The byte at a place.
        package static func byte(_ place: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: place ^ place >> 8 ^ place >> 16 ^ place >> 24)
        }
    }

    /// Where a peripheral stands in its timetable.
    package struct Position: Hashable, Codable, Sendable {
        var entry = 0
        var index = 0

        package init() {}
    }

    package var entries: [Entry] = []
    /// Begin again after the last value, with the pause of the first entry.
    package var repeats = false

    package init() {}

    /// The pause before the value at a position; nil after the last.
    package func pause(before position: Position) -> Instant.Span? {
        guard entries.indices.contains(position.entry) else { return nil }
        let entry = entries[position.entry]
        return position.index == 0 ? entry.after : entry.every
    }

    /// The value at a position, and the next position.
    package func take(_ position: inout Position) -> [UInt8]? {
        guard entries.indices.contains(position.entry) else { return nil }
        let values = entries[position.entry].values
        let value =
            switch values {
            case .list(let list): list[position.index]
            case .counter(let counter): counter.value(position.index)
            case .pattern(let pattern): pattern.value(position.index)
            }
        position.index += 1
        if position.index == values.count {
            position.index = 0
            position.entry += 1
            if repeats && position.entry == entries.count { position.entry = 0 }
        }
        return value
    }

    /// Whether there is a value at a position, or it is the end.
    package func holds(_ position: Position) -> Bool {
        if position.entry == entries.count { return position.index == 0 }
        return entries.indices.contains(position.entry)
            && (0..<entries[position.entry].values.count).contains(position.index)
    }

    /// Whether some time passes before it would begin again.
    package var takesTime: Bool {
        entries.contains { $0.after > .zero || ($0.every > .zero && $0.values.count > 1) }
    }
}

import WakeDevices
import WakeModel

/// The values that a device sends of itself, each with its own time, so that one less leaves the others where they are.
struct ShrinkTimetable {
    /// Where the list stands in its file.
    let path: YAMLNode.Path
    private let values: [(at: Int64, value: YAMLNode)]
    /// More are left as they are.
    private static let limit = 20_000
    private static let lists: Set<String> = ["notifications", "send"]
    private static let keys: Set<String> = ["after", "every", "values", "counter"]

    var count: Int { values.count }

    /// All of a device file.
    static func all(in root: YAMLNode) -> [ShrinkTimetable] {
        found(in: root, at: []).compactMap { path in root[path].flatMap { ShrinkTimetable($0, at: path) } }
    }

    /// How many values the lists of a device file have.
    static func count(in root: YAMLNode) -> Int {
        found(in: root, at: []).reduce(0) { sum, path in
            sum + (root[path]?.children.reduce(0) { $0 + length($1) } ?? 0)
        }
    }

    private static func found(in node: YAMLNode, at path: YAMLNode.Path) -> [YAMLNode.Path] {
        node.children.indices.flatMap { number in
            let isList = node.entries.indices.contains(number) && lists.contains(node.entries[number].key)
            let child = node.children[number]
            let isTimetable =
                isList
                && child.children.allSatisfy { entry in
                    !entry.entries.isEmpty && entry.entries.allSatisfy { keys.contains($0.key) }
                }
            return isTimetable ? [path + [number]] : found(in: child, at: path + [number])
        }
    }

    private static func length(_ entry: YAMLNode) -> Int {
        entry["values"]?.children.count ?? entry["counter"]?["count"]?.scalar.flatMap { Int($0) } ?? 0
    }

    /// Nil for a list that is too long or says what this does not know.
    private init?(_ list: YAMLNode, at path: YAMLNode.Path) {
        self.path = path
        var values: [(at: Int64, value: YAMLNode)] = []
        var now: Int64 = 0
        for entry in list.children {
            guard values.count + Self.length(entry) <= Self.limit, let own = Self.values(entry) else { return nil }
            let after = Self.time(entry["after"]) ?? 0
            let every = Self.time(entry["every"] ?? entry["counter"]?["every"]) ?? 0
            for (number, value) in own.enumerated() {
                now += number == 0 ? after : every
                values.append((now, value))
            }
        }
        self.values = values
    }

    private static func time(_ node: YAMLNode?) -> Int64? {
        node?.scalar.flatMap(DurationText.span)?.nanoseconds
    }

    /// The values of an entry, as the file would list them.
    private static func values(_ entry: YAMLNode) -> [YAMLNode]? {
        if let values = entry["values"] { return values.children }
        guard let counter = entry["counter"], let count = counter["count"]?.scalar.flatMap({ Int($0) }) else {
            return nil
        }
        let from = counter["from"]?.scalar.flatMap { UInt32($0) } ?? 0
        let width = counter["width"]?.scalar.flatMap { Int($0) } ?? 2
        let prefix = counter["prefix"]?.scalar ?? "00"
        return (0..<count).map { number in
            let value = UInt64(from &+ UInt32(truncatingIfNeeded: number)) & (1 << UInt64(8 * width) - 1)
            let digits = String(value, radix: 16)
            return .scalar(prefix + String(repeating: "0", count: 2 * width - digits.count) + digits, quoted: true)
        }
    }

    /// The list with the values of these numbers alone, each at the time that it had.
    func keeping(_ numbers: [Int]) -> YAMLNode {
        var last: Int64 = 0
        return .sequence(
            numbers.map { number in
                let pause = Instant.Span(nanoseconds: values[number].at - last)
                last = values[number].at
                return .mapping([
                    "after": .scalar(DurationText.text(pause)), "values": .sequence([values[number].value]),
                ])
            }
        )
    }
}

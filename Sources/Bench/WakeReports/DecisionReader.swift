import WakeJSON
import WakeModel

/// Reads decisions from the lines of a log.
///
/// A day has a hundred thousand of them, so a record of a shape that was read before is a copy of that one with the new values in it.
struct DecisionReader {
    private var lines = ShapedLines()
    private var patterns: [Int: Pattern] = [:]
    private var texts = TextPool()
    private let keepsChecks: Bool

    /// - Parameter checks: false leaves the checks out, which are most of a record.
    init(checks: Bool = true) { keepsChecks = checks }

    /// A record of a shape, and what its values are.
    private struct Pattern {
        var record: DecisionRecord
        var fields: [Field]
    }

    /// The shapes so far, in the order of their numbers, as JSON.
    var shapes: [[UInt8]] { lines.shapes.sorted { $0.key < $1.key }.map(\.value.text) }

    /// Takes over the shapes of the lines before, in the order of their numbers.
    mutating func adopt(shapes: [[UInt8]]) {
        lines = ShapedLines(shapes)
    }

    /// The decision of a line; nil for any other line, such as one that is cut or unknown.
    mutating func record(of line: [UInt8]) -> DecisionRecord? {
        switch lines.take(line) {
        case .shape(let number):
            patterns[number] = nil
            return nil
        case .broken: return nil
        case .whole: return decision(line)
        case .values(let number): return record(shape: number, line)
        }
    }

    private mutating func record(shape number: Int, _ line: [UInt8]) -> DecisionRecord? {
        if var record = patterns[number]?.record, fill(&record, number, line) { return record }
        guard let shape = lines.shapes[number], let record = decision(shape.record(line, lines.values)) else {
            return nil
        }
        let checks = keepsChecks ? record.checks.count : nil
        if patterns[number] == nil, let fields = Field.all(of: shape, checks: checks) {
            patterns[number] = Pattern(record: record, fields: fields)
        }
        return record
    }

    private func decision(_ record: [UInt8]) -> DecisionRecord? {
        guard var decision = JSONValue(parsing: record).flatMap(DecisionRecord.init) else { return nil }
        if !keepsChecks { decision.checks = [] }
        return decision
    }

    /// Puts the values into their fields; false when one is not what its field holds.
    private mutating func fill(_ record: inout DecisionRecord, _ number: Int, _ line: [UInt8]) -> Bool {
        guard let fields = patterns[number]?.fields else { return false }
        for (position, field) in fields.enumerated() {
            let value = Value(line: line, range: lines.values[position])
            guard fill(&record, field, value) else { return false }
        }
        return true
    }

    private mutating func fill(_ record: inout DecisionRecord, _ field: Field, _ value: Value) -> Bool {
        switch field {
        case .ignored: return true
        case .id: return Self.set(&record.id, value.id.map(DecisionID.init))
        case .at: return Self.set(&record.at, value.instant)
        case .event: return Self.set(&record.event, value.id.map(EventID.init))
        case .parent: return Self.set(&record.parent, value.id.map(EventID.init))
        case .supersedes: return Self.set(&record.supersedes, value.id.map(DecisionID.init))
        case .subject: return Self.set(&record.subject, texts.text(value))
        case .origin: return Self.set(&record.origin, texts.text(value))
        case .bundle: return Self.set(&record.app, texts.text(value))
        case .restoreIdentifier: return Self.set(&record.restoreIdentifier, texts.text(value))
        case .stateSince: return Self.set(&record.stateSince, value.instant)
        case .generation: return Self.set(&record.generation, value.integer.map(UInt32.init(clamping:)))
        case .exit:
            guard record.lastExit != nil, let text = texts.text(value) else { return false }
            record.lastExit?.id = text
            return true
        case .exitAt:
            guard record.lastExit != nil, let instant = value.instant else { return false }
            record.lastExit?.at = instant
            return true
        case .apps: return Self.set(&record.census.apps, value.integer.map(Int.init(clamping:)))
        case .woke: return Self.set(&record.census.woke, value.integer.map(Int.init(clamping:)))
        case .reasonCount(let place):
            return Self.set(&record.census.byReason[place].count, value.integer.map(Int.init(clamping:)))
        case .since(let place): return Self.set(&record.checks[place].since, value.instant)
        case .setBy(let place): return Self.set(&record.checks[place].setBy, texts.text(value))
        case .figure(let place, let name):
            // Only a decisive check is quoted with its figures.
            if record.checks[place].decisive { record.checks[place].figures[name] = value.integer }
            return true
        case .limit: return Self.set(&record.budget, value.integer, \.limit)
        case .used: return Self.set(&record.budget, value.integer, \.used)
        case .left: return Self.set(&record.budget, value.integer, \.left)
        }
    }

    private static func set<Kind>(_ field: inout Kind, _ value: Kind?) -> Bool {
        guard let value else { return false }
        field = value
        return true
    }

    private static func set<Kind>(_ field: inout Kind?, _ value: Kind?) -> Bool {
        guard let value else { return false }
        field = value
        return true
    }

    private static func set(
        _ budget: inout DecisionRecord.Budget?,
        _ value: Int64?,
        _ part: WritableKeyPath<DecisionRecord.Budget, Int64>
    ) -> Bool {
        guard let value, budget != nil else { return false }
        budget?[keyPath: part] = value
        return true
    }
}

/// What a value of a decision is.
private enum Field {
    case id, at, event, parent, supersedes, subject, origin, bundle, restoreIdentifier, stateSince, generation
    case exit, exitAt, apps, woke, limit, used, left
    /// By its place in the census.
    case reasonCount(Int)
    // By the place of the check.
    case since(Int), setBy(Int), figure(Int, String)
    /// Readers do not need it.
    case ignored

    /// What the values of a shape are, in order; nil when one is none of these.
    ///
    /// - Parameter checks: how many checks the record has; nil when they are left out.
    static func all(of shape: RecordShape, checks: Int?) -> [Field]? {
        guard let record = JSONValue(parsing: shape.text) else { return nil }
        if let checks, record["checks"]?.array.count != checks { return nil }
        var paths: [(path: [String], place: Int)] = []
        collect(record, [], 0, &paths)
        let fields = paths.compactMap { path, place in
            checks == nil && path.first == "checks" ? .ignored : field(path, place)
        }
        return fields.count == shape.valueCount ? fields : nil
    }

    /// Finds the places of values: their keys, and the place in the list or object that they are in.
    private static func collect(
        _ value: JSONValue,
        _ path: [String],
        _ place: Int,
        _ paths: inout [(path: [String], place: Int)]
    ) {
        switch value {
        case .string(let text): if text.hasPrefix("$") { paths.append((path, place)) }
        case .array(let values):
            let isChecks = path == ["checks"]
            for (position, value) in values.enumerated() {
                collect(value, isChecks ? path : path + ["[]"], isChecks ? position : place, &paths)
            }
        case .object(let members):
            for (position, member) in members.enumerated() {
                let isCounted = path == ["census", "by_reason"]
                collect(member.value, path + [isCounted ? "*" : member.key], isCounted ? position : place, &paths)
            }
        case .null, .bool, .integer, .large, .number: break
        }
    }

    private static func field(_ path: [String], _ place: Int) -> Field? {
        switch path.joined(separator: " ") {
        case "seq", "interest registered_at": .ignored
        case "id": .id
        case "t": .at
        case "event id": .event
        case "event parent": .parent
        case "event subject": .subject
        case "event origin": .origin
        case "app bundle": .bundle
        case "app since": .stateSince
        case "app generation": .generation
        case "app last_exit id": .exit
        case "app last_exit t": .exitAt
        case "interest restore_id": .restoreIdentifier
        case "supersedes": .supersedes
        case "census apps": .apps
        case "census woke": .woke
        case "census by_reason *": .reasonCount(place)
        case "checks since": .since(place)
        case "checks set_by": .setBy(place)
        case "budget limit_ms": .limit
        case "budget used_ms": .used
        case "budget left_ms": .left
        default: isFigure(path) ? .figure(place, path[path.count - 1]) : nil
        }
    }

    /// Whether it is a member of a check, or of what the check observed.
    private static func isFigure(_ path: [String]) -> Bool {
        guard path.first == "checks", path.last != "[]" else { return false }
        return path.count == 2 || path.count == 3 && path[1] == "observed"
    }
}

/// One value of a line, as JSON.
struct Value {
    let line: [UInt8]
    let range: Range<Int>

    init(line: [UInt8], range: Range<Int>) {
        self.line = line
        self.range = range
    }

    /// The scalar after a key at an offset, which moves behind it; nil when there is none.
    init?(_ line: [UInt8], after key: [UInt8], _ offset: inout Int) {
        guard ShapedLines.skip(key, line, &offset), let end = ShapedLines.scalarEnd(line, offset, line.count) else {
            return nil
        }
        self.init(line: line, range: offset..<end)
        offset = end
    }

    /// The whole number, as far as 18 digits go.
    var integer: Int64? {
        var offset = range.lowerBound
        let isNegative = line[offset] == 0x2d
        if isNegative { offset += 1 }
        guard let number = LogTime.whole(line, &offset, range.upperBound), offset == range.upperBound else {
            return nil
        }
        return isNegative ? -Int64(number) : Int64(number)
    }

    /// The number of `"d-000412"`, `"e-000398"` or `"x-17"`.
    var id: UInt64? {
        guard range.count > 4, line[range.lowerBound] == 0x22, line[range.lowerBound + 2] == 0x2d else { return nil }
        var offset = range.lowerBound + 3
        let number = LogTime.whole(line, &offset, range.upperBound - 1)
        return offset == range.upperBound - 1 ? number : nil
    }

    /// The instant of `"T+02:14:07.250"`.
    var instant: Instant? {
        guard range.count > 2, line[range.lowerBound] == 0x22 else { return nil }
        return LogTime.instant(line, (range.lowerBound + 1)..<(range.upperBound - 1))
    }
}

/// Texts that occur again and again, each kept once.
struct TextPool {
    private var slots = [(bytes: ArraySlice<UInt8>, text: String)?](repeating: nil, count: 4096)

    /// The text of a JSON string; nil when the value is none.
    mutating func text(_ value: Value) -> String? {
        let (line, range) = (value.line, value.range)
        guard range.count >= 2, line[range.lowerBound] == 0x22 else { return nil }
        let bytes = line[range]
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let slot = Int(truncatingIfNeeded: (hash ^ hash >> 32) & 4095)
        if let kept = slots[slot], kept.bytes == bytes { return kept.text }
        guard let text = JSONValue(parsing: Array(bytes))?.string else { return nil }
        // A slice would keep its whole line.
        slots[slot] = (Array(bytes)[...], text)
        return text
    }
}

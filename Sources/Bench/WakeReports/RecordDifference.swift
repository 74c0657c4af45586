import WakeJSON
import WakeModel

/// In what two records differ that ought to be the same, byte for byte.
package struct RecordDifference: Hashable, Sendable {
    /// One field that is another.
    package struct Field: Hashable, Sendable {
        /// Where it stands, such as `verdict` or `checks BTC-10 observed`.
        package var path: String
        /// As JSON; nil where the record has no such field.
        package var left: String?
        package var right: String?

        package init(path: String, left: String?, right: String?) {
            (self.path, self.left, self.right) = (path, left, right)
        }
    }

    /// The place in the log, counted from 1.
    package let number: Int
    /// The records in full; nil where there is none.
    package let left: String?
    package let right: String?
    /// In the order of the records; empty where one of them is missing, or is no JSON.
    package let fields: [Field]

    /// - Parameter number: the place of both, counted from 1.
    package init(number: Int, left: [UInt8]?, right: [UInt8]?) {
        self.number = number
        self.left = left.map { String(decoding: $0, as: UTF8.self) }
        self.right = right.map { String(decoding: $0, as: UTF8.self) }
        guard let left = left.flatMap(JSONValue.init(parsing:)), let right = right.flatMap(JSONValue.init(parsing:))
        else {
            fields = []
            return
        }
        var fields: [Field] = []
        Self.compare(left, right, at: "", into: &fields)
        self.fields = fields
    }

    private static func compare(_ left: JSONValue?, _ right: JSONValue?, at path: String, into fields: inout [Field]) {
        guard left != right else { return }
        switch (left, right) {
        case (.object, .object):
            for (key, one, other) in paired(left?.members ?? [], right?.members ?? []) {
                compare(one, other, at: path.isEmpty ? key : "\(path) \(key)", into: &fields)
            }
        case (.array(let ones), .array(let others)):
            let names = (ones.count >= others.count ? ones : others).map { $0["rule"]?.string }
            for (place, name) in names.enumerated() {
                let one = place < ones.count ? ones[place] : nil
                let other = place < others.count ? others[place] : nil
                compare(one, other, at: "\(path) \(name ?? "\(place + 1)")", into: &fields)
            }
        default: fields.append(Field(path: path, left: left.map(\.text), right: right.map(\.text)))
        }
    }

    /// The members of both, those of the left in their order, then what only the right has.
    private static func paired(
        _ left: [JSONValue.Member],
        _ right: [JSONValue.Member]
    ) -> [(key: String, left: JSONValue?, right: JSONValue?)] {
        let known = Set(left.map(\.key))
        let both = left.map { member in (member.key, member.value, right.last { $0.key == member.key }?.value) }
        return both + right.filter { !known.contains($0.key) }.map { ($0.key, nil, $0.value) }
    }

    // MARK: In words

    /// The most fields that are named; the others are counted.
    private static let shown = 6

    /// Two lines for people: which record, and what each of the two has.
    ///
    /// - Parameters:
    ///   - total: how many records there are.
    ///   - names: what the two are called, such as `the log`.
    package func text(of total: Int, names: (String, String)) -> String {
        "record \(number) of \(total) differs: \(place)\n  \(what(names))"
    }

    /// Which record it is, by what should be there.
    private var place: String {
        guard let record = (right ?? left).flatMap({ JSONValue(parsing: Array($0.utf8)) }) else { return "no JSON" }
        let event = record["event"]
        let happening = [event?["kind"]?.string, event?["subject"]?.string].compactMap { $0 }.filter { !$0.isEmpty }
        let app = record["app"]?["bundle"]?.string ?? "no app"
        return "\(record["id"]?.string ?? "no id") at \(record["t"]?.string ?? "no time"), \(app), "
            + happening.joined(separator: " ") + (event?["id"]?.string.map { " (\($0))" } ?? "")
    }

    private func what(_ names: (String, String)) -> String {
        guard left != nil else { return "\(names.0) has no such record; \(names.1) gives it" }
        guard right != nil else { return "\(names.1) gives no such record" }
        if let id = fields.first(where: { $0.path == "id" }) {
            return "\(names.0) has \(id.left ?? "another") in its place"
        }
        guard !fields.isEmpty else { return "the same values, written in other bytes" }
        let told = fields.prefix(Self.shown).map { field in
            "\(field.path): \(names.0) has \(field.left ?? "none"), \(names.1) gives \(field.right ?? "none")"
        }
        let rest = fields.count - told.count
        return told.joined(separator: "; ") + (rest > 0 ? "; and \(rest) more field\(rest == 1 ? "" : "s")" : "")
    }
}

extension JSONValue {
    /// As it stands in a line, without spaces.
    var text: String {
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

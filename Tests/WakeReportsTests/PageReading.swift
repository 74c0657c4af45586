import Foundation
import WakeJSON
import WakeModel

@testable import WakeReports

/// The data of a page, read as its script reads it.
struct PageReading {
    let text: String
    let runs: [[String: Any]]
    let comparison: [String: Any]?

    enum Failure: Error { case data, column(String), record(Int) }

    /// - Throws: where the data of a run is no JSON.
    init(_ bytes: [UInt8]) throws {
        text = String(decoding: bytes, as: UTF8.self)
        runs = try Self.objects("run", text)
        comparison = try Self.objects("comparison", text).first
    }

    private static func objects(_ name: String, _ text: String) throws -> [[String: Any]] {
        let start = "<script type=\"application/json\" class=\"\(name)\">"
        return try text.components(separatedBy: start).dropFirst().map { rest in
            let data = Data((rest.components(separatedBy: "</script>").first ?? "").utf8)
            guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
                throw Failure.data
            }
            return object
        }
    }

    /// The numbers of a column, such as `decisions time`.
    func column(_ path: String, of run: Int = 0) throws -> [UInt64] {
        var value: Any? = runs[run]
        for key in path.split(separator: " ") { value = (value as? [String: Any])?[String(key)] }
        guard let text = value as? String, let numbers = Self.numbers(text) else { throw Failure.column(path) }
        return numbers
    }

    /// The sums of a column of differences.
    func sums(_ path: String, of run: Int = 0) throws -> [Int64] {
        var sum: Int64 = 0
        return try column(path, of: run).map { number in
            sum += Self.signed(number)
            return sum
        }
    }

    static func numbers(_ base64: String) -> [UInt64]? {
        guard let bytes = Base64.decode(Array(base64.utf8).span) else { return nil }
        var numbers: [UInt64] = []
        var (number, shift) = (UInt64(0), UInt64(0))
        for byte in bytes {
            number |= UInt64(byte & 0x7f) << shift
            shift += 7
            if byte < 0x80 {
                numbers.append(number)
                (number, shift) = (0, 0)
            }
        }
        return shift == 0 ? numbers : nil
    }

    static func signed(_ number: UInt64) -> Int64 { Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }

    /// A list of lists, such as `rulings`, as texts with spaces between them.
    func list(_ name: String, of run: Int = 0) -> [String] {
        (runs[run][name] as? [[Any]] ?? []).map { $0.map { "\($0)" }.joined(separator: " ") }
    }

    func texts(_ name: String, of run: Int = 0) -> [String] { runs[run][name] as? [String] ?? [] }

    /// The bands of a track, such as `10000000000 locked`.
    static func bands(_ track: Any?) -> [String] {
        ((track as? [String: Any])?["bands"] as? [[Any]] ?? []).map { $0.map { "\($0)" }.joined(separator: " ") }
    }

    // MARK: Records

    /// All records in full, put together from their shapes and values.
    func records(of run: Int = 0) throws -> [String] {
        guard let evidence = runs[run]["evidence"] as? [String: Any],
            let fragments = evidence["fragments"] as? [String],
            let texts = evidence["texts"] as? [String], let shapes = evidence["shapes"] as? [[Any]],
            let block = evidence["block"] as? Int, let rows = (evidence["rows"] as? String)
        else { throw Failure.data }
        let bytes = Base64.decode(Array(rows.utf8).span) ?? []
        let (times, ids) = (try sums("decisions time", of: run), try sums("decisions number", of: run))
        let events = try sums("decisions event", of: run)
        var starts = try column("evidence starts", of: run)[...]
        var (offset, start) = (0, 0)
        func next() throws -> UInt64 {
            var (number, shift) = (UInt64(0), UInt64(0))
            while offset < bytes.count {
                number |= UInt64(bytes[offset] & 0x7f) << shift
                (offset, shift) = (offset + 1, shift + 7)
                if bytes[offset - 1] < 0x80 { return number }
            }
            throw Failure.data
        }
        let records = try ids.indices.map { row in
            if row % block == 0 {
                start += Int(starts.popFirst() ?? 0)
                guard start == offset else { throw Failure.record(row) }
            }
            let shape = shapes[Int(try next())]
            var places = Array((shape[1] as? String ?? "").utf8)[...]
            return try (shape[0] as? [Int] ?? []).map { part in
                if part > 0 { return fragments[part - 1] }
                let place = Evidence.Place(rawValue: (places.popFirst() ?? 0) - 0x30) ?? .text
                let value = place == .own ? 0 : Self.signed(try next())
                return Self.text(place, value, texts, (times[row], ids[row], events[row]))
            }
            .joined()
        }
        guard offset == bytes.count else { throw Failure.data }
        return records
    }

    private static func text(
        _ place: Evidence.Place,
        _ value: Int64,
        _ texts: [String],
        _ record: (time: Int64, id: Int64, event: Int64)
    ) -> String {
        var line = LineBuffer()
        switch place {
        case .text: line.append(raw: texts[Int(value)])
        case .integer: line.append(value)
        case .instant: line.append(quoted: Instant(nanoseconds: record.time - value))
        case .decision: line.append(DecisionID(UInt64(record.id - value)))
        case .event: line.append(EventID(UInt64(record.event - value)))
        case .exit: line.append(exit: UInt64(value))
        case .own: line.append(record.id)
        }
        return line.text
    }
}

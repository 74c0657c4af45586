import WakeModel

/// Writes decisions as `wake.decision/2` records: virtual time and the router's facts only, in a fixed order, so that two
/// runs with the same header are the same bytes.
///
/// What many records share is written once, as a `wake.shape/1` line before the first of them: a record with `"$0"`, `"$1"` and so
/// on in place of its values. A record is then a line such as `{"shape":3,"values":[412,"d-000412"]}`. ``ShapedLines`` puts them
/// together again.
package final class DecisionLog {
    fileprivate let file: LogFile
    let names: (NameID) -> String
    let fragments: DecisionFragments
    /// Names as quoted JSON, by number.
    var quotedNames: [[UInt8]] = []
    private var shapes = ShapeIndex()
    private var record = ShapedRecord()
    static let allChecks = Check.allCases

    /// Makes the file at `path`. `profile` is what the router decides by, and `names` gives the text of a name.
    package convenience init(
        creating path: String,
        header: LogHeader,
        profile: Profile,
        names: @escaping (NameID) -> String
    ) throws(ReportError) {
        try self.init(file: LogFile(creating: path), header: header, profile: profile, names: names)
        file.line.append(line: header)
        try file.endLine()
        // From now on the file is known for what it is.
        try file.flush()
    }

    /// Keeps the lines in memory: see ``contents``.
    package convenience init(header: LogHeader, profile: Profile, names: @escaping (NameID) -> String) {
        self.init(file: LogFile(), header: header, profile: profile, names: names)
        file.line.append(line: header)
        file.line.append(byte: 0x0a)
    }

    /// Goes on with the file of a run that broke off. A last line without an end is removed.
    ///
    /// - Parameter place: how far it had come at the snapshot that the run goes on from; what stands before is not read.
    /// - Returns: with the log, the last decision that the file holds after the place: those after it come from the
    ///   journal.
    package static func continuing(
        _ path: String,
        header: LogHeader,
        profile: Profile,
        names: @escaping (NameID) -> String,
        from place: DecisionLogPlace = DecisionLogPlace()
    ) throws(ReportError) -> (log: DecisionLog, last: DecisionID) {
        var length = place.length
        var last = DecisionID.none
        var reader = DecisionReader()
        reader.adopt(shapes: place.shapes)
        do {
            var lines = try LineReader(path, from: place.length)
            while let line = try lines.next() {
                length = lines.offset
                if let record = reader.record(of: line) { last = record.id }
            }
        } catch  where error.kind == .missing && place.length == 0 {
            return (try DecisionLog(creating: path, header: header, profile: profile, names: names), .none)
        }
        if length == 0 {
            return (try DecisionLog(creating: path, header: header, profile: profile, names: names), .none)
        }
        let file = try LogFile(continuing: path, after: length)
        let log = DecisionLog(file: file, header: header, profile: profile, names: names)
        for shape in reader.shapes { log.shapes.insert(shape) }
        return (log, last)
    }

    private init(file: LogFile, header: LogHeader, profile: Profile, names: @escaping (NameID) -> String) {
        self.file = file
        self.names = names
        fragments = DecisionFragments(header, profile: profile)
    }

    /// How far the file has come; all that was appended is in it.
    package var place: DecisionLogPlace { DecisionLogPlace(length: file.length, shapes: shapes.texts) }

    /// - Throws: ``ReportError`` where the file was removed or renamed, or another has its name.
    package func requireInPlace() throws(ReportError) { try file.requireInPlace() }

    /// The lines that have not been written: all of them when the log is in memory.
    package var contents: String { file.line.text }

    /// The records of ``contents``, each in full, in order.
    package var records: [[UInt8]] {
        var shapes = ShapedLines()
        return file.line.bytes.split(separator: 0x0a).dropFirst().compactMap { shapes.record(of: Array($0)) }
    }

    /// The number of a record that stands in full, of this version or an older one; nil for another line.
    package static func number(of record: [UInt8]) -> DecisionID? {
        guard let start = numberPrefixes.first(where: { record.starts(with: $0) }) else { return nil }
        var offset = start.count
        return LogTime.whole(record, &offset, record.count).map { DecisionID($0) }
    }

    private static let numberPrefixes = DecisionRecord.schemas.map { Array("{\"schema\":\"\($0)\",\"seq\":".utf8) }

    /// Appends the decisions of one turn, in order. Decisions of one event that follow each other share a census.
    package func append(batch: ArraySlice<Decision>) throws(ReportError) {
        var start = batch.startIndex
        while start < batch.endIndex {
            var end = start + 1
            while end < batch.endIndex, batch[end].event == batch[start].event { end += 1 }
            let census = Census(batch[start..<end])
            for position in start..<end {
                try write(batch[position], census: census)
            }
            start = end
        }
    }

    private func write(_ decision: Decision, census: Census) throws(ReportError) {
        record.begin(writingShape: false)
        write(decision, census: census, into: &record)
        if let number = shapes.number(of: record.signature) { return try writeValues(number) }
        let signature = record.signature
        record.begin(writingShape: true)
        write(decision, census: census, into: &record)
        guard let (number, isNew) = shapes.number(of: record.shape.bytes, signature: signature) else {
            file.line.append(RecordShape(record.shape.bytes)?.record(record.values.bytes) ?? [])
            return try file.endLine()
        }
        if isNew {
            file.line.append(ShapedLines.shapePrefix)
            file.line.append(UInt64(number))
            file.line.append(ShapedLines.recordKey)
            file.line.append(record.shape.bytes)
            file.line.append("}")
            try file.endLine()
        }
        try writeValues(number)
    }

    /// The line of the record, whose shape the log has.
    private func writeValues(_ shape: Int) throws(ReportError) {
        file.line.append(ShapedLines.valuesPrefix)
        file.line.append(UInt64(shape))
        file.line.append(ShapedLines.valuesKey)
        file.line.append(record.values.bytes)
        file.line.append("]}")
        try file.endLine()
    }

    /// From now on only what stands before the latest ``settle()`` reaches the file.
    package func hold() { file.hold() }

    /// What was appended so far has happened for good.
    package func settle() throws(ReportError) { try file.settle() }

    /// Whether the next ``settle()`` writes to the file.
    package var isLong: Bool { file.isLong }

    /// Writes what has come together to the file.
    package func flush() throws(ReportError) {
        try file.flush()
    }
}

/// How far a log of decisions has come.
package struct DecisionLogPlace: Codable {
    /// In bytes.
    package private(set) var length = 0
    /// The shapes that its lines speak of, in the order of their numbers.
    fileprivate var shapes: [[UInt8]] = []

    /// The beginning.
    package init() {}

    fileprivate init(length: Int, shapes: [[UInt8]]) {
        self.length = length
        self.shapes = shapes
    }
}

/// Writes decisions as records that stand in full, for whoever hears of them as they are made.
package final class DecisionRecords {
    private let log: DecisionLog
    private var shapes = ShapedLines()

    package init(header: LogHeader, profile: Profile, names: @escaping (NameID) -> String) {
        log = DecisionLog(header: header, profile: profile, names: names)
        log.clear()
    }

    /// A record for each decision, in order.
    package func records(of decisions: [Decision]) -> [[UInt8]] {
        // Nothing is written to a file.
        try? log.append(batch: decisions[...])
        defer { log.clear() }
        return log.lines.compactMap { shapes.record(of: Array($0)) }
    }
}

extension DecisionLog {
    fileprivate var lines: [ArraySlice<UInt8>] { file.line.bytes.split(separator: 0x0a) }

    fileprivate func clear() { file.line.removeAll() }
}

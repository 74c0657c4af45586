import WakeJSON

/// Reads or writes the fields of a message, so that each is named once, for both directions.
///
/// While writing, a field's value is written and given back, in the order of the calls. While reading, the value given
/// does not count, and the packet's comes back. Null counts as absent; keys nobody asks for are ignored.
struct FieldCoder {
    /// The object that is read; nil while writing.
    private var fields: Fields?
    /// The objects around the one that is read.
    private var outer: [Fields] = []
    /// Where fields are written.
    var writer: JSONWriter

    /// Reads from an object.
    init(reading fields: Fields) {
        self.fields = fields
        writer = JSONWriter()
    }

    /// Writes after the bytes of a buffer.
    init(writingAfter buffer: consuming [UInt8]) {
        writer = JSONWriter(reusing: buffer)
    }

    /// Appends a message to a buffer that the caller reuses.
    static func append(_ message: some CodedByWord, to buffer: inout [UInt8]) {
        var message = message
        var coder = FieldCoder(writingAfter: buffer)
        buffer = []
        do throws(WireError) {
            try coder.writeObject { (coder) throws(WireError) in
                try coder.message("type", of: &message, unknown: WireError.unknownType)
            }
        } catch {
            preconditionFailure("only a reader refuses: \(error)")
        }
        buffer = coder.writer.bytes
    }

    fileprivate mutating func writeObject(_ code: (inout FieldCoder) throws(WireError) -> Void) throws(WireError) {
        writer.openObject()
        try code(&self)
        writer.closeObject()
    }

    // MARK: Fields

    /// A field that may be absent: nil is not written.
    mutating func field<Value>(
        _ key: StaticString,
        _ value: Value?,
        _ shape: FieldShape<Value>
    ) throws(WireError) -> Value? {
        if let fields {
            guard let found = fields.value(key) else {
                return nil
            }
            return try shape.read(found)
        }
        if let value {
            writer.key(key)
            try shape.write(&self, value)
        }
        return value
    }

    /// A field that is always written; where it is absent, it means the usual value.
    ///
    /// - Throws: ``WireError/missing(key:)`` where it is absent and must be there, since there is no usual value.
    mutating func field<Value>(
        _ key: StaticString,
        _ value: Value,
        _ shape: FieldShape<Value>,
        absent usual: Value? = nil
    ) throws(WireError) -> Value {
        guard let value = try field(key, Optional(value), shape) ?? usual else {
            throw .missing(key: key.description)
        }
        return value
    }

    /// A field that is written only where it is not the usual value, which it means where it is absent.
    mutating func field<Value: Equatable>(
        _ key: StaticString,
        _ value: Value,
        _ shape: FieldShape<Value>,
        omitted usual: Value
    ) throws(WireError) -> Value {
        try field(key, value == usual ? nil : value, shape) ?? usual
    }

    // MARK: Fields of a structure

    mutating func field<Value>(
        _ key: StaticString,
        of value: inout Value?,
        _ shape: FieldShape<Value>
    ) throws(WireError) {
        value = try field(key, value, shape)
    }

    mutating func field<Value>(
        _ key: StaticString,
        of value: inout Value,
        _ shape: FieldShape<Value>,
        absent usual: Value? = nil
    ) throws(WireError) {
        value = try field(key, value, shape, absent: usual)
    }

    mutating func field<Value: Equatable>(
        _ key: StaticString,
        of value: inout Value,
        _ shape: FieldShape<Value>,
        omitted usual: Value
    ) throws(WireError) {
        value = try field(key, value, shape, omitted: usual)
    }

    // MARK: Words and objects

    /// Reads or writes the fields of a structure among those of this object; gives the structure back.
    mutating func coded<Value: CodedByFields>(_ value: Value) throws(WireError) -> Value {
        var value = value
        try value.code(&self)
        return value
    }

    /// The word that tells which of several messages this is, and the fields that belong to it; read, the message becomes
    /// the one of that word.
    ///
    /// - Throws: What `unknown` makes of a word that is none of theirs.
    mutating func message<Message: CodedByWord>(
        _ key: StaticString,
        of message: inout Message,
        unknown: (String) -> WireError
    ) throws(WireError) {
        let isReading = fields != nil
        let word = try field(key, isReading ? "" : message.word, .text)
        if isReading {
            guard let blank = Message.byWord[word] else {
                throw unknown(word)
            }
            message = blank
        }
        try message.code(&self)
    }

    /// Goes into an object of this one, until ``leave()``; false where it is absent.
    mutating func enter(_ key: StaticString) throws(WireError) -> Bool {
        guard let around = fields else {
            writer.key(key)
            writer.openObject()
            return true
        }
        guard let inner = around.value(key) else {
            return false
        }
        fields = try inner.object()
        outer.append(around)
        return true
    }

    /// Goes into an object of this one that must be there, until ``leave()``.
    mutating func enterRequired(_ key: StaticString) throws(WireError) {
        guard try enter(key) else {
            throw .missing(key: key.description)
        }
    }

    /// Goes back to the object around this one.
    mutating func leave() {
        if fields == nil {
            writer.closeObject()
        } else {
            fields = outer.removeLast()
        }
    }

    /// Whether the object that is read has the field; nil while writing.
    func holds(_ key: StaticString) -> Bool? {
        fields.map { $0.value(key) != nil }
    }
}

/// What has fields.
protocol CodedByFields {
    /// Reads or writes the fields, in the order in which they are written.
    mutating func code(_ coder: inout FieldCoder) throws(WireError)
}

extension CodedByFields {
    /// The name of an enum's case, without what belongs to it.
    var caseName: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}

/// A structure of the wire: an object, or some fields of one.
protocol Coded: CodedByFields {
    /// A value whose fields are still to be read.
    static var blank: Self { get }
}

/// Messages of which each is known by a word, with the fields that belong to it.
protocol CodedByWord: CodedByFields {
    /// Each of them with fields that are still to be read, by its word.
    static var byWord: [String: Self] { get }

    /// The word: the name of the case, unless it says otherwise.
    var word: String { get }
}

extension CodedByWord {
    var word: String { caseName }

    /// The messages by their words, no two of which are the same.
    static func table(_ blanks: [Self]) -> [String: Self] {
        Dictionary(uniqueKeysWithValues: blanks.map { ($0.word, $0) })
    }
}

/// Requests or events of one area.
protocol AreaMessage: CodedByFields {
    /// What the words of all of them begin with.
    static var area: String { get }

    /// Each of them with fields that are still to be read.
    static var blanks: [Self] { get }
}

extension AreaMessage {
    /// The word that each is known by: the area, and the name of the case.
    var word: String { "\(Self.area).\(caseName)" }
}

extension FieldShape where Value: Coded {
    /// An object.
    static var object: FieldShape {
        FieldShape { (found) throws(WireError) in
            try found.structure()
        } write: { (coder, value) throws(WireError) in
            try coder.writeObject { (coder) throws(WireError) in _ = try coder.coded(value) }
        }
    }
}

extension FieldShape {
    /// An array of objects.
    static func list<Element: Coded>(atMost limit: Int = .max) -> FieldShape where Value == [Element] {
        FieldShape { (found) throws(WireError) in
            let list: [Element] = try found.structures()
            guard list.count <= limit else {
                throw found.bad("at most \(limit) of them")
            }
            return list
        } write: { (coder, list) throws(WireError) in
            coder.writer.openArray()
            for element in list {
                try coder.writeObject { (coder) throws(WireError) in _ = try coder.coded(element) }
            }
            coder.writer.closeArray()
        }
    }
}

extension FieldValue {
    fileprivate func structure<Value: Coded>() throws(WireError) -> Value {
        var coder = FieldCoder(reading: try object())
        return try coder.coded(Value.blank)
    }

    fileprivate func structures<Element: Coded>() throws(WireError) -> [Element] {
        try elements().map { (element) throws(WireError) in
            guard element.isObject else {
                throw wrong("an array of objects")
            }
            return try element.structure()
        }
    }
}

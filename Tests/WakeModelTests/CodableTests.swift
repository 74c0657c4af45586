import Testing
import WakeModel

/// One of each shape that a coded type can have.
private struct Shapes: Hashable, Codable {
    enum Number: UInt8, CaseIterable, Codable { case one, two }
    enum Word: String, CaseIterable, Codable { case early, late }
    enum Choice: Hashable, Codable {
        case nothing
        case named(first: NameID, second: Number = .one)
        case plain(Int64, String?)
        case list([Choice?])
    }
    struct Set8: OptionSet, Hashable, Codable { var rawValue: UInt8 }

    var flag = false
    var small: Int8 = 0
    var whole = 0
    var natural: UInt = 0
    var wide: UInt64 = 0
    var float: Float = 0
    var number = Number.one
    var word: Word?
    var set: Set8 = []
    var text: String?
    var maybe: Bool?
    var name: NameID?
    var choice = Choice.nothing
    var bytes: [UInt8] = []
    var holes: [UInt16?] = []
    var lists: [[String]] = []
    var members: Set<NameID> = []
    var table: [EventID: String] = [:]
    private var hidden: Double?

    init() {}

    init(_ random: inout SeededGenerator) {
        flag = random.flag()
        small = random.signed()
        whole = random.signed()
        natural = random.number()
        wide = random.number()
        float = Float(random.below(1000)) / 8
        number = random.any()
        word = random.optional { $0.any() }
        set = Set8(rawValue: random.number())
        text = random.optional { $0.text() }
        maybe = random.optional { $0.flag() }
        name = random.optional { $0.name() }
        choice = Self.choice(&random, depth: 3)
        bytes = random.data()
        holes = random.list { $0.optional { $0.number() } }
        lists = random.list { $0.list { $0.text() } }
        members = Set(random.names())
        table = Dictionary(random.list { ($0.event(), $0.text()) }) { first, _ in first }
        hidden = random.optional { Double($0.below(1000)) }
    }

    private static func choice(_ random: inout SeededGenerator, depth: Int) -> Choice {
        switch random.below(depth > 0 ? 4 : 3) {
        case 0: .nothing
        case 1: .named(first: random.name(), second: random.any())
        case 2: .plain(random.signed(), random.optional { $0.text() })
        default: .list(random.list { $0.optional { choice(&$0, depth: depth - 1) } })
        }
    }
}

/// What goes as deep as its bytes say.
private indirect enum Nested: Hashable, Codable {
    case end
    case deeper(Nested)

    static func nested(_ depth: Int) -> Nested { depth == 0 ? .end : .deeper(nested(depth - 1)) }
}

@Suite("Types that are coded as the compiler says of them")
struct CodableTests {
    private func shapes(_ seed: UInt64) -> Shapes {
        var random = SeededGenerator(state: seed)
        return Shapes(&random)
    }

    @Test("Each shape reads back as it was written")
    func roundTrip() throws {
        for seed in 0..<500 as Range<UInt64> {
            let shapes = shapes(seed)
            #expect(try ByteReader.read(from: ByteWriter.bytes(of: shapes)) == shapes, "seed \(seed)")
        }
    }

    @Test("Bytes cut anywhere are refused")
    func cut() throws {
        for seed in 0..<50 as Range<UInt64> {
            let bytes = ByteWriter.bytes(of: shapes(seed))
            for length in bytes.indices {
                let fault = #expect(throws: EncodingFault.self, "seed \(seed) cut at \(length)") {
                    try ByteReader.read(Shapes.self, from: Array(bytes[..<length]))
                }
                #expect(fault.map { $0.kind == .cut && $0.offset <= length } == true, "\(fault as Any) at \(length)")
            }
        }
    }

    @Test("Scrambled bytes are read or refused, and what is read stays itself")
    func scrambled() throws {
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededGenerator(state: seed)
            var bytes = ByteWriter.bytes(of: Shapes(&random))
            for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
            guard let once: Shapes = try? ByteReader.read(from: bytes) else { continue }
            #expect(try ByteReader.read(from: ByteWriter.bytes(of: once)) == once, "seed \(seed)")
        }
    }

    @Test("Equal values are equal bytes, in whatever order they were put together")
    func order() {
        let names = (0..<200 as Range<UInt32>).map { NameID($0 &* 2_654_435_761) }
        var (upwards, downwards) = (Shapes(), Shapes())
        for name in names {
            upwards.members.insert(name)
            upwards.table[EventID(UInt64(name.number))] = "\(name)"
        }
        for name in names.reversed() {
            downwards.members.insert(name)
            downwards.table[EventID(UInt64(name.number))] = "\(name)"
        }
        #expect(ByteWriter.bytes(of: upwards) == ByteWriter.bytes(of: downwards))
    }

    @Test("A struct takes no more bytes than its fields, a case its name")
    func compact() {
        #expect(ByteWriter.bytes(of: SDKVersion(9, 3)) == [9, 3])
        #expect(ByteWriter.bytes(of: Shapes.Choice.nothing) == [7] + Array("nothing".utf8))
        #expect(ByteWriter.bytes(of: [nil, 300] as [UInt16?]) == [2, 0, 1, 0xac, 0x02])
    }

    @Test("A case, a number of a case and a flag that stand for nothing are refused, with their place")
    func unknown() {
        #expect(throws: EncodingFault(.unknownValue, at: 1)) {
            try ByteReader.read([Shapes.Choice].self, from: [1, 4] + Array("none".utf8))
        }
        #expect(throws: EncodingFault(.unknownValue, at: 1)) {
            try ByteReader.read([Shapes.Number].self, from: [1, 2])
        }
        #expect(throws: EncodingFault(.unknownValue, at: 1)) { try ByteReader.read([Bool?].self, from: [1, 2, 1]) }
        #expect(throws: EncodingFault(.badText, at: 0)) { try ByteReader.read(Shapes.Choice.self, from: [1, 0xff]) }
    }

    @Test("A number too large for its place is refused")
    func narrow() {
        let bytes = ByteWriter.bytes(of: UInt64(UInt32.max) + 1)
        #expect(throws: EncodingFault(.unknownValue, at: 0)) { try ByteReader.read(UInt32.self, from: bytes) }
        let signed = ByteWriter.bytes(of: Int64(-129))
        #expect(throws: EncodingFault(.unknownValue, at: 0)) { try ByteReader.read(Int8.self, from: signed) }
    }

    @Test("A count larger than the bytes left reserves nothing and is refused")
    func greedyCount() {
        let bytes = ByteWriter.bytes(of: UInt64(1) << 62)
        #expect(throws: EncodingFault(.cut, at: 0)) { try ByteReader.read([String].self, from: bytes) }
        #expect(throws: EncodingFault(.cut, at: 0)) { try ByteReader.read([UInt8].self, from: bytes) }
        #expect(throws: EncodingFault(.cut, at: 0)) { try ByteReader.read(Set<NameID>.self, from: bytes) }
        #expect(throws: EncodingFault(.cut, at: 0)) { try ByteReader.read([EventID: String].self, from: bytes) }
    }

    @Test("A key without its value is refused")
    func halfEntry() {
        #expect(throws: EncodingFault(.unknownValue, at: 1)) {
            try ByteReader.read([EventID: String].self, from: [1, 5])
        }
    }

    @Test("Values deeper within each other than any that is written are refused")
    func depth() throws {
        let shallow = Nested.nested(20)
        #expect(try ByteReader.read(from: ByteWriter.bytes(of: shallow)) == shallow)
        let deep = ByteWriter.bytes(of: Nested.nested(2_000))
        // A level is the length of `deeper` and its letters.
        #expect(throws: EncodingFault(.unknownValue, at: 32 * 7)) { try ByteReader.read(Nested.self, from: deep) }
    }

    @Test("Where an optional is wanted, none is read as if it were there")
    func optional() throws {
        var reader = ByteReader([0, 1, 5, 0])
        var (none, some, text): (AppID?, AppID?, String?) = (AppID(9), nil, "")
        none = try reader.read()
        some = try reader.read()
        text = try reader.read()
        try reader.finish()
        #expect(none == nil && some == AppID(5) && text == nil)
    }

    @Test("The number of a name that there is not is refused, however deep it lies")
    func names() throws {
        let choice = [Shapes.Choice.named(first: NameID(5))]
        let bytes = ByteWriter.bytes(of: choice)
        #expect(try ByteReader.read(from: bytes, names: 5) == choice)
        #expect(throws: EncodingFault(.unknownValue, at: 7)) {
            try ByteReader.read([Shapes.Choice].self, from: bytes, names: 4)
        }
    }
}

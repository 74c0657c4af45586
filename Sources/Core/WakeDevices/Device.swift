/// A device as a file of its kind describes it.
package protocol Device: Hashable, Sendable {
    /// What such a file says that it is.
    static var kind: String { get }
    /// What errors call it, with its article.
    static var article: String { get }
    /// What a device of another kind lacks, such as `has no connections`.
    static var lack: String { get }
    /// The keys of such a file beside `device`.
    static var keys: [String] { get }

    /// What its faults do.
    associatedtype Effect: FaultEffect

    init(_ fields: Fields) throws(FileError)
    /// Reads the files, too, that the device file names.
    ///
    /// - Parameter read: gives the bytes of a file.
    init(_ fields: Fields, _ read: (String) throws(FileError) -> [UInt8]) throws(FileError)

    /// The path of the file.
    var file: String { get }
    /// In the order of the file.
    var faults: [DeviceFault<Effect>] { get }
    /// As a device of a scenario.
    var form: DeviceFile { get }
    /// What a scenario's `count` makes of it: the same thing, with the next numbers.
    func copy(_ number: Int) -> Self
}

extension Device {
    package static var article: String { "a device" }

    package func copy(_ number: Int) -> Self { self }

    package init(_ fields: Fields, _ read: (String) throws(FileError) -> [UInt8]) throws(FileError) {
        try self.init(fields)
    }

    var faultNames: [String] { faults.map(\.name) }

    /// Reads a device file.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    package static func load(file: String) throws(FileError) -> Self {
        try parse(try InputFile.read(file), file: file)
    }

    /// Reads the text of a device file; `file` is for errors.
    package static func parse(_ bytes: [UInt8], file: String) throws(FileError) -> Self {
        try Self(try YAMLReader.read(bytes, file: file))
    }

    /// Reads the tree of a device file.
    init(_ root: YAMLNode) throws(FileError) { try self.init(try Self.fields(root)) }

    /// Reads the tree of a device file, and the files that it names.
    init(_ root: YAMLNode, _ read: (String) throws(FileError) -> [UInt8]) throws(FileError) {
        try self.init(try Self.fields(root), read)
    }

    static func fields(_ root: YAMLNode) throws(FileError) -> Fields {
        let fields = try Fields(root, of: article, keys: ["device"] + keys)
        _ = try fields.required("device").word("kind of device", of: [kind]) { $0 }
        return fields
    }
}

/// A way in which a device can misbehave once armed.
package struct DeviceFault<Effect: FaultEffect>: Hashable, Sendable {
    package var name: String
    package var effect: Effect
}

/// What an armed fault does.
package protocol FaultEffect: Hashable, Sendable {
    /// What a fault can do: the key of each effect.
    static var effects: [String] { get }
    /// The keys that some effects have beside.
    static var extras: [String] { get }

    /// Reads an effect.
    init(_ effect: String, _ value: YAMLNode, _ fields: Fields) throws(FileError)
}

extension FaultEffect {
    package static var extras: [String] { [] }
}

extension Fields {
    /// The faults of a device.
    func faults<Effect: FaultEffect>(limit: Int = 256) throws(FileError) -> [DeviceFault<Effect>] {
        var faults: [DeviceFault<Effect>] = []
        for node in try self["faults"]?.list(expecting: "faults", limit: limit) ?? [] {
            let fields = try Fields(node, of: "a fault", keys: ["name"] + Effect.extras + Effect.effects)
            let name = try fields.required("name").text(expecting: "a name")
            let (effect, value) = try fields.one(of: Effect.effects, called: "an effect")
            let fault = DeviceFault(name: name, effect: try Effect(effect, value, fields))
            if faults.contains(where: { $0.name == name }) {
                throw node.error(found: "a second fault '\(name)'", expected: "another name")
            }
            faults.append(fault)
        }
        return faults
    }
}

extension DeviceFile {
    /// Reads a device file of any kind.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    package static func load(file: String) throws(FileError) -> DeviceFile {
        try load(file: file) { (path) throws(FileError) in try InputFile.read(path) }
    }

    /// The same, where `read` gives the bytes of the file and of those that it names.
    static func load(file: String, read: (String) throws(FileError) -> [UInt8]) throws(FileError) -> DeviceFile {
        try parse(try read(file), file: file, read: read)
    }

    /// Reads the text of a device file of any kind; `file` is for errors.
    package static func parse(_ bytes: [UInt8], file: String) throws(FileError) -> DeviceFile {
        try parse(bytes, file: file) { (path) throws(FileError) in try InputFile.read(path) }
    }

    private static func parse(
        _ bytes: [UInt8],
        file: String,
        read: (String) throws(FileError) -> [UInt8]
    ) throws(FileError) -> DeviceFile {
        let root = try YAMLReader.read(bytes, file: file)
        guard case .mapping(let entries) = root.content else { throw root.error(expected: "a mapping, a device") }
        guard let kind = entries.first(where: { $0.key == "device" })?.value else {
            throw root.error(
                found: "a device without 'device'",
                expected: "its kind, \(kinds.map { $0.kind }.joined(separator: " or "))"
            )
        }
        return try kind.word("kind of device", of: kinds) { $0.kind }.init(root, read).form
    }

    /// The path of the file.
    package var file: String { device.file }
}

extension ScenarioDevice {
    /// The device of a kind that a step or an app needs; the error stands where it is named.
    func need<Kind: Device>(_ kind: Kind.Type, for node: YAMLNode) throws(FileError) -> Kind {
        guard let device = form.device as? Kind else {
            throw node.error(found: "'\(name)', which \(Kind.lack)", expected: "a device of kind \(Kind.kind)")
        }
        return device
    }

    func checkFault(_ fault: String, _ node: YAMLNode) throws(FileError) {
        let known = form.device.faultNames
        if known.contains(fault) { return }
        if phone != nil {
            throw node.error(found: "a fault of '\(name)', which is a phone", expected: "a device of a file")
        }
        throw node.error(
            found: "unknown fault '\(excerpt(fault))' of \(name)",
            expected: known.isEmpty ? "an entry under faults in \(form.file)" : suggestion(for: fault, among: known)
        )
    }
}

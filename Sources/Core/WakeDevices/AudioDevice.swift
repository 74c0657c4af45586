import WakeModel

/// A headset or sound card, as a device file of kind `audio-device` describes it.
package struct AudioDevice: Hashable, Sendable {
    /// The kind of device that such a file names.
    package static let kind = "audio-device"

    /// The path of the device file.
    package var file: String
    /// For people, and what apps read as the port's name.
    package var name: String
    /// Nil for a microphone alone.
    package var output: AudioPortKind?
    /// Nil for one that only plays.
    package var input: AudioPortKind?
    package var hears: Sound
    /// Whether it is plugged in when the run begins.
    package var plugged: Bool
    /// The identifier of the sound card that is the device on a real end, such as `Loopback`.
    package var card: String?
    package var faults: [Fault]

    /// What its microphone hears.
    package enum Sound: Hashable, Sendable {
        case silence
        /// A sine of half the full range, in hertz.
        case tone(Double)
    }

    /// A way in which the device can misbehave once armed.
    package struct Fault: Hashable, Sendable {
        package var name: String
        package var effect: Effect
    }

    /// What an armed fault does.
    package enum Effect: Hashable, Sendable {
        /// It is pulled out, whatever plays.
        case removed
        /// So many buffers of everyone who plays come late, whatever the apps do.
        case underruns(UInt32)
    }
}

extension AudioDevice {
    /// Reads a device file.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    package static func load(file: String) throws(FileError) -> AudioDevice {
        try AudioDevice(try YAMLReader.read(try InputFile.read(file), file: file))
    }

    /// Reads the text of a device file; `file` is for errors.
    package static func parse(_ bytes: [UInt8], file: String) throws(FileError) -> AudioDevice {
        try AudioDevice(try YAMLReader.read(bytes, file: file))
    }

    /// Reads the tree of a device file.
    init(_ root: YAMLNode) throws(FileError) {
        let kind = Self.kind
        let fields = try Fields(
            root,
            of: "a sound device",
            keys: ["device", "name", "output", "input", "hears", "plugged", "card", "faults"]
        )
        _ = try fields.required("device").word("kind of device", among: [kind]) { $0 == kind ? $0 : nil }
        file = root.file
        name = try fields.required("name").text(expecting: "a name")
        output = try fields["output"].map { (node) throws(FileError) in
            try Self.port(node, among: [.speaker, .receiver, .headphones, .usb])
        }
        input = try fields["input"].map { (node) throws(FileError) in
            try Self.port(node, among: [.headsetMicrophone, .builtInMicrophone, .usb])
        }
        if output == nil, input == nil {
            throw root.error(found: "a sound device without output and input", expected: "one of both")
        }
        hears = try fields["hears"].map { (node) throws(FileError) in try Sound(node) } ?? .silence
        plugged = try fields["plugged"]?.bool() ?? false
        card = try fields["card"]?.text(expecting: "the identifier of a sound card")
        faults = []
        for node in try fields["faults"]?.list(expecting: "faults", limit: 256) ?? [] {
            let fault = try Fault(node)
            if faults.contains(where: { $0.name == fault.name }) {
                throw node.error(found: "a second fault '\(fault.name)'", expected: "another name")
            }
            faults.append(fault)
        }
    }

    private static func port(_ node: YAMLNode, among kinds: [AudioPortKind]) throws(FileError) -> AudioPortKind {
        try node.word("kind of port", among: kinds.map(\.word)) { word in kinds.first { $0.word == word } }
    }
}

extension AudioDevice.Sound {
    init(_ node: YAMLNode) throws(FileError) {
        if case .scalar("silence", _) = node.content {
            self = .silence
            return
        }
        let fields = try Fields(node, of: "what a microphone hears", keys: ["tone"])
        self = .tone(try fields.required("tone").number(in: 1...20_000, "a frequency in hertz"))
    }
}

extension AudioDevice.Fault {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a fault", keys: ["name", "removed", "underruns"])
        name = try fields.required("name").text(expecting: "a name")
        let (key, value) = try fields.one(of: ["removed", "underruns"], called: "an effect")
        if key == "underruns" {
            effect = .underruns(UInt32(try value.integer(in: 1...100_000)))
        } else {
            guard try value.bool() else { throw value.error(expected: "true") }
            effect = .removed
        }
    }
}

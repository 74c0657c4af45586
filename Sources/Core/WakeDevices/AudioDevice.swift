import WakeModel

/// A headset or sound card, as a device file of kind `audio-device` describes it.
package struct AudioDevice: Hashable, Sendable {
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
    package var faults: [DeviceFault<Effect>]

    /// What its microphone hears.
    package enum Sound: Hashable, Sendable {
        case silence
        /// A sine of half the full range, in hertz.
        case tone(Double)
    }

    /// What an armed fault does.
    package enum Effect: Hashable, Sendable {
        /// It is pulled out, whatever plays.
        case removed
        /// So many buffers of everyone who plays come late, whatever the apps do.
        case underruns(UInt32)
    }
}

extension AudioDevice: Device {
    package static let kind = "audio-device"
    package static let article = "a sound device"
    package static let lack = "is no sound device"
    package static let keys = ["name", "output", "input", "hears", "plugged", "card", "faults"]

    package var form: DeviceFile { .audio(self) }

    package init(_ fields: Fields) throws(FileError) {
        file = fields.node.file
        name = try fields.required("name").text(expecting: "a name")
        let outputs: [AudioPortKind] = [.speaker, .receiver, .headphones, .usb]
        output = try fields["output"]?.word("kind of port", of: outputs, \.word)
        let inputs: [AudioPortKind] = [.headsetMicrophone, .builtInMicrophone, .usb]
        input = try fields["input"]?.word("kind of port", of: inputs, \.word)
        if output == nil, input == nil {
            throw fields.node.error(found: "a sound device without output and input", expected: "one of both")
        }
        hears = try fields.value("hears", Sound.init) ?? .silence
        plugged = try fields["plugged"]?.bool() ?? false
        card = try fields["card"]?.text(expecting: "the identifier of a sound card")
        faults = try fields.faults()
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

extension AudioDevice.Effect: FaultEffect {
    package static let effects = ["removed", "underruns"]

    package init(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) {
        if key == "underruns" {
            self = .underruns(UInt32(try value.integer(in: 1...100_000)))
        } else {
            guard try value.bool() else { throw value.error(expected: "true") }
            self = .removed
        }
    }
}

import WakeModel

/// What a device file describes, by its kind.
package enum DeviceFile: Hashable, Sendable {
    /// `device: bluetooth-peripheral`
    case peripheral(BluetoothPeripheral)
    /// `device: ibeacon`
    case beacon(Beacon)
    /// `device: bluetooth-central`
    case central(BluetoothCentral)
    /// `device: location-track`
    case track(LocationTrack)
    /// `device: audio-device`
    case audio(AudioDevice)
    /// `device: external-accessory`
    case accessory(ExternalAccessory)
    /// `device: call-server`
    case callServer(CallServer)

    private static let kinds = [
        "bluetooth-peripheral", "bluetooth-central", "ibeacon", LocationTrack.kind, CallServer.kind,
        ExternalAccessory.kind, AudioDevice.kind,
    ]

    /// Reads a device file of any kind.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    package static func load(file: String) throws(FileError) -> DeviceFile {
        try parse(try InputFile.read(file), file: file)
    }

    /// Reads the text of a device file of any kind; `file` is for errors.
    package static func parse(_ bytes: [UInt8], file: String) throws(FileError) -> DeviceFile {
        let root = try YAMLReader.read(bytes, file: file)
        guard case .mapping(let entries) = root.content else { throw root.error(expected: "a mapping, a device") }
        guard let kind = entries.first(where: { $0.key == "device" })?.value else {
            throw root.error(
                found: "a device without 'device'",
                expected: "its kind, \(kinds.joined(separator: " or "))"
            )
        }
        switch try kind.word("kind of device", among: kinds, { kinds.contains($0) ? $0 : nil }) {
        case "bluetooth-central": return .central(try BluetoothCentral(root))
        case "ibeacon": return .beacon(try Beacon(root))
        case LocationTrack.kind: return .track(try LocationTrack(root))
        case AudioDevice.kind: return .audio(try AudioDevice(root))
        case ExternalAccessory.kind: return .accessory(try ExternalAccessory(root))
        case CallServer.kind: return .callServer(try CallServer(root))
        default: return .peripheral(try BluetoothPeripheral(root))
        }
    }

    /// What a scenario's `count` makes of this device: the same thing, with the next numbers.
    func copy(_ number: Int) -> DeviceFile {
        switch self {
        case .peripheral(let peripheral): .peripheral(peripheral.copy(number))
        case .beacon(let beacon): .beacon(beacon.copy(number))
        case .central(let central): .central(central.copy(number))
        case .track, .audio: self
        case .accessory(let accessory): .accessory(accessory.copy(number))
        case .callServer: self
        }
    }

    /// The path of the file.
    package var file: String {
        switch self {
        case .peripheral(let peripheral): peripheral.file
        case .beacon(let beacon): beacon.file
        case .central(let central): central.file
        case .track(let track): track.file
        case .audio(let device): device.file
        case .accessory(let accessory): accessory.file
        case .callServer(let server): server.file
        }
    }

    /// The names of its faults, in the order of the file.
    package var faults: [String] {
        switch self {
        case .peripheral(let peripheral): peripheral.faults.map(\.name)
        case .beacon(let beacon): beacon.faults.map(\.name)
        case .central(let central): central.faults.map(\.name)
        case .track(let track): track.faults.map(\.name)
        case .audio(let device): device.faults.map(\.name)
        case .accessory(let accessory): accessory.faults.map(\.name)
        case .callServer(let server): server.faults.map(\.name)
        }
    }

    /// The call server that it is; nil for a device of another kind.
    package var callServer: CallServer? {
        if case .callServer(let server) = self { server } else { nil }
    }
}

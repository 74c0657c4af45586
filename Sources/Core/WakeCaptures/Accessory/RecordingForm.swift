/// What umockdev writes of devices, told apart by the first line that is neither empty nor a comment.
package enum RecordingForm: String, CaseIterable, Sendable {
    /// Devices with their properties and attributes, as `umockdev-record DEVICE` prints them.
    case dump = "umockdev"
    /// What was read of a device and written to it (`--script`).
    case script = "umockdev-script"
    /// What was asked of a device by ioctl (`--ioctl`), of which nothing is read.
    case ioctl = "umockdev-ioctl"
    /// Events of an input device (`--evemu-events`), of which nothing is read.
    case evemu

    package var name: String {
        switch self {
        case .dump: "umockdev dump"
        case .script: "umockdev script"
        case .ioctl: "umockdev ioctl recording"
        case .evemu: "evemu recording"
        }
    }

    /// The most bytes of such a file.
    package static let byteLimit = 16 << 20

    /// The form of a file, by how it begins; nil when it is none.
    package static func detect(_ beginning: [UInt8]) -> RecordingForm? {
        if beginning.starts(with: "# EVEMU ".utf8) { return .evemu }
        // A first line that is longer than the beginning is known by how it starts.
        let lines = beginning.split(separator: UInt8(ascii: "\n"))
        guard let line = lines.first(where: { $0.first != UInt8(ascii: "#") }) else { return nil }
        if line.starts(with: "P: /devices/".utf8) { return .dump }
        if line.starts(with: "@DEV ".utf8) || line.starts(with: "USBDEVFS_".utf8) || line.starts(with: "EVIOC".utf8) {
            return .ioctl
        }
        if line.starts(with: "N: ".utf8) && lines.contains(where: { $0.starts(with: "I: ".utf8) }) { return .evemu }
        if line.starts(with: "E: ".utf8) { return .evemu }
        return AccessoryScript.Line(line) == nil ? nil : .script
    }
}

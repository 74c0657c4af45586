import WakeBench
import WakeCaptures
import WakeDevices
import WakeModel
import WakeReports

/// What an import says of the captures that it read.
struct ImportSummary {
    /// One of the files that were read.
    struct File {
        var path: String
        var format: CaptureFormat
        var records = 0
        /// Where it could not be read any further.
        var damage: CaptureDamage?

        init(path: String, format: CaptureFormat) { (self.path, self.format) = (path, format) }

        /// One line for people; nil for a file that was read to its end.
        var damageLine: String? { damage.map { "\(path): damaged at byte \($0.offset): \($0.found)" } }
    }

    let reading: CaptureReading
    var files: [File] = []
    /// The device that the file is made of.
    var chosen: CapturedDevice?
    var lift: PeripheralLift?
    /// The device file that was written.
    var written: String?

    private static let mostDevices = 20

    init(reading: CaptureReading) { self.reading = reading }

    /// What stands at the beginning of a device file.
    var comments: [String] {
        files.map { "From \($0.path): \($0.format.name), \($0.records) records" } + (lift?.comments ?? [])
    }

    // MARK: For people

    func lines() -> [String] {
        var lines: [String] = []
        for file in files {
            lines.append("\(file.path): \(file.format.name), \(Self.counted(file.records, "record"))")
            if let damage = file.damageLine { lines.append("\(damage); what stands before it is kept") }
        }
        lines.append(records)
        lines += devices
        if let chosen { lines += links(chosen) + characteristics }
        lines += skipped
        if let lift, let chosen {
            if let written {
                let name = chosen.addressText ?? "the device"
                lines.append("\(written): \(name), \(Self.counted(lift.values, "notification"))")
            }
            lines += lift.notes.map { "note: \($0)" }
        }
        return lines.map(TerminalText.escaped)
    }

    private static func counted(_ number: Int, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }

    private var records: String {
        let kinds = CaptureRecord.Kind.allCases.compactMap { kind in
            reading.records[kind].map { "\(Self.word(kind)) \($0)" }
        }
        return "records: \(kinds.isEmpty ? "none" : kinds.joined(separator: ", ")) in \(DurationText.text(span))"
    }

    /// From the first record to the last, in whole milliseconds.
    private var span: Instant.Span {
        guard let first = reading.first, let last = reading.last else { return .zero }
        return .milliseconds((last - first) / 1_000_000)
    }

    private static func word(_ kind: CaptureRecord.Kind) -> String {
        switch kind {
        case .command: "commands"
        case .event: "events"
        case .acl: "ACL"
        case .synchronous: "SCO"
        case .isochronous: "ISO"
        case .linkLayer: "link layer"
        case .network: "network"
        case .controllerAdded: "controllers added"
        case .controllerRemoved: "controllers removed"
        case .note: "notes"
        case .unread: "not read"
        case .unknown: "unknown"
        }
    }

    private var devices: [String] {
        let all = reading.devices
        if all.isEmpty { return ["devices: none"] }
        let shown = all.prefix(Self.mostDevices).map { device in
            let mark = device === chosen ? "*" : " "
            let name = device.name.map { " \($0)" } ?? ""
            return "\(mark) \(device.addressText ?? "address not shown")\(name): "
                + "\(Self.counted(device.advertising.reports, "advertisement")), "
                + "\(Self.counted(device.connectionCount, "link")), \(Self.counted(device.operations, "ATT packet")), "
                + Self.counted(device.notifications, "notification")
        }
        let rest = all.count > shown.count ? ["  and \(all.count - shown.count) more"] : []
        return ["devices:"] + shown + rest
    }

    private func links(_ device: CapturedDevice) -> [String] {
        guard let start = reading.first, !device.connections.isEmpty else { return [] }
        let shown = device.connections.prefix(Self.mostDevices).enumerated().map { place, link in
            "  \(place + 1): \(link.text(since: start))"
        }
        let rest = device.connectionCount - shown.count
        return ["links:"] + shown + (rest > 0 ? ["  and \(rest) more"] : [])
    }

    private var characteristics: [String] {
        guard let lift, let chosen, !lift.peripheral.services.isEmpty else { return [] }
        let counts = chosen.counts
        let shown = counts.map { count in
            "  \(count.service) \(count.characteristic): notified \(count.notified), indicated \(count.indicated), "
                + "written \(count.written)\(count.isRead ? ", read" : "")"
        }
        return ["characteristics:"] + shown
    }

    private var skipped: [String] {
        let known = CaptureReading.Skip.allCases.compactMap { why in
            reading.skipped[why].map { "  \($0) \(why.rawValue)" }
        }
        let unread = reading.unread.sorted { $0.key < $1.key }
        let shown = known + unread.map { "  \($0.value) \(Self.unread($0.key))" }
        return shown.isEmpty ? [] : ["skipped:"] + shown
    }

    private static func unread(_ linkType: UInt16) -> String { "packets of link type \(linkType), which is not read" }

    // MARK: For programs

    private struct Page: Encodable {
        struct Device: Encodable {
            var address: String?
            var name: String?
            var advertisements: Int
            var attPackets: Int
            var notifications: Int
            var links: [String]
            var characteristics: [CapturedDevice.Count]
            var isChosen: Bool
        }
        var ok = true
        var schema = "wakebench.import/1"
        var files: [CapturePage]
        var records: [String: Int]
        var milliseconds: Int64
        var devices: [Device]
        var skipped: [String: Int]
        var written: String?
        var notes: [String]
    }

    /// One JSON object.
    func json() throws(CommandFailure) -> String {
        let start = reading.first ?? 0
        let page = Page(
            files: files.map(CapturePage.init),
            records: Dictionary(uniqueKeysWithValues: reading.records.map { (Self.word($0.key), $0.value) }),
            milliseconds: span.milliseconds,
            devices: reading.devices.map { device in
                Page.Device(
                    address: device.addressText,
                    name: device.name,
                    advertisements: device.advertising.reports,
                    attPackets: device.operations,
                    notifications: device.notifications,
                    links: device.connections.map { $0.text(since: start) },
                    characteristics: device.counts,
                    isChosen: device === chosen
                )
            },
            skipped: Dictionary(uniqueKeysWithValues: reading.skipped.map { ($0.key.rawValue, $0.value) })
                .merging(reading.unread.map { (Self.unread($0.key), $0.value) }) { $0 + $1 },
            written: written,
            notes: lift?.notes ?? []
        )
        return try Output.json(page: page)
    }
}

/// What a page for programs says of a capture that was read.
struct CapturePage: Encodable {
    struct Damage: Encodable {
        var offset: Int
        var found: String
    }
    var path: String
    var format: String
    var records: Int
    var damage: Damage?

    init(_ file: ImportSummary.File) {
        (path, format, records) = (file.path, file.format.rawValue, file.records)
        damage = file.damage.map { Damage(offset: $0.offset, found: $0.found) }
    }
}

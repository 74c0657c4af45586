import WakeDevices

/// What a check says of devices, for people and for programs.
struct DeviceReport {
    private(set) var findings: [(subject: String, finding: PeripheralFinding)] = []
    private(set) var unjudged: [(subject: String, what: [String])] = []
    private var devices = 0

    /// Adds what was found about a device.
    ///
    /// - Parameter subject: its file, or its address.
    mutating func add(_ subject: String, _ findings: [PeripheralFinding], unjudged: [String]) {
        devices += 1
        self.findings += findings.map { (subject, $0) }
        if !unjudged.isEmpty { self.unjudged.append((subject, unjudged)) }
    }

    // MARK: For people

    var lines: [String] {
        let found = findings.map { subject, finding in
            let row = finding.guideline.row
            let place = Self.place(finding.place, of: subject)
            return "\(place): \(finding.guideline.rawValue): \(finding.found); \(row.remedy)  [\(row.section)]"
        }
        let silent = unjudged.map { "\($0.subject): not shown and not judged: \($0.what.joined(separator: ", "))" }
        return found + silent + [summary]
    }

    private static func place(_ place: PeripheralFinding.Place, of subject: String) -> String {
        switch place {
        case .line(let line): "\(subject):\(line)"
        case .frame(let frame, let time, let file): "\(file): frame \(frame) at \(DurationText.text(time))"
        case .part(let part): "\(subject): \(part)"
        }
    }

    private var summary: String {
        let devices = devices == 1 ? "1 device" : "\(devices) devices"
        return findings.isEmpty
            ? "\(devices), nothing found"
            : "\(devices), \(findings.count) \(findings.count == 1 ? "finding" : "findings")"
    }

    // MARK: For programs

    /// One object.
    struct Page: Encodable {
        struct Finding: Encodable {
            /// The device file, or the capture; none of a live device.
            var file: String?
            /// Of a device file.
            var line: Int?
            var place: Place?
            var device: String?
            var guideline: String
            var edition: String
            var section: String
            var found: String
            var remedy: String
        }

        struct Place: Encodable {
            /// Of a capture, counted from 1.
            var frame: Int?
            /// Since the first frame, in seconds.
            var seconds: Double?
            /// Of a live device.
            var part: String?
        }

        struct Unjudged: Encodable {
            var device: String
            var what: [String]
        }

        var schema = "wake.device-check/1"
        var ok: Bool
        var findings: [Finding]
        var unjudged: [Unjudged]
    }

    var page: Page {
        Page(
            ok: findings.isEmpty,
            findings: findings.map { Self.page($0.finding, of: $0.subject) },
            unjudged: unjudged.map { Page.Unjudged(device: $0.subject, what: $0.what) }
        )
    }

    private static func page(_ finding: PeripheralFinding, of subject: String) -> Page.Finding {
        let row = finding.guideline.row
        var page = Page.Finding(
            guideline: finding.guideline.rawValue,
            edition: row.edition,
            section: row.section,
            found: finding.found,
            remedy: row.remedy
        )
        switch finding.place {
        case .line(let line): (page.file, page.line) = (subject, line)
        case .frame(let frame, let time, let file):
            (page.file, page.device) = (file, subject)
            page.place = Page.Place(frame: frame, seconds: Double(time.nanoseconds) / 1e9)
        case .part(let part): (page.device, page.place) = (subject, Page.Place(part: part))
        }
        return page
    }
}

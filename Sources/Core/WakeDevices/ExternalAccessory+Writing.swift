import WakeModel

extension ExternalAccessory {
    /// The device file that says this: reading it gives the same again, but for ``file`` and the numbers of lines.
    ///
    /// - Parameter comments: lines for people, at the beginning.
    package func text(comments: [String] = []) -> String {
        var file = YAMLText()
        for comment in comments { file.comment(comment) }
        file.line(0, "device: \(Self.kind)")
        let labels = [
            ("name", name), ("manufacturer", manufacturer), ("model", model), ("serial-number", serialNumber),
            ("firmware", firmwareRevision), ("hardware", hardwareRevision),
        ]
        for (key, label) in labels where !label.isEmpty { file.line(0, "\(key): \(YAMLText.quoted(label))") }
        file.line(0, transport.text)
        if !presence.isEmpty {
            file.line(0, "presence:")
            for change in presence {
                file.line(1, "- {\(change.attached ? "attach" : "detach"): \(DurationText.text(change.after))}")
            }
        }
        file.line(0, "protocols:")
        for one in protocols { file.add(one) }
        if !faults.isEmpty {
            file.line(0, "faults:")
            for fault in faults { file.line(1, "- {name: \(YAMLText.quoted(fault.name)), \(fault.effect.text)}") }
        }
        return file.text
    }
}

extension ExternalAccessory.Link {
    fileprivate var text: String {
        switch self {
        case .tty(let interface): return "tty: {interface: \(interface)}"
        case .hid(let hid):
            let report = hid.report.map { "report: \($0), " } ?? ""
            return "hid: {interface: \(hid.interface), \(report)size: \(hid.size)}"
        case .rfcomm(let service, let channel):
            return "rfcomm: {service: \(YAMLText.quoted(service))\(channel.map { ", channel: \($0)" } ?? "")}"
        }
    }
}

extension ExternalAccessory.Effect {
    fileprivate var text: String {
        switch self {
        case .unplugAfterReceived(let bytes, let back): "unplug-after-received: \(bytes)\(Self.text(back))"
        case .unplugAfterSent(let values, let back): "unplug-after-sent: \(values)\(Self.text(back))"
        case .stall(let span): "stall: \(DurationText.text(span))"
        case .garbage(let bytes): "garbage: \(bytes)"
        case .flood(let bytes): "flood: \(bytes)"
        }
    }

    private static func text(_ back: Instant.Span?) -> String {
        back.map { ", back-after: \(DurationText.text($0))" } ?? ""
    }
}

extension YAMLText {
    fileprivate mutating func add(_ one: ExternalAccessory.AccessoryProtocol) {
        line(1, "- protocol: \(one.name)")
        line(2, one.link.text)
        add(one.script.timetable, "send", 2, isText: true)
        if one.script.echo { line(2, "echo: true") }
        if one.script.answers.isEmpty { return }
        line(2, "answers:")
        for answer in one.script.answers {
            line(
                3,
                "- \(Self.text(of: answer.to).map { "text: \(Self.quoted($0))" } ?? "hex: \(Self.quoted(answer.to))")"
            )
            add(answer.timetable, "send", 4, isText: true)
        }
    }
}

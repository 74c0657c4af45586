import WakeDevices
import WakeModel

/// Makes a device file's accessory of what umockdev recorded of a device.
package struct AccessoryLift {
    /// Why nothing can be made of it.
    package struct Failure: Error, Hashable, Sendable {
        package var found: String
        package var remedy: String
    }

    /// What became of one serial port or hidraw device.
    package struct Part: Hashable, Sendable {
        /// Such as `ttyACM0`; nil when nothing says it.
        package var node: String?
        package var name: String
        /// What it says of itself, and what it answers.
        package var sent = 0
        package var answers = 0
    }

    package private(set) var accessory: ExternalAccessory
    package private(set) var parts: [Part] = []
    /// What could not be put into the file, or is assumed, a line each.
    package private(set) var notes: [String] = []

    private let pace: Pace
    /// What is left of the text that values may take.
    private var room = YAMLReader.byteLimit - (1 << 20)

    private static let mostProtocols = 32
    private static let longestValue = 512

    /// - Parameters:
    ///   - name: the name of the protocol; made of the accessory's own name when nil.
    package init(
        _ dump: AccessoryDump?,
        _ scripts: [AccessoryScript],
        pace: Pace = Pace(),
        protocol name: String? = nil
    ) throws(Failure) {
        self.pace = pace
        var ends: [End] = scripts.map { (nil, $0) }
        if let dump { ends = try Self.ends(dump, scripts) }
        guard let first = ends.first else {
            throw Failure(found: "no script and no device", remedy: "give a dump or a script")
        }
        accessory = ExternalAccessory("", .usb(0x1d6b, 0x0104))
        liftIdentity(dump, first.part, script: first.script)
        if let dump, ends.contains(where: { dump.usbDevice(of: $0.part!) != dump.usbDevice(of: first.part!) }) {
            throw Failure(
                found: "\(dump.file): devices of several accessories",
                remedy: "give the dump of one, with its scripts"
            )
        }
        let base = name ?? "com.example.\(Self.word(accessory.name))"
        if name == nil { notes.append("no recording names a protocol; the file says \(base)") }
        for (index, end) in ends.prefix(Self.mostProtocols).enumerated() {
            let node = end.part?.node ?? end.script?.node
            let name = ends.count == 1 ? base : "\(base).\(node.map(Self.word) ?? "\(index + 1)")"
            guard !parts.contains(where: { $0.name == name }) else {
                throw Failure(
                    found: "\(end.script?.file ?? "a script"): a second script of \(node ?? "a device")",
                    remedy: "give one of each device"
                )
            }
            parts.append(Part(node: node, name: name))
            lift(dump, end.part, end.script, index)
        }
        if ends.count > Self.mostProtocols { notes.append("devices beyond the first \(Self.mostProtocols)") }
        if room < 0 { notes.append("a device file has no room for the rest of what was recorded") }
    }

    // MARK: What it is

    private typealias End = (part: AccessoryDump.Part?, script: AccessoryScript?)

    /// The devices of a dump, each with its script; those with one alone where there are scripts.
    private static func ends(_ dump: AccessoryDump, _ scripts: [AccessoryScript]) throws(Failure) -> [End] {
        let known = dump.ends
        guard let first = known.first(where: { dump.usbDevice(of: $0) != nil }) ?? known.first else {
            throw Failure(
                found: "\(dump.file): no serial port and no hidraw device",
                remedy: "record one with umockdev-record /dev/ttyACM0 or /dev/hidraw0"
            )
        }
        if scripts.isEmpty {
            let usb = dump.usbDevice(of: first)
            return known.filter { $0 == first || usb != nil && dump.usbDevice(of: $0) == usb }.map { ($0, nil) }
        }
        var ends: [End] = []
        for script in scripts {
            if let part = known.first(where: { $0.node == script.node }) {
                ends.append((part, script))
            } else if known.count == 1, scripts.count == 1 {
                ends.append((first, script))
            } else {
                let nodes = known.compactMap(\.node).joined(separator: ", ")
                throw Failure(
                    found: "\(script.file): a script of \(script.device ?? "a device that it does not name")",
                    remedy: "the dump has \(nodes)"
                )
            }
        }
        return ends
    }

    private mutating func liftIdentity(_ dump: AccessoryDump?, _ part: AccessoryDump.Part?, script: AccessoryScript?) {
        let parents = part.flatMap { dump?.ancestors(of: $0) } ?? []
        let usb = part.flatMap { dump?.usbDevice(of: $0) }
        let hid = parents.first { $0["HID_ID"] != nil }
        let node = part?.node ?? script?.node
        accessory.name = Self.label(usb?["product"] ?? hid?["HID_NAME"] ?? node) ?? "Accessory"
        accessory.manufacturer = Self.label(usb?["manufacturer"]) ?? ""
        accessory.serialNumber = Self.label(usb?["serial"] ?? hid?["HID_UNIQ"]) ?? ""
        accessory.firmwareRevision = usb?["bcdDevice"].flatMap(Self.release) ?? ""
        if let address = part?["address"].flatMap(Self.address) {
            accessory.transport = .radio(address)
            return
        }
        let identity = hid?["HID_ID"]?.split(separator: ":").map { UInt32($0, radix: 16) ?? 0 } ?? []
        if let vendor = Self.number(usb?["idVendor"]), let product = Self.number(usb?["idProduct"]) {
            let serial = Self.label(usb?["serial"])
            accessory.transport = .usb(vendor, product, serialNumber: serial)
        } else if identity.count == 3, let vendor = UInt16(exactly: identity[1]),
            let product = UInt16(exactly: identity[2])
        {
            accessory.transport = .usb(vendor, product)
            // The number of the bus in the kernel's input.h.
            if identity[0] == 5 { notes.append("its reports came by radio; the file has them on USB") }
        } else {
            notes.append("no recording shows it on USB; the file says 1d6b:0104, the number of a gadget of Linux")
        }
    }

    /// A text that a descriptor can have; nil without any letter.
    private static func label(_ text: String?) -> String? {
        guard let text else { return nil }
        var label = ""
        for character in text where character.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) {
            guard label.utf16.count + character.utf16.count <= 126 else { break }
            label.append(character)
        }
        return label.contains { $0 != " " } ? label : nil
    }

    /// Four digits of the device's release, such as 6.01 of 0601.
    private static func release(_ digits: String) -> String? {
        guard digits.utf8.count == 4, UInt16(digits, radix: 16) != nil else { return nil }
        let major = digits.prefix(2)
        return "\(major.first == "0" ? major.dropFirst() : major).\(digits.suffix(2))"
    }

    private static func number(_ digits: String?) -> UInt16? { digits.flatMap { UInt16($0, radix: 16) } }

    private static func address(_ text: String) -> [UInt8]? {
        let bytes = text.split(separator: ":", omittingEmptySubsequences: false).map {
            $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil
        }
        return bytes.count == 6 && !bytes.contains(nil) ? bytes.compactMap(\.self) : nil
    }

    /// A part of a protocol's name.
    private static func word(_ text: String) -> String {
        let plain = text.unicodeScalars.map { scalar in
            let letter = Character(scalar)
            return scalar.isASCII && (letter.isLetter || letter.isNumber) ? letter : "-"
        }
        let words = String(plain.prefix(64)).lowercased().split(separator: "-")
        return words.isEmpty ? "accessory" : words.joined(separator: "-")
    }

    // MARK: What it does

    private mutating func lift(
        _ dump: AccessoryDump?,
        _ part: AccessoryDump.Part?,
        _ script: AccessoryScript?,
        _ index: Int
    ) {
        var operations =
            script?.operations.filter { operation in
                operation.time >= pace.from && pace.to.map { operation.time <= $0 } ?? true
            } ?? []
        let link = link(dump, part, parts[index].node, &operations)
        var made = self.script(of: operations)
        made.timetable.repeats = pace.loops && made.timetable.takesTime
        parts[index].sent = made.timetable.entries.count
        parts[index].answers = made.answers.count
        if let script, script.fuzz > 0 {
            notes.append("\(script.file) lets \(script.fuzz) % of what is written differ; the file does not")
        }
        if script == nil { notes.append("no script of \(parts[index].node ?? "it"): it says nothing") }
        accessory.protocols.append(.init(parts[index].name, link, made))
    }

    /// What carries the bytes; of reports, what was recorded becomes their data.
    private mutating func link(
        _ dump: AccessoryDump?,
        _ part: AccessoryDump.Part?,
        _ node: String?,
        _ operations: inout [AccessoryScript.Operation]
    ) -> ExternalAccessory.Link {
        if !accessory.transport.isUSB {
            let channel = part?["channel"].flatMap { Int($0) }.flatMap { (1...30).contains($0) ? $0 : nil }
            return .rfcomm(service: "1101", channel: channel)
        }
        let parents = part.flatMap { dump?.ancestors(of: $0) } ?? []
        let digits = parents.lazy.compactMap { $0["bInterfaceNumber"] }.first
        let interface = digits.flatMap { Int($0, radix: 16) }.flatMap { (0...31).contains($0) ? $0 : nil } ?? 0
        let isHID = part.map { $0["SUBSYSTEM"] == "hidraw" } ?? (node?.hasPrefix("hidraw") == true)
        guard isHID else { return .tty(interface: interface) }
        let descriptor = parents.lazy.map(\.reportDescriptor).first { !$0.isEmpty } ?? []
        if descriptor.isEmpty { notes.append("no descriptor of its reports; the file has them without numbers") }
        return .hid(reports(AccessoryReports(descriptor), interface: interface, &operations))
    }

    /// The reports of the number that came most; the others' are left out.
    private mutating func reports(
        _ reports: AccessoryReports,
        interface: Int,
        _ operations: inout [AccessoryScript.Operation]
    ) -> ExternalAccessory.HID {
        let split = operations.map { ($0, reports.split($0.bytes, isRead: $0.isRead)) }
        var counts: [UInt8: Int] = [:]
        for case (let operation, let parts) in split where operation.isRead {
            for case let part? in parts { counts[part.number, default: 0] += 1 }
        }
        let chosen =
            counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
            ?? reports.numbers.first { reports.input[$0] != nil } ?? reports.numbers.first ?? 0
        var (others, damaged, long) = (0, 0, 0)
        operations = split.flatMap { operation, parts in
            parts.compactMap { part -> AccessoryScript.Operation? in
                guard let part else {
                    damaged += 1
                    return nil
                }
                guard part.number == chosen else {
                    others += 1
                    return nil
                }
                // A report is filled with zeros anyway.
                let data = part.data.prefix((part.data.lastIndex { $0 != 0 } ?? 0) + 1)
                if data.count > Self.longestValue && operation.isRead {
                    long += 1
                    return nil
                }
                return .init(isRead: operation.isRead, time: operation.time, bytes: Array(data))
            }
        }
        if others > 0 { notes.append("\(others) reports of other numbers than \(chosen)") }
        if damaged > 0 { notes.append("\(damaged) times bytes that are no report of the descriptor's") }
        if long > 0 {
            notes.append("\(long) reports of more than \(Self.longestValue) bytes, which a file has no value for")
        }
        let longest = operations.map(\.bytes.count).max() ?? 64
        let size = reports.input[chosen] ?? reports.output[chosen] ?? min(longest, 1024)
        return .init(interface, report: reports.numbers.isEmpty || chosen == 0 ? nil : chosen, size: size)
    }

    /// What was read before anything was written it sends of itself; what was read after that is the answer.
    private mutating func script(of operations: [AccessoryScript.Operation]) -> ExternalAccessory.Script {
        var asked: [[UInt8]: Int] = [:]
        var answers: [ExternalAccessory.Answer] = []
        var others = 0
        var rest = operations[...]
        let ofItself = timetable(&rest, since: pace.from)
        while let write = rest.popFirst() {
            // What came last is what an answer is known by.
            let to = Array(write.bytes.suffix(256))
            let answer = timetable(&rest, since: write.time)
            if answer.entries.isEmpty || to.isEmpty { continue }
            if let known = asked[to] {
                if answers[known].timetable != answer { others += 1 }
            } else if answers.count < 64 {
                asked[to] = answers.count
                answers.append(.init(to, answer))
            } else {
                others += 1
            }
        }
        if others > 0 { notes.append("\(others) answers beside the first to the same, or beyond 64") }
        let doubled = answers.filter { answer in
            answers.contains { $0.to != answer.to && $0.to.suffix(answer.to.count).elementsEqual(answer.to) }
        }
        if !doubled.isEmpty { notes.append("\(doubled.count) answers are to what another question ends with as well") }
        return ExternalAccessory.Script(ofItself, answers)
    }

    /// The values up to the next write, with the pauses before them.
    private mutating func timetable(
        _ operations: inout ArraySlice<AccessoryScript.Operation>,
        since start: Instant.Span
    ) -> Timetable {
        var timetable = Timetable()
        var before = start.nanoseconds
        var pauses = PacedPauses(pace)
        while let read = operations.first, read.isRead {
            operations.removeFirst()
            var after = pauses.next(read.time.nanoseconds - before)
            before = read.time.nanoseconds
            for start in stride(from: 0, to: read.bytes.count, by: Self.longestValue) {
                let value = Array(read.bytes[start..<min(start + Self.longestValue, read.bytes.count)])
                // As it is escaped at worst, with what stands around it.
                room -= 4 * value.count + 80
                if room < 0 { break }
                timetable.entries.append(Timetable.Entry(after: after, every: .zero, values: .list([value])))
                after = .zero
            }
        }
        return timetable
    }
}

extension AccessoryScript {
    /// The device's file below /dev.
    var node: String? { device.map { $0.hasPrefix("/dev/") ? String($0.dropFirst(5)) : $0 } }
}

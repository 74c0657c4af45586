import WakeModel

/// A server of HTTP that background transfers go to and come from, as a device file of kind `transfer-server` describes it.
package struct TransferServer: Hashable, Sendable {
    /// The path of the device file.
    package var file: String
    /// Of the URLs that it answers, such as `podcasts.example.com`.
    package var host: String
    /// What goes through in a second, in bytes.
    package var bandwidth: UInt64
    /// From the beginning of a request to the first byte, and to a challenge.
    package var latency: Instant.Span
    package var entries: [Entry]
    package var faults: [DeviceFault<Effect>]

    /// What lies under a path.
    package struct Entry: Hashable, Sendable {
        package var path: String
        /// Of what is sent, and of what is taken; in bytes.
        package var size: UInt64
        package var status: UInt16
        /// A broken download may go on where it stopped (XFER-9).
        package var resumable: Bool
        /// After how many bytes the connection breaks, once each.
        package var cuts: [UInt64]
        /// After how many bytes nothing more comes, once each (XFER-7).
        package var stalls: [UInt64]
        /// Who may have it; nil for everybody (XFER-4).
        package var lock: Lock?
    }

    /// What opens an entry.
    package struct Lock: Hashable, Sendable {
        package var realm: String
        package var scheme: Scheme
        package var user: String
        package var password: String
    }

    /// How a server wants a password.
    package enum Scheme: String, CaseIterable, Sendable {
        case basic
        case digest
    }

    /// What an armed fault does.
    package enum Effect: Hashable, Sendable {
        /// The connections that there are break.
        case cut
        /// Nothing more comes over the connections that there are.
        case stall
        /// What goes through in a second from then on, in bytes.
        case bandwidth(UInt64)
    }

    /// What lies under the path of a URL; nil for a URL of another host.
    package func answers(_ url: String) -> (entry: Entry?, path: String)? {
        guard let mark = url.firstRange(of: "://") else { return nil }
        let rest = url[mark.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        var authority = rest[..<end]
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        let name = authority.prefix { $0 != ":" }
        guard name.lowercased() == host.lowercased() else { return nil }
        let path = rest[end...].prefix { $0 != "?" && $0 != "#" }
        let asked = path.isEmpty ? "/" : String(path)
        return (entries.first { $0.path == asked }, asked)
    }
}

extension TransferServer: Device {
    package static let kind = "transfer-server"
    package static let article = "a server of transfers"
    package static let lack = "transfers nothing"
    package static let keys = ["host", "bandwidth", "latency", "files", "faults"]

    package var form: DeviceFile { .transferServer(self) }

    package init(_ fields: Fields) throws(FileError) {
        file = fields.node.file
        host = try fields.required("host").identifier("the name of a host", marks: ".-", length: 1...253)
        bandwidth = try fields["bandwidth"]?.byteCount(from: 1, upTo: 1_000_000_000_000) ?? 1_000_000
        latency = try fields["latency"]?.duration() ?? .milliseconds(100)
        entries = try fields.list("files", limit: 1_000, Entry.init)
        faults = try fields.faults()
    }
}

extension TransferServer.Entry {
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        let keys = ["path", "size", "status", "resumable", "cuts", "stalls", "lock"]
        let fields = try Fields(node, of: "a file of a server", keys: keys)
        path = try fields.required("path").text(expecting: "a path such as /episodes/1.mp3")
        guard path.hasPrefix("/"), path.utf8.count <= 2_048 else {
            throw node.error(expected: "a path such as /episodes/1.mp3")
        }
        size = try fields["size"]?.byteCount(from: 0, upTo: Self.largest) ?? 0
        status = UInt16(try fields["status"]?.integer(in: 200...599) ?? 200)
        resumable = try fields["resumable"]?.bool() ?? false
        cuts = try fields.list("cuts", limit: 64) { (node) throws(FileError) in
            try node.byteCount(from: 0, upTo: Self.largest)
        }
        stalls = try fields.list("stalls", limit: 64) { (node) throws(FileError) in
            try node.byteCount(from: 0, upTo: Self.largest)
        }
        lock = try fields.value("lock", TransferServer.Lock.init)
    }

    private static let largest: UInt64 = 1_000_000_000_000
}

extension TransferServer.Lock {
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a lock", keys: ["realm", "scheme", "user", "password"])
        realm = try fields.required("realm").text(expecting: "a realm")
        scheme =
            try fields["scheme"]?.word("way to want a password", of: TransferServer.Scheme.allCases, \.rawValue)
            ?? .basic
        user = try fields.required("user").text(expecting: "a user")
        password = try fields.required("password").text(expecting: "a password")
    }
}

extension TransferServer.Effect: FaultEffect {
    package static let effects = ["cut", "stall", "bandwidth"]

    package init(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) {
        if key == "bandwidth" {
            self = .bandwidth(try value.byteCount(from: 1, upTo: 1_000_000_000_000))
        } else {
            guard try value.bool() else { throw value.error(expected: "true") }
            self = key == "cut" ? .cut : .stall
        }
    }
}

extension YAMLNode {
    /// A number of bytes: plain, or with kB, MB or GB of a thousand each.
    func byteCount(from least: UInt64, upTo most: UInt64) throws(FileError) -> UInt64 {
        let expected = "a number of bytes such as 512, 20kB or 60MB, from \(least) to \(most)"
        let text = try text(expecting: expected)
        let units: [(String, UInt64)] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)]
        let unit = units.first { text.hasSuffix($0.0) }
        let digits = unit.map { String(text.dropLast($0.0.utf8.count)) } ?? text
        guard let number = UInt64(digits),
            case let (count, false) = number.multipliedReportingOverflow(by: unit?.1 ?? 1),
            (least...most).contains(count)
        else { throw error(expected: expected) }
        return count
    }
}

extension ScenarioDevice {
    /// The server of transfers that it is; nil for a device of another kind.
    package var transferServer: TransferServer? { form.device as? TransferServer }
}

import Glibc
import WakeDevices
import WakeModel

/// A scenario and the device files that it names, as trees of which parts can be taken away.
struct ShrinkCase {
    /// A device file.
    struct Device {
        /// As the scenario names it.
        var reference: String
        /// Where it is.
        var path: String
        var root: YAMLNode
        var isChanged = false
    }

    var scenario: YAMLNode
    var devices: [Device]
    /// How many of the last expectations are only looked at, and are not part of the result.
    var probes = 0

    /// The keys of scenarios and device files whose values are paths.
    private static let paths: Set<String> = ["file", "bundle", "gpx", "nmea"]

    /// Reads a scenario and its device files. Those that lie in a search folder stay as they are.
    init(file: String) throws(FileError) {
        let root = try YAMLReader.read(try InputFile.read(file), file: file)
        scenario = root
        devices = []
        for entry in root["devices"]?.children ?? [] {
            guard let reference = entry["file"]?.scalar, !devices.contains(where: { $0.reference == reference }) else {
                continue
            }
            let path = Self.place(reference, beside: file)
            guard Self.exists(path) else { continue }
            let device = try YAMLReader.read(try InputFile.read(path), file: path)
            devices.append(Device(reference: reference, path: path, root: device))
        }
    }

    // MARK: Its parts

    /// A tree of the case.
    enum Document: Hashable {
        case scenario
        case device(Int)
    }

    subscript(document: Document) -> YAMLNode {
        get {
            switch document {
            case .scenario: scenario
            case .device(let number): devices[number].root
            }
        }
        set {
            switch document {
            case .scenario: scenario = newValue
            case .device(let number):
                devices[number].root = newValue
                devices[number].isChanged = true
            }
        }
    }

    var steps: [YAMLNode] {
        get { scenario["steps"]?.children ?? [] }
        set { scenario = scenario.setting("steps", to: newValue.isEmpty ? nil : .sequence(newValue)) }
    }

    /// What happens in it: steps as often as they happen, and the values of timetables.
    var events: Int {
        let happenings = steps.reduce(0) { $0 + ($1["times"]?.scalar.flatMap { Int($0) } ?? 1) }
        let used = Set((scenario["devices"]?.children ?? []).compactMap { $0["file"]?.scalar })
        return devices.filter { used.contains($0.reference) }
            .reduce(happenings) { $0 + ShrinkTimetable.count(in: $1.root) }
    }

    /// How many entries a list of the scenario has.
    func count(_ key: String) -> Int { scenario[key]?.children.count ?? 0 }

    // MARK: Files

    /// Writes it where it can be played.
    ///
    /// - Returns: the path of the scenario.
    func write(into folder: String) throws(CommandFailure) -> String {
        var root = scenario
        var numbers: [String: String] = [:]
        for (number, device) in devices.enumerated() {
            let name = "\(number)/\(Self.name(device.path))"
            numbers[device.reference] = name
            try TemporaryFolder.write(
                YAMLWriter.text(Self.moved(device.root, from: device.path) { Self.resolved($0) }),
                to: "\(folder)/\(name)"
            )
        }
        root = Self.moved(root, from: scenario.file) {
            Self.resolved($0)
        } renaming: {
            numbers[$0]
        }
        let path = "\(folder)/\(Self.name(scenario.file))"
        try TemporaryFolder.write(YAMLWriter.text(root), to: path)
        return path
    }

    /// Writes the result: the scenario, and beside it the device files that are smaller now, in a folder of its name.
    func save(to path: String, comments: [String]) throws(CommandFailure) {
        let stem = path.hasSuffix(".yaml") ? String(path.dropLast(5)) : path
        var names: [String: String] = [:]
        var taken: Set<String> = []
        for device in devices where device.isChanged {
            var name = Self.name(device.path)
            // Two files of one name in two folders.
            while taken.contains(name) { name = "other/" + name }
            taken.insert(name)
            names[device.reference] = "\(Self.name(stem)).devices/\(name)"
            let place = "\(stem).devices/\(name)"
            let root = Self.moved(device.root, from: device.path) { Self.relative($0, to: place) }
            try TemporaryFolder.write(YAMLWriter.text(root, comments: comments), to: place)
        }
        var root = scenario
        let expectations = Array((root["expect"]?.children ?? []).dropLast(probes))
        root = root.setting("expect", to: expectations.isEmpty ? nil : .sequence(expectations))
        root = Self.moved(root, from: scenario.file) {
            Self.relative($0, to: path)
        } renaming: {
            names[$0]
        }
        try TemporaryFolder.write(YAMLWriter.text(root, comments: comments), to: path)
    }

    /// The tree with its paths as they are called from elsewhere.
    ///
    /// - Parameters:
    ///   - place: the new text of a path that exists.
    ///   - renaming: the new name of a device file; nil for one that keeps its place.
    private static func moved(
        _ node: YAMLNode,
        from file: String,
        _ place: (String) -> String,
        renaming: (String) -> String? = { _ in nil }
    ) -> YAMLNode {
        switch node.content {
        case .scalar: return node
        case .sequence(let nodes):
            return node.with(.sequence(nodes.map { moved($0, from: file, place, renaming: renaming) }))
        case .mapping(let entries):
            return node.with(
                .mapping(
                    entries.map { entry in
                        var entry = entry
                        guard paths.contains(entry.key), case .scalar(let text, let quoted) = entry.value.content else {
                            entry.value = moved(entry.value, from: file, place, renaming: renaming)
                            return entry
                        }
                        let path = Self.place(text, beside: file)
                        let new = renaming(text) ?? (text.hasPrefix("/") || !exists(path) ? text : place(path))
                        entry.value = entry.value.with(.scalar(new, quoted: quoted))
                        return entry
                    }
                )
            )
        }
    }

    // MARK: Paths

    private static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func place(_ path: String, beside file: String) -> String {
        path.hasPrefix("/") ? path : folder(of: file) + "/" + path
    }

    private static func exists(_ path: String) -> Bool {
        guard !path.utf8.contains(0) else { return false }
        return unsafe access(path, F_OK) == 0
    }

    /// The path from the root, without links; as it is where the system does not tell.
    private static func resolved(_ path: String) -> String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// How a file beside `place` names another.
    private static func relative(_ path: String, to place: String) -> String {
        let target = resolved(path).split(separator: "/")
        let start = RunFolder.absolute(folder(of: place))
        let own = resolved(start).split(separator: "/").filter { $0 != "." }
        let shared = zip(target, own).prefix { $0 == $1 }.count
        let up = Array(repeating: "..", count: own.count - shared)
        return (up + target.dropFirst(shared).map(String.init)).joined(separator: "/")
    }
}

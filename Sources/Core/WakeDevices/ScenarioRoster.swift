/// The names of a scenario's apps or devices, and how steps refer to them.
struct ScenarioRoster {
    /// One entry of the file: `first` and `count` say which positions it takes.
    private struct Group {
        var name: String
        var first: Int
        var count: Int
        var isNumbered: Bool
    }

    /// `app` or `device`.
    let what: String
    private var groups: [Group] = []
    /// Positions in `groups` by name.
    private var places: [String: Int] = [:]
    /// Single positions by another name, such as an app's bundle identifier.
    private var aliases: [String: Int] = [:]
    private var total = 0
    /// How many positions references have meant so far.
    private var referred = 0
    /// The most positions that all references of a scenario may mean.
    private static let referenceLimit = 1_000_000

    init(of what: String) { self.what = what }

    /// The name of an entry and of each of its members; `count` is nil when the entry stands for one without a number.
    mutating func add(
        _ node: YAMLNode?,
        default: String,
        count: Int?,
        entry: YAMLNode
    ) throws(FileError) -> [String] {
        let name = try node?.text(expecting: "a name") ?? `default`
        let plain = name.unicodeScalars.allSatisfy { scalar in
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                || scalar == "-" || scalar == "_"
        }
        guard plain, (1...64).contains(name.utf8.count) else {
            throw (node ?? entry).error(
                found: "the name '\(excerpt(name))'",
                expected: "1 to 64 letters, digits, - and _"
            )
        }
        if places[name] != nil {
            throw (node ?? entry).error(found: "a second \(what) named '\(name)'", expected: "another name")
        }
        places[name] = groups.count
        groups.append(Group(name: name, first: total, count: count ?? 1, isNumbered: count != nil))
        total += count ?? 1
        guard let count else { return [name] }
        return (1...count).map { "\(name).\($0)" }
    }

    /// The positions that a reference means: `heart`, `a` and `a.*` for all of a group, `a.3`, `a.1-30`, or a list of
    /// such.
    ///
    /// - Parameter apps: what else the step may name, which is no entry here; said with those of an unknown name.
    mutating func resolve(_ node: YAMLNode, orApps apps: [String] = []) throws(FileError) -> [Int] {
        guard case .sequence(let nodes) = node.content else { return Array(try counted(range(node, apps), node)) }
        var positions: [Int] = []
        for node in nodes { positions += try counted(range(node), node) }
        if positions.isEmpty { throw node.error(found: "an empty list", expected: "the name of at least one \(what)") }
        if Set(positions).count != positions.count {
            throw node.error(found: "a list that names one \(what) twice", expected: "each once")
        }
        return positions
    }

    /// Whether a reference, or the first of a list of such, names one of these.
    func knows(_ node: YAMLNode) -> Bool {
        switch node.content {
        case .scalar(let text, _): aliases[text] != nil || places[String(text.prefix { $0 != "." })] != nil
        case .sequence(let nodes): nodes.first.map(knows) ?? false
        case .mapping: false
        }
    }

    /// Lets a position be called by another name, too.
    mutating func call(_ position: Int, _ name: String) { aliases[name] = position }

    /// The last entry is none any more.
    mutating func remove(_ name: String) {
        guard let place = places[name], place == groups.count - 1 else { return }
        places[name] = nil
        total -= groups.removeLast().count
    }

    /// What is said from now on may mean as many as a scenario may.
    mutating func forgetReferences() { referred = 0 }

    private mutating func counted(_ range: Range<Int>, _ node: YAMLNode) throws(FileError) -> Range<Int> {
        referred += range.count
        if referred > Self.referenceLimit {
            throw node.error(
                found: "names that stand for more than \(Self.referenceLimit) \(what)s in all",
                expected: "fewer"
            )
        }
        return range
    }

    /// The positions of an entry, or of the part of it that the reference means.
    private func range(_ node: YAMLNode, _ apps: [String] = []) throws(FileError) -> Range<Int> {
        let text = try node.text(expecting: "the name of \(article) \(what)")
        if let position = aliases[text], position < total { return position..<position + 1 }
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let group = places[String(parts[0])].map({ groups[$0] }) else {
            let known = groups.map(\.name) + apps
            throw node.error(
                found: "unknown \(what)\(apps.isEmpty ? "" : " or app") '\(excerpt(text))'",
                expected: known.isEmpty
                    ? "an entry under \(what)s first" : suggestion(for: String(parts[0]), among: known)
            )
        }
        guard parts.count == 2, parts[1] != "*" else { return group.first..<group.first + group.count }
        let bounds = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard group.isNumbered, bounds.count <= 2, let low = bounds[0], let high = bounds[bounds.count - 1],
            low >= 1, low <= high, high <= group.count
        else {
            throw node.error(
                found: "unknown \(what) '\(excerpt(text))'",
                expected: group.isNumbered
                    ? "\(group.name), \(group.name).1 to \(group.name).\(group.count), or a range such as "
                        + "\(group.name).1-\(group.count)" : "'\(group.name)'"
            )
        }
        return group.first + low - 1..<group.first + high
    }

    /// The position that member `number` of an app's entry means: its own of a numbered entry, counted round.
    mutating func resolve(_ node: YAMLNode, forMember number: Int) throws(FileError) -> [Int] {
        if case .scalar(let text, _) = node.content, let group = places[text].map({ groups[$0] }) {
            return [group.first + (number - 1) % group.count]
        }
        return try resolve(node)
    }

    private var article: String { what == "app" ? "an" : "a" }
}

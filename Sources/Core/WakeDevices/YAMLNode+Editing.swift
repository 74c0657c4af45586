/// Other trees made of a tree: what stays keeps the place where it stood.
extension YAMLNode {
    /// The way to a node from a root: the number of a member of a list, or of an entry of a mapping, at each level.
    package typealias Path = [Int]

    /// A node that no file has.
    package static func scalar(_ text: String, quoted: Bool = false) -> YAMLNode {
        YAMLNode(file: "", line: 0, content: .scalar(text, quoted: quoted))
    }

    package static func sequence(_ nodes: [YAMLNode]) -> YAMLNode {
        YAMLNode(file: "", line: 0, content: .sequence(nodes))
    }

    package static func mapping(_ entries: KeyValuePairs<String, YAMLNode>) -> YAMLNode {
        YAMLNode(file: "", line: 0, content: .mapping(entries.map { Entry(key: $0.key, keyLine: 0, value: $0.value) }))
    }

    /// The same place with something else in it.
    package func with(_ content: Content) -> YAMLNode {
        YAMLNode(file: file, line: line, column: column, content: content)
    }

    /// The text of a scalar; nil for any other node.
    package var scalar: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    /// The members of a list, or the values of a mapping.
    package var children: [YAMLNode] {
        switch content {
        case .scalar: []
        case .sequence(let nodes): nodes
        case .mapping(let entries): entries.map(\.value)
        }
    }

    /// The entries of a mapping.
    package var entries: [Entry] {
        if case .mapping(let entries) = content { entries } else { [] }
    }

    /// The value of a key; nil without it.
    package subscript(key: String) -> YAMLNode? { entries.first { $0.key == key }?.value }

    /// The node at the end of a way; nil where it leads nowhere.
    package subscript(path: Path) -> YAMLNode? {
        guard let first = path.first else { return self }
        let children = children
        return children.indices.contains(first) ? children[first][Path(path.dropFirst())] : nil
    }

    /// The tree with another node at the end of a way.
    package func replacing(_ path: Path, with node: YAMLNode) -> YAMLNode {
        guard let first = path.first else { return node }
        let rest = Path(path.dropFirst())
        switch content {
        case .scalar: return self
        case .sequence(var nodes):
            nodes[first] = nodes[first].replacing(rest, with: node)
            return with(.sequence(nodes))
        case .mapping(var entries):
            entries[first].value = entries[first].value.replacing(rest, with: node)
            return with(.mapping(entries))
        }
    }

    /// The node with the members or entries of these numbers alone.
    package func keeping(_ numbers: [Int]) -> YAMLNode {
        switch content {
        case .scalar: self
        case .sequence(let nodes): with(.sequence(numbers.map { nodes[$0] }))
        case .mapping(let entries): with(.mapping(numbers.map { entries[$0] }))
        }
    }

    /// The mapping with a value for a key, in its place or at the end; without the key for nil.
    package func setting(_ key: String, to value: YAMLNode?) -> YAMLNode {
        var entries = entries
        let place = entries.firstIndex { $0.key == key }
        switch (place, value) {
        case (let place?, let value?): entries[place].value = value
        case (let place?, nil): entries.remove(at: place)
        case (nil, let value?): entries.append(Entry(key: key, keyLine: 0, value: value))
        case (nil, nil): break
        }
        return with(.mapping(entries))
    }

    /// The tree with each scalar as `change` gives it; nil leaves it as it is.
    package func changingScalars(_ change: (String) -> String?) -> YAMLNode {
        switch content {
        case .scalar(let text, let quoted): change(text).map { with(.scalar($0, quoted: quoted)) } ?? self
        case .sequence(let nodes): with(.sequence(nodes.map { $0.changingScalars(change) }))
        case .mapping(let entries):
            with(
                .mapping(
                    entries.map { entry in
                        var entry = entry
                        entry.value = entry.value.changingScalars(change)
                        return entry
                    }
                )
            )
        }
    }

    /// Whether both say the same, wherever they stand.
    package func saysTheSame(as other: YAMLNode) -> Bool {
        switch (content, other.content) {
        case (.scalar(let one, let quoted), .scalar(let two, let quotedToo)): one == two && quoted == quotedToo
        case (.sequence(let ones), .sequence(let others)):
            ones.count == others.count && zip(ones, others).allSatisfy { $0.saysTheSame(as: $1) }
        case (.mapping(let ones), .mapping(let others)):
            ones.count == others.count
                && zip(ones, others).allSatisfy { $0.key == $1.key && $0.value.saysTheSame(as: $1.value) }
        case (.scalar, _), (.sequence, _), (.mapping, _): false
        }
    }
}

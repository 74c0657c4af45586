import WakeDevices
import WakeModel

/// What can be left out, part by part.
extension ScenarioShrinker {
    /// A part may make another superfluous, so all are gone through until nothing changes; never more often than this.
    private static let rounds = 6

    func leaveOutAll() throws(Stop) {
        try placeSteps()
        for _ in 0..<Self.rounds {
            let before = progress
            let text = texts
            try leaveOutSteps()
            try leaveOutRepetitions()
            try leaveOutMembers()
            try leaveOutNamed("apps")
            try leaveOutNamed("devices")
            try leaveOutValues()
            try leaveOutRest()
            if texts == text, progress.events == before.events { break }
        }
        try shortenTimes()
    }

    private var texts: [String] { [YAMLWriter.text(best.scenario)] + best.devices.map { YAMLWriter.text($0.root) } }

    // MARK: Steps

    /// Gives steps that follow another by a time a time of their own, so that one less leaves the others where they are.
    private func placeSteps() throws(Stop) {
        var candidate = best
        var now: Int64? = 0
        candidate.steps = best.steps.map { step in
            if let span = step["at"]?.scalar.flatMap(DurationText.span) { now = span.nanoseconds }
            if step["when"] != nil { now = nil }
            guard let pause = step["after"]?.scalar.flatMap(DurationText.span), let start = now else { return step }
            now = start + pause.nanoseconds
            let at = DurationText.text(Instant.Span(nanoseconds: start + pause.nanoseconds))
            return step.replacingKey("after", with: "at", .scalar(at))
        }
        _ = try attempt(candidate)
    }

    private func leaveOutSteps() throws(Stop) {
        begin("steps")
        let all = best
        let steps = all.steps
        try leaveOut(of: steps.count) { kept in
            var candidate = all
            candidate.steps = kept.map { steps[$0] }
            return candidate
        }
    }

    /// Lets steps happen less often: once, or in the half of their time that does.
    private func leaveOutRepetitions() throws(Stop) {
        begin("repetitions")
        for number in best.steps.indices {
            while try halve(step: number) {}
        }
    }

    private func halve(step number: Int) throws(Stop) -> Bool {
        let step = best.steps[number]
        guard let times = step["times"]?.scalar.flatMap({ Int($0) }), times > 1,
            let every = step["every"]?.scalar.flatMap(DurationText.span)
        else { return false }
        let once = step.setting("times", to: nil).setting("every", to: nil)
        if try attempt(step: number, once) { return true }
        let half = times / 2
        if try attempt(step: number, step.setting("times", to: .scalar("\(half)"))) { return true }
        guard let at = step["at"]?.scalar.flatMap(DurationText.span) else { return false }
        let later = Instant.Span(nanoseconds: at.nanoseconds + every.nanoseconds * Int64(half))
        let second = step.setting("at", to: .scalar(DurationText.text(later)))
            .setting("times", to: .scalar("\(times - half)"))
        return try attempt(step: number, second)
    }

    private func attempt(step number: Int, _ step: YAMLNode) throws(Stop) -> Bool {
        var candidate = best
        candidate.steps[number] = step
        return try attempt(candidate)
    }

    // MARK: Apps and devices

    /// Leaves one of each entry that stands for many.
    private func leaveOutMembers() throws(Stop) {
        begin("counts")
        let mentioned = best.mentionedMembers
        for member in mentioned { if try attempt(best.keeping(member: member, of: nil)) { return } }
        for name in best.groups.map(\.name) {
            for member in mentioned { if try attempt(best.keeping(member: member, of: name)) { break } }
            while let group = best.groups.first(where: { $0.name == name }), group.count > 1 {
                guard try attempt(best.counting(group.count / 2, of: name)) else { break }
            }
        }
    }

    /// Leaves out entries of a list whose names others use, with what uses them.
    private func leaveOutNamed(_ key: String) throws(Stop) {
        begin(key)
        let all = best
        let names = (all.scenario[key]?.children ?? []).map { ShrinkCase.name(ofEntry: $0) }
        try leaveOut(of: names.count) { kept in
            let gone = Set(names.indices).subtracting(kept)
            return all.without(gone.sorted(), of: key)
        }
    }

    // MARK: Device files

    private func leaveOutValues() throws(Stop) {
        begin("values")
        for number in best.devices.indices {
            let lists = ShrinkTimetable.all(in: best.devices[number].root).count
            for place in 0..<lists {
                let all = best
                // One that went as a whole is not there any more.
                let timetables = ShrinkTimetable.all(in: all.devices[number].root)
                guard timetables.indices.contains(place) else { continue }
                let timetable = timetables[place]
                try leaveOut(of: timetable.count) { kept in
                    var candidate = all
                    candidate[.device(number)] = all.devices[number].root
                        .replacing(timetable.path, with: timetable.keeping(kept))
                    return candidate
                }
            }
        }
    }

    // MARK: The rest

    /// Goes through both kinds of files from the root to the leaves.
    private func leaveOutRest() throws(Stop) {
        begin("keys")
        let lists: Set<String> = ["scenario", "expect", "steps", "apps", "devices"]
        let keys = best.scenario.entries.filter { !lists.contains($0.key) }.map(\.key)
        for key in keys {
            var candidate = best
            candidate.scenario = candidate.scenario.setting(key, to: nil)
            if try attempt(candidate) { continue }
            if let place = best.place(of: key) { try leaveOut(below: [place], of: .scenario) }
        }
        for key in ["apps", "devices", "steps"] {
            guard let place = best.place(of: key) else { continue }
            for number in 0..<best.count(key) { try leaveOut(below: [place, number], of: .scenario) }
        }
        for number in best.devices.indices where best.usesDevice(number) {
            try leaveOut(below: [], of: .device(number))
        }
    }

    private func leaveOut(below path: YAMLNode.Path, of document: ShrinkCase.Document) throws(Stop) {
        let all = best
        guard let node = all[document][path], !node.children.isEmpty else { return }
        try leaveOut(of: node.children.count) { kept in
            var candidate = all
            candidate[document] = all[document].replacing(path, with: node.keeping(kept))
            return candidate
        }
        for number in 0..<(best[document][path]?.children.count ?? 0) {
            try leaveOut(below: path + [number], of: document)
        }
    }
}

/// What a case is without some of its parts.
extension ShrinkCase {
    /// An entry that stands for many.
    struct Group {
        var name: String
        var count: Int
    }

    /// What the scenario calls an entry of its apps or devices.
    static func name(ofEntry entry: YAMLNode) -> String {
        if let name = entry["name"]?.scalar { return name }
        if let identifier = entry["scripted"]?.scalar {
            return identifier.split(separator: ".").last.map(String.init) ?? ""
        }
        let path = entry["file"]?.scalar ?? entry["bundle"]?.scalar ?? ""
        return String((path.split(separator: "/").last ?? "").prefix { $0 != "." })
    }

    func place(of key: String) -> Int? { scenario.entries.firstIndex { $0.key == key } }

    func usesDevice(_ number: Int) -> Bool {
        (scenario["devices"]?.children ?? []).contains { $0["file"]?.scalar == devices[number].reference }
    }

    var groups: [Group] {
        ["apps", "devices"].flatMap { scenario[$0]?.children ?? [] }.compactMap { entry in
            entry["count"]?.scalar.flatMap { Int($0) }.map { Group(name: Self.name(ofEntry: entry), count: $0) }
        }
    }

    /// The members that steps and expectations name by number, and the first.
    var mentionedMembers: [Int] {
        let names = Set(groups.map(\.name))
        var found: Set<Int> = [1]
        func look(_ node: YAMLNode) {
            if let text = node.scalar, let (name, member) = Self.reference(text), names.contains(name), let member {
                found.insert(member.lowerBound)
            }
            node.children.forEach(look)
        }
        for key in ["steps", "expect"] { if let list = scenario[key] { look(list) } }
        return found.sorted().prefix(20).map(\.self)
    }

    /// The parts of `heart.3` or `heart.1-30`; no members for `heart` and `heart.*`.
    private static func reference(_ text: String) -> (name: String, members: ClosedRange<Int>?)? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1] != "*" else { return parts.first.map { (String($0), nil) } }
        let bounds = parts[1].split(separator: "-").compactMap { Int($0) }
        guard let low = bounds.first, let high = bounds.last, low <= high else { return nil }
        return (String(parts[0]), low...high)
    }

    /// With one member of a group in the place of all, or of every group for nil.
    func keeping(member: Int, of name: String?) -> ShrinkCase {
        let names = Set(groups.filter { ($0.name == name || name == nil) && $0.count >= member }.map(\.name))
        return changingReferences(of: names) { _, members in members.contains(member) ? "" : nil }
            .counting(nil, of: names)
    }

    /// With fewer members of a group.
    func counting(_ count: Int, of name: String) -> ShrinkCase {
        changingReferences(of: [name]) { text, members in
            if members.upperBound <= count { return text }
            guard members.lowerBound <= count else { return nil }
            return members.lowerBound == count ? ".\(count)" : ".\(members.lowerBound)-\(count)"
        }
        .counting(count, of: [name])
    }

    private func counting(_ count: Int?, of names: Set<String>) -> ShrinkCase {
        var other = self
        for key in ["apps", "devices"] {
            guard let list = scenario[key] else { continue }
            let entries = list.children.map { entry in
                names.contains(Self.name(ofEntry: entry)) && entry["count"] != nil
                    ? entry.setting("count", to: count.map { .scalar("\($0)") }) : entry
            }
            other.scenario = other.scenario.setting(key, to: list.with(.sequence(entries)))
        }
        return other
    }

    /// With other numbers behind the names of groups.
    ///
    /// - Parameter change: what stands behind the name, by what stood there; nil takes away what names it.
    private func changingReferences(of names: Set<String>, _ change: (String, ClosedRange<Int>) -> String?)
        -> ShrinkCase
    {
        pruned(["steps", "expect", "apps"]) { text in
            guard let (name, members) = Self.reference(text), names.contains(name) else { return text }
            guard let members else { return name }
            return change(String(text.dropFirst(name.count)), members).map { name + $0 }
        }
    }

    /// Without entries of its apps or devices, and what names them.
    func without(_ numbers: [Int], of key: String) -> ShrinkCase {
        guard let list = scenario[key] else { return self }
        let gone = Set(numbers.map { Self.name(ofEntry: list.children[$0]) })
        var other = self
        let kept = list.children.indices.filter { !numbers.contains($0) }
        other.scenario = scenario.setting(key, to: kept.isEmpty ? nil : list.keeping(kept))
        return other.pruned(key == "apps" ? ["steps", "expect"] : ["steps", "apps"]) { text in
            guard let (name, _) = Self.reference(text), gone.contains(name) else { return text }
            return nil
        }
    }

    /// With other texts in some of its lists; a step, an expectation or a use goes with a text that does.
    private func pruned(_ keys: [String], _ change: (String) -> String?) -> ShrinkCase {
        var other = self
        for key in keys {
            guard let list = other.scenario[key] else { continue }
            let entries = list.children.compactMap { key == "apps" ? $0.prunedInside(change) : $0.pruned(change) }
            // Expectations are what is kept.
            if key == "expect", entries.count != list.children.count { continue }
            other.scenario = other.scenario.setting(key, to: entries.isEmpty ? nil : list.with(.sequence(entries)))
        }
        return other
    }
}

extension YAMLNode {
    /// The node with other texts; nil when one of its own goes, or all members of a list.
    fileprivate func pruned(_ change: (String) -> String?) -> YAMLNode? {
        switch content {
        case .scalar(let text, let quoted): return change(text).map { with(.scalar($0, quoted: quoted)) }
        case .sequence(let nodes):
            let kept = nodes.compactMap { $0.pruned(change) }
            return kept.isEmpty && !nodes.isEmpty ? nil : with(.sequence(kept))
        case .mapping(let entries):
            var kept: [Entry] = []
            for var entry in entries {
                guard let value = entry.value.pruned(change) else { return nil }
                entry.value = value
                kept.append(entry)
            }
            return with(.mapping(kept))
        }
    }

    /// The same of a mapping that stays: without the keys whose values go. Its own texts, such as its name, are not looked at.
    fileprivate func prunedInside(_ change: (String) -> String?) -> YAMLNode {
        let kept = entries.compactMap { entry -> Entry? in
            guard entry.value.scalar == nil else { return entry }
            var entry = entry
            guard let value = entry.value.pruned(change) else { return nil }
            entry.value = value
            return entry
        }
        return with(.mapping(kept))
    }

    /// The mapping with another key and value in the place of one.
    func replacingKey(_ key: String, with other: String, _ value: YAMLNode) -> YAMLNode {
        with(
            .mapping(
                entries.map { entry in
                    var entry = entry
                    if entry.key == key { (entry.key, entry.value) = (other, value) }
                    return entry
                }
            )
        )
    }
}

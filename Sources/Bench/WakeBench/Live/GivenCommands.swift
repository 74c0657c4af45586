import Glibc
import WakeBundles
import WakeDevices
import WakeJSON
import WakeModel
import WakePorts
import WakeReports
import WakeSystem

/// The commands that a live run was given under an identifier, so that one that is given again has its first answer.
///
/// The journal has the commands, each with the last decision before it; `answers.ndjson` in the run folder has the last decision
/// that came of each, and the logs have the decisions between the two.
final class GivenCommands {
    private struct Command {
        var number: UInt64
        /// Of what it asks for; nil where its journal is to be asked.
        var digest: Digest?
        /// The last decision before it; nil where its journal is to be asked.
        var after: DecisionID?
        /// As the journal of the bench before has it.
        var journaled = ""
        /// The line of the file that says what came of it; nil as long as more may.
        var line: [UInt8]?
    }

    /// What a command asks for, as it is told from another in this process.
    private struct Digest {
        /// Of its words, without the order of keys.
        var words: Int
        /// Of the step that they mean, with names resolved and values read; nil where it is no step, or one that cannot be read.
        var step: Int?

        func isSame(as other: Digest) -> Bool { words == other.words || step != nil && step == other.step }
    }

    /// A command of which more may come.
    private struct Open {
        var id: String
        /// When nothing more is taken to come of it, on the monotonic clock in nanoseconds.
        var deadline: Int64
        var meanwhile = LivePhone.Meanwhile()
    }

    private var commands: [String: Command] = [:]
    private var order: [String] = []
    private var pending: [Open] = []
    private let path: String
    /// The lines of the file.
    private var written = 0

    /// So many identifiers are known at least.
    private static let remembered = 5_000
    /// So many commands are open at most.
    private static let mostOpen = 1_000
    /// For how long more may come of a command that was open when the bench ended, in nanoseconds.
    private static let patience: Int64 = 10_000_000_000
    /// More bytes than the file comes to have.
    private static let longestFile = 1 << 30
    private static let schema = "wake.answer/1"

    /// Goes on where the bench before ended.
    ///
    /// - Throws: ``CommandFailure`` when the file cannot be read or written.
    init(_ journaled: [JournaledCommand], in folder: RunFolder) throws(CommandFailure) {
        path = folder.answers
        var lines: [UInt64: [UInt8]] = [:]
        let text = try PhoneFolder.read(path, limit: Self.longestFile) ?? []
        for line in text.split(separator: 0x0a) {
            if let number = Self.number(of: line) { lines[number] = Array(line) }
        }
        let deadline = MonotonicClock.now() + Self.patience
        for each in journaled where !each.id.isEmpty {
            let command = Command(number: each.number, journaled: each.line, line: lines[each.number])
            remember(each.id, command)
            if command.line == nil, Self.after(command) != nil { pending.append(Open(id: each.id, deadline: deadline)) }
        }
        // A line that was cut off as it was written is no beginning for another.
        if !text.isEmpty { try writeAll() }
    }

    /// Whether more may come of a command.
    var hasOpen: Bool { !pending.isEmpty }

    /// When the next of them ends at the latest.
    var deadline: Int64 { pending.map(\.deadline).min() ?? .max }

    /// The number of a command that was accepted before; nil for none.
    ///
    /// - Parameter live: reads steps, so that the same step in another spelling is no other command.
    /// - Throws: ``CommandFailure`` with exit code 4 where that was another command.
    func number(of id: String, as command: JSONValue, _ live: LiveScenario) throws(CommandFailure) -> UInt64? {
        guard let known = commands[id] else { return nil }
        let journaled = known.digest == nil ? JSONValue(parsing: Array(known.journaled.utf8)) : nil
        let digest = known.digest ?? journaled.map { Self.digest(of: $0, live) }
        if let digest, !digest.isSame(as: Self.digest(of: command, live)) {
            throw CommandFailure(
                .wrongState,
                "--id \(id): it is that of another command, which was carried out as number \(known.number)",
                hint: "give a new command another --id"
            )
        }
        return known.number
    }

    /// Of an advance without its instant, which is another each time that it is counted from now: what was said stands beside
    /// it.
    private static func digest(of command: JSONValue, _ live: LiveScenario) -> Digest {
        let asked = command.members.filter { $0.key != markKey && $0.key != "advance" }
        let verb = command["step"].flatMap { try? live.verb($0) }
        return Digest(words: JSONValue.object(asked).inOrderOfKeys.encoded.hashValue, step: verb?.hashValue)
    }

    /// Whether nothing more comes of a command.
    func isAnswered(_ id: String) -> Bool { commands[id]?.line != nil }

    /// Where the clock stood then; nil before.
    func end(of id: String) -> String? {
        commands[id]?.line.flatMap { JSONValue(parsing: $0) }?["at"]?.string
    }

    private func remember(_ id: String, _ command: Command) {
        commands[id] = command
        order.append(id)
        guard order.count > 2 * Self.remembered else { return }
        for old in order.prefix(Self.remembered) { commands[old] = nil }
        order.removeFirst(Self.remembered)
    }

    // MARK: What comes of a command

    private static let markKey = "decided"

    /// What the journal says beside a command: the last decision before it.
    static func mark(_ last: DecisionID) -> JSONValue.Member {
        JSONValue.Member(key: markKey, value: .large(last.number))
    }

    private static func after(_ command: Command) -> DecisionID? {
        if let after = command.after { return after }
        return JSONValue(parsing: Array(command.journaled.utf8))?[markKey]?.unsigned.map { DecisionID($0) }
    }

    /// A command is about to be accepted: what happens from now on comes of it.
    func begin(
        _ id: String,
        _ command: JSONValue,
        _ live: LiveScenario,
        after last: DecisionID,
        until deadline: Int64
    ) {
        guard !id.isEmpty else { return }
        // The oldest end with the next look.
        if pending.count >= Self.mostOpen { for place in 0..<pending.count / 2 { pending[place].deadline = 0 } }
        pending.append(Open(id: id, deadline: deadline))
        remember(id, Command(number: 0, digest: Self.digest(of: command, live), after: last))
    }

    /// It is accepted, and has a number; nil for one that was refused, and may be given again.
    func end(_ id: String, as number: UInt64?) {
        guard !id.isEmpty, order.last == id else { return }
        if let number {
            commands[id]?.number = number
        } else {
            pending.removeAll { $0.id == id }
            commands[id] = nil
            order.removeLast()
        }
    }

    /// Something happened that is no decision.
    func add(_ row: Timeline.Row) {
        for place in pending.indices { pending[place].meanwhile.add(row) }
    }

    /// Nothing more comes of those whose time is over: writes down what did.
    ///
    /// - Parameters:
    ///   - time: on the monotonic clock in nanoseconds.
    ///   - last: the last decision.
    /// - Throws: ``CommandFailure`` with exit code 12 when it cannot be written.
    func close(before time: Int64, at now: Instant, last: DecisionID, isSettled: Bool) throws(CommandFailure) {
        var lines: [UInt8] = []
        var left: [Open] = []
        for each in pending {
            guard each.deadline <= time else {
                left.append(each)
                continue
            }
            guard let number = commands[each.id]?.number else { continue }
            var answer = GivenAnswer(command: number, through: last, at: LogTime.text(now), isSettled: isSettled)
            (answer.happened, answer.notes) = (each.meanwhile.happened, each.meanwhile.notes)
            let line = Self.line(answer)
            commands[each.id]?.line = line
            lines += line + [0x0a]
            written += 1
        }
        pending = left
        if written > 3 * Self.remembered { try writeAll() } else { try write(lines) }
    }

    /// What came of a command; so far, where more may come.
    ///
    /// - Throws: ``CommandFailure`` with exit code 4 where nothing says.
    func answer(to id: String, at now: Instant, last: DecisionID) throws(CommandFailure) -> GivenAnswer {
        guard let command = commands[id], let after = Self.after(command) else { throw forgotten(id) }
        var answer: GivenAnswer
        if let line = command.line {
            guard let read = Self.answer(line) else { throw forgotten(id) }
            answer = read
        } else {
            answer = GivenAnswer(command: command.number, through: last, at: LogTime.text(now))
            if let meanwhile = pending.first(where: { $0.id == id })?.meanwhile {
                (answer.happened, answer.notes) = (meanwhile.happened, meanwhile.notes)
            }
        }
        answer.after = after
        return answer
    }

    /// What came of a command is not kept.
    func forgotten(_ id: String) -> CommandFailure {
        CommandFailure(
            .wrongState,
            "'\(id)' was carried out as command \(commands[id]?.number ?? 0), and what came of it is not kept any more",
            hint: "give a new command another --id"
        )
    }

    // MARK: The file

    private static func line(_ answer: GivenAnswer) -> [UInt8] {
        var writer = JSONWriter()
        writer.openObject()
        writer.key("schema")
        writer.string(schema)
        writer.key("command")
        writer.unsigned(answer.command)
        writer.key("through")
        writer.unsigned(answer.through.number)
        writer.key("at")
        writer.string(answer.at)
        writer.key("settled")
        writer.bool(answer.isSettled)
        writer.key("happened")
        writer.objects(answer.happened)
        writer.key("notes")
        writer.strings(answer.notes)
        writer.closeObject()
        return writer.bytes
    }

    private static let start = Array("{\"schema\":\"\(schema)\",\"command\":".utf8)

    /// The number of the command that a line is about; nil for one that is cut. The rest is read when it is asked for.
    private static func number(of line: ArraySlice<UInt8>) -> UInt64? {
        guard line.starts(with: start), line.last == UInt8(ascii: "}") else { return nil }
        let digits = line.dropFirst(start.count).prefix { (0x30...0x39).contains($0) }
        return UInt64(String(decoding: digits, as: UTF8.self))
    }

    private static func answer(_ line: [UInt8]) -> GivenAnswer? {
        guard let value = JSONValue(parsing: line), let command = value["command"]?.unsigned,
            let through = value["through"]?.unsigned, let at = value["at"]?.string,
            let isSettled = value["settled"]?.bool, let happened = value["happened"]?.array,
            let notes = value["notes"]?.array
        else { return nil }
        var answer = GivenAnswer(command: command, through: DecisionID(through), at: at, isSettled: isSettled)
        answer.happened = happened.map(\.encoded)
        answer.notes = notes.compactMap(\.string)
        return answer
    }

    private func write(_ lines: [UInt8]) throws(CommandFailure) {
        guard !lines.isEmpty else { return }
        do throws(SystemError) {
            let file = try Descriptor.openFile(path, O_WRONLY | O_CREAT | O_APPEND)
            guard try file.write(lines) == lines.count else {
                throw SystemError("write", code: ENOSPC, subject: path)
            }
        } catch {
            throw PhoneFolder.failure(error, of: path, hint: "free some space there")
        }
    }

    /// Writes the file anew, with what is known.
    private func writeAll() throws(CommandFailure) {
        var lines: [UInt8] = []
        written = 0
        for id in order {
            guard let line = commands[id]?.line else { continue }
            lines += line + [0x0a]
            written += 1
        }
        try PhoneFolder.replace(path, by: lines)
    }
}

extension JSONValue {
    /// The same with the keys of each object in order.
    fileprivate var inOrderOfKeys: JSONValue {
        switch self {
        case .object(let members):
            let inner = members.map { Member(key: $0.key, value: $0.value.inOrderOfKeys) }
            return .object(inner.sorted { $0.key < $1.key })
        case .array(let values): return .array(values.map(\.inOrderOfKeys))
        case .null, .bool, .integer, .large, .number, .string: return self
        }
    }
}

/// What came of a command.
struct GivenAnswer {
    var command: UInt64
    /// The last decision before it; not said of one without an identifier.
    var after = DecisionID.none
    /// The last that came of it.
    var through = DecisionID.none
    /// Where the phone's clock stood then.
    var at: String
    /// Whether all was quiet then.
    var isSettled = false
    /// Of what is no decision, an object each.
    var happened: [[UInt8]] = []
    /// What reached nobody or changed nothing, and why.
    var notes: [String] = []
    /// Of decisions: `wake.decision/2`.
    var records: [[UInt8]] = []
}

extension RunFolder {
    /// The records of the decisions after one up to another, from the logs and their older parts.
    ///
    /// - Returns: the first so many; nil where the first of them is in no part any more.
    func records(
        after: DecisionID,
        through: DecisionID,
        atMost most: Int
    ) throws(ReportError) -> [[UInt8]]? {
        var found: [[UInt8]] = []
        for name in decisionParts.reversed() {
            var (own, first): ([[UInt8]], DecisionID?) = ([], nil)
            try RunLog.eachRecord(folder: path, name: name, values: true) { record in
                guard let number = DecisionLog.number(of: record) else { return true }
                first = first ?? number
                if number > after, number <= through { own.append(record) }
                return number < through && own.count < most
            }
            found = own + found
            if let first, first.number <= after.number + 1 { return Array(found.prefix(most)) }
        }
        return nil
    }

    /// The names of the logs of decisions, oldest first.
    private var decisionParts: [String] {
        let parts = FolderTree.names(in: path).compactMap { name -> UInt64? in
            let words = name.split(separator: ".", omittingEmptySubsequences: false)
            return words.count == 3 && words[0] == "decisions" && words[2] == "ndjson" ? UInt64(words[1]) : nil
        }
        return parts.sorted().map { "decisions.\($0).ndjson" } + [RunLog.decisionsName]
    }
}

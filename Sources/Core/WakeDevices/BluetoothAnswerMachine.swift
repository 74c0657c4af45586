import WakeModel

/// Decides what a peripheral answers, in its file's words: pure, without a radio and without a clock of its own.
///
/// A request is answered at once, with what changes values and states up to the first thing that is sent or has a pause;
/// the rest is told by ``advance(to:subscribed:)`` when it is due. The devices on the air have the same in
/// `Scripts/radio/wakebench_radio/air/answers.py`.
package struct BluetoothAnswerMachine: Sendable {
    /// The most answers that are under way at a time; a request beyond them fails.
    static let limit = 64

    /// What a client asks of a characteristic.
    package enum Request: Hashable, Sendable {
        case read
        case write([UInt8])

        var bytes: [UInt8] {
            switch self {
            case .read: []
            case .write(let bytes): bytes
            }
        }
    }

    /// Something that the peripheral does.
    package enum Effect: Hashable, Sendable {
        /// The value that a read gives from now on.
        case set(Int, [UInt8])
        /// To whoever is subscribed; `line` is that of the rule.
        case send(Int, [UInt8], isIndication: Bool, line: Int)
        case disconnect(line: Int)
    }

    /// What a request is answered with.
    package struct Reply: Hashable, Sendable {
        /// A code of ATT; nil when the request is granted.
        package var error: UInt8?
        /// Only values that are set.
        package var effects: [Effect] = []
    }

    /// What the machine knows; the script is not in it.
    package struct Memory: Hashable, Codable, Sendable {
        var state = 0
        var variables: [UInt32]
        /// The positions of the records that are left, by list.
        var records: [[Int]]
        /// What is under way, oldest first.
        var runs: [Run] = []
        var lastRun: UInt64 = 0
    }

    /// An answer that is under way.
    struct Run: Hashable, Codable, Sendable {
        var number: UInt64
        var characteristic: Int
        var rule: Int
        var request: [UInt8]
        /// The action that is next.
        var action = 0
        var due: Instant
        /// Whether the action's pause is over.
        var hasWaited = false
        /// Whether the action has begun, and what is left of it.
        var hasBegun = false
        var records: [Int] = []
        var bytes: [UInt8] = []
    }

    package let answers: BluetoothAnswers
    /// In bytes, header included.
    let mtu: Int
    package var memory: Memory

    package init(_ answers: BluetoothAnswers, mtu: Int) {
        self.answers = answers
        self.mtu = mtu
        memory = Memory(
            variables: answers.variables.map(\.start),
            records: answers.records.map { Array($0.values.indices) }
        )
    }

    /// Whether what it knows is of these answers: what comes from a file may be anything.
    package var isConsistent: Bool {
        guard memory.state == 0 || answers.states.indices.contains(memory.state),
            memory.variables.count == answers.variables.count, memory.records.count == answers.records.count
        else { return false }
        for (left, list) in zip(memory.records, answers.records)
        where !left.allSatisfy(list.values.indices.contains) { return false }
        return memory.runs.count <= Self.limit && memory.runs.allSatisfy(isConsistent)
    }

    private func isConsistent(_ run: Run) -> Bool {
        guard answers.rules.indices.contains(run.characteristic),
            answers.rules[run.characteristic].indices.contains(run.rule)
        else { return false }
        let actions = answers.rules[run.characteristic][run.rule].actions
        guard actions.indices.contains(run.action) else { return false }
        guard case .report(let selection, _) = actions[run.action].deed else { return run.records.isEmpty }
        return run.records.allSatisfy(answers.records[selection.list].values.indices.contains)
    }

    /// When something is due next; nil while nothing is under way.
    package var nextDue: Instant? { memory.runs.map(\.due).min() }

    /// Answers a request to the characteristic at a position of the table.
    ///
    /// - Parameter subscribed: whether somebody is subscribed to the characteristic at a position.
    package mutating func answer(
        _ request: Request,
        of characteristic: Int,
        at now: Instant,
        subscribed: (Int) -> Bool
    ) -> Reply {
        guard answers.rules.indices.contains(characteristic) else { return Reply() }
        let bytes = request.bytes
        let rule = answers.rules[characteristic].firstIndex { rule in
            switch (rule.trigger, request) {
            case (.read, .read): break
            case (.write(let pattern), .write(let value)): if !pattern.fits(value) { return false }
            default: return false
            }
            return holds(rule.conditions, bytes, subscribed)
        }
        guard let rule else { return Reply() }
        guard memory.runs.count < Self.limit else { return Reply(error: AttributeError.insufficientResources) }
        memory.lastRun += 1
        var run = Run(
            number: memory.lastRun,
            characteristic: characteristic,
            rule: rule,
            request: bytes,
            due: now
        )
        var reply = Reply()
        if !go(&run, at: now, isReply: true, &reply.effects, &reply.error, subscribed) { memory.runs.append(run) }
        return reply
    }

    /// Does what is due by a time, in the order in which it is.
    package mutating func advance(to now: Instant, subscribed: (Int) -> Bool) -> [Effect] {
        var effects: [Effect] = []
        var error: UInt8?
        while let place = memory.runs.indices.filter({ memory.runs[$0].due <= now }).min(by: { left, right in
            let (left, right) = (memory.runs[left], memory.runs[right])
            return (left.due, left.number) < (right.due, right.number)
        }) {
            var run = memory.runs.remove(at: place)
            if !go(&run, at: run.due, isReply: false, &effects, &error, subscribed) { memory.runs.append(run) }
        }
        return effects
    }

    /// The link is gone, with the state that belongs to it and all that is under way.
    package mutating func linkGone() {
        memory.state = 0
        memory.runs.removeAll()
    }

    // MARK: Actions

    /// Goes on with an answer until it is over, which is true, or something is to be waited for.
    private mutating func go(
        _ run: inout Run,
        at now: Instant,
        isReply: Bool,
        _ effects: inout [Effect],
        _ error: inout UInt8?,
        _ subscribed: (Int) -> Bool
    ) -> Bool {
        let rule = answers.rules[run.characteristic][run.rule]
        while run.action < rule.actions.count {
            let action = rule.actions[run.action]
            if !run.hasWaited {
                run.hasWaited = true
                if action.after > .zero {
                    run.due = now.advanced(by: action.after)
                    return false
                }
            }
            if run.hasBegun || holds(action.conditions, run.request, subscribed) {
                // What goes over the air comes after the response.
                if isReply, action.deed.isOnAir { return false }
                if case .fail(let code) = action.deed {
                    error = code
                    return true
                }
                if let pause = perform(action.deed, &run, rule.line, &effects) {
                    run.due = now.advanced(by: pause)
                    return false
                }
            }
            run.action += 1
            run.hasWaited = false
            run.hasBegun = false
        }
        return true
    }

    /// Does one thing, or one piece of it; then it gives the pause before the next.
    private mutating func perform(
        _ deed: BluetoothAnswers.Deed,
        _ run: inout Run,
        _ line: Int,
        _ effects: inout [Effect]
    ) -> Instant.Span? {
        switch deed {
        case .send(let sending, let parts):
            if !run.hasBegun { run.bytes = value(of: parts, run.request) }
            return send(sending, &run, line, &effects) ? sending.every : nil
        case .report(let selection, let sending):
            if !run.hasBegun { run.records = chosen(selection, run.request) }
            return report(selection.list, sending, &run, line, &effects) ? sending.every : nil
        case .set(let characteristic, let parts): effects.append(.set(characteristic, value(of: parts, run.request)))
        case .fail: break
        case .state(let state): memory.state = state
        case .assign(let variable, let number): memory.variables[variable] = self.number(number, run.request)
        case .add(let variable, let number): memory.variables[variable] &+= self.number(number, run.request)
        case .count(let selection, let variable):
            memory.variables[variable] = UInt32(chosen(selection, run.request).count)
        case .delete(let selection):
            let gone = chosen(selection, run.request)
            memory.records[selection.list].removeAll(where: gone.contains)
        case .cancel: memory.runs.removeAll()
        case .disconnect: effects.append(.disconnect(line: line))
        }
        return nil
    }

    /// Sends the run's bytes, or their first piece; true when some are left.
    private func send(
        _ sending: BluetoothAnswers.Sending,
        _ run: inout Run,
        _ line: Int,
        _ effects: inout [Effect]
    ) -> Bool {
        run.hasBegun = true
        repeat {
            let piece = sending.inFragments ? Array(run.bytes.prefix(mtu - 3)) : run.bytes
            run.bytes.removeFirst(piece.count)
            effects.append(.send(sending.characteristic, piece, isIndication: sending.isIndication, line: line))
        } while sending.every == .zero && !run.bytes.isEmpty
        return !run.bytes.isEmpty
    }

    /// Sends the run's next record, or all where they have no time between them; true when some are left.
    private func report(
        _ list: Int,
        _ sending: BluetoothAnswers.Sending,
        _ run: inout Run,
        _ line: Int,
        _ effects: inout [Effect]
    ) -> Bool {
        run.hasBegun = true
        while !run.records.isEmpty || !run.bytes.isEmpty {
            if run.bytes.isEmpty { run.bytes = answers.records[list].values[run.records.removeFirst()] }
            _ = send(sending, &run, line, &effects)
            if sending.every > .zero { break }
        }
        return !run.records.isEmpty || !run.bytes.isEmpty
    }

    /// The positions of the records that are left and chosen.
    private func chosen(_ selection: BluetoothAnswers.Selection, _ request: [UInt8]) -> [Int] {
        let numbers = answers.records[selection.list].numbers
        let from = selection.from.map { number($0, request) } ?? 0
        let to = selection.to.map { number($0, request) } ?? .max
        let within = memory.records[selection.list].filter { numbers[$0] >= from && numbers[$0] <= to }
        return switch selection.pick {
        case .all: within
        case .first: Array(within.prefix(1))
        case .last: Array(within.suffix(1))
        }
    }
}

extension BluetoothAnswers.Deed {
    /// Whether it is seen on the air, so that it comes after the response to the request.
    fileprivate var isOnAir: Bool {
        switch self {
        case .send, .report, .disconnect: true
        case .set, .fail, .state, .assign, .add, .count, .delete, .cancel: false
        }
    }
}

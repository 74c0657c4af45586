import WakeJSON
import WakeModel
import WakeReports

/// Requests that something happen to a phone, and that wait for what comes of it.
extension Daemon {
    /// Accepts a command, and answers at once or when all that comes of it is over.
    func carryOut(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let phone = try booted(request)
        guard let command = request.value["command"], Self.isCommand(command.members.map(\.key)) else {
            throw CommandFailure(.usage, "'do' needs 'command', an object with 'step', 'install' or 'advance'")
        }
        let (id, limit) = (try request.id(), try request.timeout())
        let waits = request.value["wait"]?.bool ?? true
        let time: Int64 = command["advance"] == nil ? limit : .max
        let number = request.request
        let begins = phone.listen()
        let acceptance: LivePhone.Acceptance
        do throws(CommandFailure) { acceptance = try phone.accept(command, id: id, within: time) } catch {
            phone.forget(begins)
            throw error
        }
        switch acceptance {
        case .accepted(let command):
            phone.finish(begins, until: waits ? { $0.isQuiet } : { _ in true }, within: time) {
                [weak connection, unowned phone, unowned self] meanwhile, isSettled in
                if let failure = end(of: phone, "accepted as command \(command), and then the phone") {
                    connection?.refuse(number, failure)
                    return
                }
                // The instant that a repeated command is answered with, too.
                let at = phone.endOfAnswer(to: id) ?? LogTime.text(phone.tellTime())
                var answer = GivenAnswer(command: command, at: at)
                answer.isSettled = waits && isSettled
                (answer.records, answer.happened) = (meanwhile.records, meanwhile.happened)
                answer.notes = meanwhile.notes
                if let connection { Self.tell(answer, of: phone, to: connection, number) }
            }
        case .repeated:
            phone.finish(begins, until: waits ? { $0.isAnswered(id) } : { _ in true }, within: time) {
                [weak connection, unowned phone, unowned self] _, _ in
                guard let connection else { return }
                if let failure = end(of: phone, "accepted before, and now the phone") {
                    connection.refuse(number, failure)
                    return
                }
                do throws(CommandFailure) {
                    var answer = try phone.answer(to: id)
                    // As of the first, where nobody waits.
                    answer.isSettled = waits && answer.isSettled
                    Self.tell(answer, isRepeated: true, of: phone, to: connection, number)
                } catch {
                    connection.refuse(number, error)
                }
            }
        }
    }

    private static func isCommand(_ keys: [String]) -> Bool {
        keys.count == 1 || [["advance", "by"], ["advance", "to"]].contains(keys)
    }

    /// Why nothing more comes of what was asked of a phone: it has failed meanwhile, or was shut down; nil while it is on.
    ///
    /// - Parameter before: what had become of that, up to the phone.
    private func end(of phone: LivePhone, _ before: String) -> CommandFailure? {
        guard phones[phone.name] !== phone else { return nil }
        guard let failure = failures[phone.name] else {
            return CommandFailure(.wrongState, "\(phone.name): \(before) was shut down", hint: "boot it again")
        }
        let message = "\(phone.name): \(before) failed: \(failure.message)"
        return CommandFailure(failure.code, message, hint: failure.hint, place: failure.place)
    }

    /// Answers a command; one that was accepted before as it was answered then.
    private static func tell(
        _ answer: GivenAnswer,
        isRepeated: Bool = false,
        of phone: LivePhone,
        to connection: any Client,
        _ request: Int64?
    ) {
        connection.answer(request) { writer in
            writer.key("command")
            writer.unsigned(answer.command)
            if isRepeated {
                writer.key("repeated")
                writer.bool(true)
            }
            writer.key("phone")
            writer.string(phone.name)
            writer.key("at")
            writer.string(answer.at)
            writer.key("settled")
            writer.bool(answer.isSettled)
            writer.key("decisions")
            writer.objects(answer.records)
            writer.key("happened")
            writer.objects(answer.happened)
            writer.key("notes")
            writer.strings(answer.notes)
        }
    }

    /// Waits until apps are in a state, or all is quiet.
    func wait(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let phone = try booted(request)
        let limit = try request.timeout()
        var until: (LivePhone) -> Bool = { $0.isQuiet }
        var what = "everything to settle"
        if let word = request.value["app"]?.string {
            let apps = try phone.apps(word).map { AppID(UInt32($0)) }
            let text = try request.text("state")
            guard let state = AppState(word: text) else {
                throw CommandFailure(unknown: "state '\(text)'", known: AppState.allCases.map(\.word))
            }
            until = { phone in apps.allSatisfy { phone.run.bench.router.state(of: $0) == state } }
            what = "\(word) to be \(text)"
        }
        let number = request.request
        phone.finish(phone.listen(), until: until, within: limit) {
            [weak connection, unowned phone, unowned self] meanwhile, cameAbout in
            guard cameAbout else {
                if let failure = end(of: phone, "waited for \(what), and then the phone") {
                    connection?.refuse(number, failure)
                    return
                }
                let failure = CommandFailure(.timeout, "\(phone.name): waited \(Double(limit) / 1e9) s for \(what)")
                connection?.refuse(number, failure)
                return
            }
            connection?.answer(number) { writer in
                writer.key("at")
                writer.string(LogTime.text(phone.tellTime()))
                writer.key("decisions")
                writer.objects(meanwhile.records)
            }
        }
    }
}

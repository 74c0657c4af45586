import WakeJSON

/// What a bench says to the process that carries transfers. Each may be said again after a broken connection.
package enum TransferCommand: Hashable, Sendable {
    /// Keeps a transfer, not started. One that is there already with the same number stays as it is.
    case submit(TransferRequest)
    /// Starts a transfer, or lets one that is paused go on.
    case start(UInt64)
    /// Stops it; what was received is kept.
    case pause(UInt64)
    /// Fails it as cancelled. Its bytes are kept for a successor when that is wanted and the server allows it.
    case cancel(UInt64, keepingBytes: Bool)
    /// Answers the challenge that a report of that number told.
    case answer(UInt64, report: UInt64, TransferAnswer)
    /// The report needs not be said again. After the last one the transfer is forgotten.
    case acknowledge(UInt64, report: UInt64)
    /// Forgets the bytes of a transfer that is over.
    case discard(UInt64)
    /// Tells all transfers.
    case list
    /// Ends the process. What is under way goes on when it is started again.
    case shutDown

    /// The transfer that it is about and that was submitted before; nil where there is none.
    package var transfer: UInt64? {
        switch self {
        case .start(let number), .pause(let number), .cancel(let number, _), .answer(let number, _, _),
            .acknowledge(let number, _), .discard(let number):
            number
        case .submit, .list, .shutDown: nil
        }
    }
}

/// A transfer in a list.
package struct TransferSummary: Hashable, Sendable {
    package var number: UInt64
    package var state: TransferRecord.State
    /// The bytes of the response's body that are in its file.
    package var received: Int64
    /// Reports that are not acknowledged.
    package var reports: Int

    package init(number: UInt64, state: TransferRecord.State, received: Int64, reports: Int) {
        (self.number, self.state, self.received, self.reports) = (number, state, received, reports)
    }
}

/// What the process says.
package enum TransferMessage: Hashable, Sendable {
    case report(TransferReport)
    /// The first transfers of a list, which the reply follows.
    case listed(TransferSummary)
    /// The highest number that a transfer here ever had; a list begins with it.
    case highest(UInt64)
    /// The command of that number was carried out, or refused.
    case reply(UInt64, TransferError?)
    /// It cannot work, or not for this client, and ends the connection.
    case gaveUp(TransferError)
}

extension TransferCommand {
    /// A packet.
    ///
    /// - Parameter id: which the reply repeats.
    func packet(id: UInt64) -> [UInt8] {
        var json = JSONWriter()
        json.openObject()
        json.key("id")
        json.unsigned(id)
        json.key("command")
        switch self {
        case .submit(let request):
            json.string("submit")
            json.key("request")
            request.write(to: &json)
        case .start(let number): Self.write("start", number, to: &json)
        case .pause(let number): Self.write("pause", number, to: &json)
        case .cancel(let number, let keepingBytes):
            Self.write("cancel", number, to: &json)
            json.key("keepingBytes")
            json.bool(keepingBytes)
        case .answer(let number, let report, let answer):
            Self.write("answer", number, report, to: &json)
            answer.write(to: &json)
        case .acknowledge(let number, let report): Self.write("acknowledge", number, report, to: &json)
        case .discard(let number): Self.write("discard", number, to: &json)
        case .list: json.string("list")
        case .shutDown: json.string("shutDown")
        }
        json.closeObject()
        return json.bytes
    }

    private static func write(_ word: String, _ number: UInt64, _ report: UInt64? = nil, to json: inout JSONWriter) {
        json.string(word)
        json.key("transfer")
        json.unsigned(number)
        guard let report else { return }
        json.key("report")
        json.unsigned(report)
    }

    /// Reads a packet.
    ///
    /// - Throws: ``TransferError`` of the kind `badCommand`.
    package static func read(_ packet: [UInt8]) throws(TransferError) -> (id: UInt64, command: TransferCommand) {
        guard let json = JSONValue(parsing: packet), let id = json["id"]?.unsigned, let command = TransferCommand(json)
        else { throw TransferError(.badCommand, "a packet that is no command") }
        return (id, command)
    }

    private init?(_ json: JSONValue) {
        let word = json["command"]?.string
        switch word {
        case "submit":
            guard let request = TransferRequest(json["request"]) else { return nil }
            self = .submit(request)
            return
        case "list":
            self = .list
            return
        case "shutDown":
            self = .shutDown
            return
        default: break
        }
        guard let number = json["transfer"]?.unsigned else { return nil }
        let report = json["report"]?.unsigned
        switch (word, report) {
        case ("start", _): self = .start(number)
        case ("pause", _): self = .pause(number)
        case ("cancel", _): self = .cancel(number, keepingBytes: json["keepingBytes"]?.bool ?? false)
        case ("discard", _): self = .discard(number)
        case ("acknowledge", let report?): self = .acknowledge(number, report: report)
        case ("answer", let report?):
            guard let answer = TransferAnswer(json) else { return nil }
            self = .answer(number, report: report, answer)
        default: return nil
        }
    }
}

extension TransferAnswer {
    fileprivate func write(to json: inout JSONWriter) {
        json.key("answer")
        switch self {
        case .useCredential(let credential):
            json.string("useCredential")
            json.key("credential")
            credential.write(to: &json)
        case .performDefaultHandling: json.string("performDefaultHandling")
        case .cancel: json.string("cancelAuthenticationChallenge")
        }
    }

    fileprivate init?(_ json: JSONValue) {
        switch json["answer"]?.string {
        case "useCredential":
            guard let credential = TransferCredential(json["credential"]) else { return nil }
            self = .useCredential(credential)
        case "performDefaultHandling": self = .performDefaultHandling
        case "cancelAuthenticationChallenge": self = .cancel
        default: return nil
        }
    }
}

extension TransferMessage {
    package var packet: [UInt8] {
        var json = JSONWriter()
        json.openObject()
        switch self {
        case .report(let report):
            json.key("report")
            report.write(to: &json)
        case .listed(let summary):
            json.key("listed")
            json.unsigned(summary.number)
            json.optional("state", summary.state.rawValue)
            json.optional("received", summary.received)
            json.optional("reports", Int64(summary.reports))
        case .highest(let number):
            json.key("highest")
            json.unsigned(number)
        case .reply(let id, let error):
            json.key("reply")
            json.unsigned(id)
            json.optional("error", error?.kind.rawValue)
            json.optional("message", error?.message)
        case .gaveUp(let error):
            json.optional("gaveUp", error.kind.rawValue)
            json.optional("message", error.message)
        }
        json.closeObject()
        return json.bytes
    }

    /// Nil for a packet that is none.
    init?(_ packet: [UInt8]) {
        guard let json = JSONValue(parsing: packet) else { return nil }
        let error = (json["error"] ?? json["gaveUp"])?.string.map { word in
            TransferError(TransferError.Kind(rawValue: word) ?? .system, json["message"]?.string ?? word)
        }
        if let report = TransferReport(json["report"]) {
            self = .report(report)
        } else if let number = json["listed"]?.unsigned {
            guard let state = json["state"]?.string.flatMap(TransferRecord.State.init),
                let received = json["received"]?.integer, let reports = json["reports"]?.integer
            else { return nil }
            self = .listed(
                TransferSummary(number: number, state: state, received: received, reports: Int(reports))
            )
        } else if let number = json["highest"]?.unsigned {
            self = .highest(number)
        } else if let id = json["reply"]?.unsigned {
            self = .reply(id, error)
        } else if json["gaveUp"] != nil, let error {
            self = .gaveUp(error)
        } else {
            return nil
        }
    }
}

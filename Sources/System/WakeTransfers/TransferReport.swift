import WakeJSON

/// Something that happened to a transfer. It is kept until it is acknowledged, and said again to each bench that connects.
package struct TransferReport: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Replaces an earlier one that waits.
        case progress(TransferProgress)
        /// A redirect was followed. Replaces an earlier one that waits.
        case redirected(status: Int, url: String)
        /// The transfer waits for an answer.
        case challenged(TransferChallenge)
        /// The last: a response of any status came whole.
        case finished(TransferResponse)
        /// The last: without a response. Its bytes are kept where it can be resumed.
        case failed(TransferFailure, message: String, canResume: Bool)
    }

    package var transfer: UInt64
    /// Counts the transfer's reports from 1, over all of its life: together they are told apart by it.
    package var number: UInt64
    package var kind: Kind

    package init(transfer: UInt64, number: UInt64, kind: Kind) {
        (self.transfer, self.number, self.kind) = (transfer, number, kind)
    }

    /// Whether no further report of the transfer comes.
    package var isLast: Bool {
        switch kind {
        case .finished, .failed: true
        case .progress, .redirected, .challenged: false
        }
    }
}

/// Bytes of the bodies so far, and of how many; nil where that is not known.
package struct TransferProgress: Hashable, Sendable {
    package var received: Int64
    package var toReceive: Int64?
    package var sent: Int64
    package var toSend: Int64?
}

/// A server wants to know who asks (RFC 9110 section 11).
package struct TransferChallenge: Hashable, Sendable {
    package enum Scheme: String, Sendable {
        case basic
        case digest
    }

    package var scheme: Scheme
    package var realm: String
    package var host: String
    package var port: Int
    /// How many credentials this transfer was refused with before.
    package var failures: Int
}

/// What to do about a challenge, as URLSession.AuthChallengeDisposition has it.
package enum TransferAnswer: Hashable, Sendable {
    case useCredential(TransferCredential)
    /// Goes on without a credential: the response 401 finishes the transfer.
    case performDefaultHandling
    /// Fails it as cancelled.
    case cancel
}

/// The response that finished a transfer.
package struct TransferResponse: Hashable, Sendable {
    package var status: Int
    package var headers: [HeaderField]
    /// The URL that it came from, after redirects.
    package var url: String
    /// The name of the file in the folder that holds the body. It is the bench's when the report is acknowledged;
    /// that of an upload is removed then.
    package var file: String
    /// The size of that file.
    package var bytes: Int64
    /// The bytes of the upload that left; 0 for a download.
    package var sent: Int64 = 0
}

extension TransferReport {
    func write(to json: inout JSONWriter) {
        json.openObject()
        json.key("transfer")
        json.unsigned(transfer)
        json.key("number")
        json.unsigned(number)
        json.key("kind")
        writeKind(to: &json)
        json.closeObject()
    }

    private func writeKind(to json: inout JSONWriter) {
        switch kind {
        case .progress(let progress):
            json.string("progress")
            json.optional("received", progress.received)
            json.optional("toReceive", progress.toReceive)
            json.optional("sent", progress.sent)
            json.optional("toSend", progress.toSend)
        case .redirected(let status, let url):
            json.string("redirected")
            json.optional("status", Int64(status))
            json.optional("url", url)
        case .challenged(let challenge):
            json.string("challenged")
            json.optional("scheme", challenge.scheme.rawValue)
            json.optional("realm", challenge.realm)
            json.optional("host", challenge.host)
            json.optional("port", Int64(challenge.port))
            json.optional("failures", Int64(challenge.failures))
        case .finished(let response):
            json.string("finished")
            json.optional("status", Int64(response.status))
            json.key("headers")
            response.headers.write(to: &json)
            json.optional("url", response.url)
            json.optional("file", response.file)
            json.optional("bytes", response.bytes)
            json.optional("sent", response.sent)
        case .failed(let code, let message, let canResume):
            json.string("failed")
            json.optional("code", Int64(code.rawValue))
            json.optional("message", message)
            json.key("canResume")
            json.bool(canResume)
        }
    }

    init?(_ json: JSONValue?) {
        guard let json, let transfer = json["transfer"]?.unsigned, let number = json["number"]?.unsigned,
            let kind = Kind(json)
        else { return nil }
        self.init(transfer: transfer, number: number, kind: kind)
    }
}

extension TransferReport.Kind {
    fileprivate init?(_ json: JSONValue) {
        let status = json["status"]?.integer.flatMap { Int(exactly: $0) }
        switch json["kind"]?.string {
        case "progress":
            guard let received = json["received"]?.integer, let sent = json["sent"]?.integer else { return nil }
            let (toReceive, toSend) = (json["toReceive"]?.integer, json["toSend"]?.integer)
            self = .progress(TransferProgress(received: received, toReceive: toReceive, sent: sent, toSend: toSend))
        case "redirected":
            guard let status, let url = json["url"]?.string else { return nil }
            self = .redirected(status: status, url: url)
        case "challenged":
            guard let challenge = TransferChallenge(json) else { return nil }
            self = .challenged(challenge)
        case "finished":
            guard let status, let headers = [HeaderField](json["headers"]), let url = json["url"]?.string,
                let file = json["file"]?.string, TransferSpool.isName(file), let bytes = json["bytes"]?.integer
            else { return nil }
            let sent = json["sent"]?.integer ?? 0
            self = .finished(
                TransferResponse(status: status, headers: headers, url: url, file: file, bytes: bytes, sent: sent)
            )
        case "failed":
            guard let code = json["code"]?.integer, let failure = TransferFailure(rawValue: Int(code)),
                let message = json["message"]?.string, let canResume = json["canResume"]?.bool
            else { return nil }
            self = .failed(failure, message: message, canResume: canResume)
        default: return nil
        }
    }
}

extension TransferChallenge {
    fileprivate init?(_ json: JSONValue) {
        guard let scheme = json["scheme"]?.string.flatMap(Scheme.init), let realm = json["realm"]?.string,
            let host = json["host"]?.string, let port = json["port"]?.integer, let failures = json["failures"]?.integer
        else { return nil }
        self.init(scheme: scheme, realm: realm, host: host, port: Int(port), failures: Int(failures))
    }
}

import WakeJSON

// A record as it is kept in its file.
extension TransferRecord {
    package var file: [UInt8] {
        var json = JSONWriter()
        json.openObject()
        json.key("version")
        json.integer(Self.version)
        json.key("request")
        request.write(to: &json)
        json.optional("state", state.rawValue)
        json.optional("deadline", deadline)
        if let representation {
            json.key("representation")
            representation.write(to: &json)
        }
        json.key("hops")
        json.strings(hops)
        if let authorization {
            json.key("authorization")
            authorization.write(to: &json)
        }
        json.optional("refusals", Int64(refusals))
        json.key("takesUnauthorized")
        json.bool(takesUnauthorized)
        if let challenge {
            json.key("challenge")
            TransferReport(transfer: request.number, number: challenge.report, kind: .challenged(challenge.challenge))
                .write(to: &json)
            json.optional("challengeURL", challenge.url)
        }
        json.key("keepsBytes")
        json.bool(keepsBytes)
        json.key("lastReport")
        json.unsigned(lastReport)
        json.key("reports")
        json.openArray()
        for report in reports { report.write(to: &json) }
        json.closeArray()
        json.closeObject()
        return json.bytes
    }

    private static let version: Int64 = 1

    /// Nil for bytes that are no record.
    package init?(file: [UInt8]) {
        guard let json = JSONValue(parsing: file), json["version"]?.integer == Self.version,
            let request = TransferRequest(json["request"]), let state = json["state"]?.string.flatMap(State.init),
            let lastReport = json["lastReport"]?.unsigned
        else { return nil }
        self.init(request)
        self.state = state
        self.lastReport = lastReport
        deadline = json["deadline"]?.integer
        representation = Representation(json["representation"])
        hops = json["hops"]?.array.compactMap(\.string) ?? []
        authorization = Authorization(json["authorization"])
        refusals = Int(json["refusals"]?.integer ?? 0)
        takesUnauthorized = json["takesUnauthorized"]?.bool ?? false
        keepsBytes = json["keepsBytes"]?.bool ?? false
        for report in json["reports"]?.array ?? [] {
            guard let report = TransferReport(report), report.transfer == request.number else { return nil }
            reports.append(report)
        }
        if let report = TransferReport(json["challenge"]), case .challenged(let challenge) = report.kind,
            let url = json["challengeURL"]?.string
        {
            self.challenge = Question(report: report.number, challenge: challenge, url: url)
        }
        if state == .challenged && challenge == nil { return nil }
    }
}

extension TransferRecord.Representation {
    fileprivate func write(to json: inout JSONWriter) {
        json.openObject()
        json.optional("status", Int64(status))
        json.key("headers")
        headers.write(to: &json)
        json.optional("url", url)
        json.optional("length", length)
        json.closeObject()
    }

    fileprivate init?(_ json: JSONValue?) {
        guard let json, let status = json["status"]?.integer, let headers = [HeaderField](json["headers"]),
            let url = json["url"]?.string
        else { return nil }
        self.init(status: Int(status), headers: headers, url: url, length: json["length"]?.integer)
    }
}

extension TransferRecord.Authorization {
    fileprivate func write(to json: inout JSONWriter) {
        json.openObject()
        json.key("credential")
        credential.write(to: &json)
        json.optional("scheme", scheme.rawValue)
        json.optional("origin", origin.text)
        json.closeObject()
    }

    fileprivate init?(_ json: JSONValue?) {
        guard let credential = TransferCredential(json?["credential"]),
            let origin = json?["origin"]?.string.flatMap({ Origin($0) }),
            let scheme = json?["scheme"]?.string.flatMap(TransferChallenge.Scheme.init)
        else { return nil }
        self.init(credential: credential, origin: origin, scheme: scheme)
    }
}

extension Origin {
    /// A URL without a path.
    var text: String { host.contains(":") ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)" }
}

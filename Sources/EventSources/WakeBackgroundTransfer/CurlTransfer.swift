import WakeModel
import WakePorts
import WakeTransfers

/// A transfer as the router and the process name it, and what each says of it in the other's words.
struct CurlTransfer {
    var app: AppID
    var number: TransferNumber
    var task: TransferTaskNumber
    var session: NameID
    var order: TransferOrder
    /// How long a request of it may stand still.
    var requestTimeout: Instant.Span

    /// What the process is asked to carry.
    func request(_ number: UInt64) -> WakeTransfers.TransferRequest {
        let isUpload = order.kind == .upload
        var request = WakeTransfers.TransferRequest(
            number: number,
            url: order.url,
            method: order.method,
            // A session writes these fields itself, whatever its app asks for.
            headers: order.fields.filter { !TransferBounds.ownHeaders.contains($0.name.lowercased()) }
                .map { HeaderField($0.name, $0.value) },
            upload: isUpload ? order.file : nil
        )
        let milliseconds = requestTimeout.nanoseconds / 1_000_000
        request.requestTimeout = max(1, min(milliseconds, TransferBounds.longestTimeout))
        request.resourceTimeout = TransferBounds.longestTimeout
        request.predecessor = order.resumes
        return request
    }

    /// What a report of the process says to the router; nil for what says nothing to it.
    ///
    /// - Parameter path: makes the path of a file that a report names.
    func report(
        of report: WakeTransfers.TransferReport,
        at path: (String) -> String,
        _ origin: NameID
    ) -> SourceReport? {
        switch report.kind {
        case .progress(let progress):
            let isUpload = order.kind == .upload
            let said = WakeModel.TransferReport.progress(
                sent: isUpload ? UInt64(clamping: progress.sent) : 0,
                received: isUpload ? 0 : UInt64(clamping: progress.received),
                expected: (isUpload ? progress.toSend : progress.toReceive).map { UInt64(clamping: $0) }
            )
            return self.report(.transferProgressed, said, origin)
        // A background session follows each redirect, and its app is not asked: the response has the URL that it came from.
        case .redirected: return nil
        case .challenged(let challenge):
            let said = AuthenticationChallenge(
                host: challenge.host,
                realm: challenge.realm,
                scheme: challenge.scheme.rawValue,
                failures: UInt32(clamping: challenge.failures)
            )
            let request = UInt32(truncatingIfNeeded: report.number)
            return self.report(.transferChallenged, .challenge(said), origin, request: request)
        case .finished(let response): return self.report(.finished, .finished(answer(response, at: path)), origin)
        case .failed(let code, let message, let canResume):
            let failure = WakeModel.TransferFailure(
                code: Int32(clamping: code.rawValue),
                message: message,
                resumes: canResume ? report.transfer : nil
            )
            return self.report(.failed, .failed(failure), origin)
        }
    }

    private func answer(
        _ response: WakeTransfers.TransferResponse,
        at path: (String) -> String
    ) -> WakeModel.TransferResponse {
        let isUpload = order.kind == .upload
        return WakeModel.TransferResponse(
            status: UInt16(clamping: response.status),
            fields: response.headers.map { HTTPField($0.name, $0.value) },
            sent: UInt64(clamping: response.sent),
            received: UInt64(clamping: response.bytes),
            file: isUpload ? "" : path(response.file),
            url: response.url == order.url ? nil : response.url
        )
    }

    /// An end.
    func report(_ end: TransferEnd, _ said: WakeModel.TransferReport, _ origin: NameID) -> SourceReport {
        let event = WakeEvent.transferEnded(number, of: app, task: task, session, end, origin: origin)
        return SourceReport(event, .transfer(said))
    }

    private func report(
        _ kind: EventKind,
        _ said: WakeModel.TransferReport,
        _ origin: NameID,
        request: UInt32 = 0
    ) -> SourceReport {
        let event = WakeEvent(
            kind: kind,
            local: number,
            request: request,
            subject: session,
            app: app,
            manager: task,
            origin: origin
        )
        return SourceReport(event, .transfer(said))
    }
}

extension TransferAnswer {
    init(_ answer: ChallengeAnswer) {
        switch answer {
        case .credential(let user, let password):
            self = .useCredential(TransferCredential(user: user, password: password))
        case .defaultHandling: self = .performDefaultHandling
        case .cancel: self = .cancel
        }
    }
}

extension TransferError {
    /// The code in NSURLErrorDomain of a transfer that the process did not take.
    var code: Int32 {
        let failure: WakeTransfers.TransferFailure =
            switch kind {
            case .unsupportedURL: .unsupportedURL
            case .badURL: .badURL
            case .noFile: .fileDoesNotExist
            case .diskFull: .cannotWriteToFile
            case .badRequest, .badCommand, .tooMany, .unknown, .over, .notNow, .folder, .taken, .program, .system:
                .unknown
            }
        return Int32(failure.rawValue)
    }
}

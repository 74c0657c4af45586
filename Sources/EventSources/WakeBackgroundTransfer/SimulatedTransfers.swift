import WakeDevices
import WakeModel
import WakePorts

/// Servers in memory, and the process that transfers from and to them in the time of the run.
///
/// Given the same servers and commands it reports the same.
package final class SimulatedTransfers: TransferPort {
    package let backend = "simulated"
    package var report: ((SourceReport) -> Void)?

    /// A server, and what its faults have made of it.
    private struct Server {
        var name: String
        var origin: NameID
        var description: TransferServer
    }

    private var servers: [Server]
    private let files: TransferFiles?
    /// In order of their beginning.
    private var transfers: [SimulatedTransfer] = []
    private var lastChallenge: UInt32 = 0
    /// Reports that go out when time is next given, each with its instant.
    private var prepared: [Prepared] = []

    private struct Prepared: Codable {
        var at: Instant
        var report: SourceReport
    }

    /// - Parameters:
    ///   - servers: each with the name that the scenario gives it.
    ///   - folder: where the files of downloads are written; nil where no app could read them.
    package init(servers: [(name: String, server: TransferServer)], names: NameTable, folder: String? = nil) {
        self.servers = servers.map { Server(name: $0.name, origin: names.intern($0.name), description: $0.server) }
        files = folder.map { TransferFiles(folder: $0) }
    }

    package func start(at now: Instant) throws(SourceFailure) {}

    package func stop() {
        report = nil
        transfers.removeAll()
        prepared.removeAll()
    }

    // MARK: Commands

    package func perform(_ command: TransferCommand, at now: Instant) {
        switch command {
        case .begin(let app, let transfer, let task, let session, let order, let requestTimeout, let resumes):
            let isNew = place(of: transfer) == nil
            if isNew {
                transfers.append(
                    SimulatedTransfer(
                        app: app,
                        transfer: transfer,
                        task: task,
                        session: session,
                        order: order,
                        requestTimeout: requestTimeout
                    )
                )
            }
            if isNew { take(order.resumes, transfer) }
            begin(transfer, resumes: resumes || isNew && order.resumes != nil, at: now)
        case .suspend(let transfer):
            guard let place = place(of: transfer) else { return }
            account(place, at: now)
            if case .challenged = transfers[place].stage { return }
            transfers[place].stage = .idle
        case .cancel(let transfer):
            transfers.removeAll { $0.transfer == transfer }
            files?.remove(transfer)
        case .release(let transfer): files?.remove(transfer)
        case .cancelKeepingBytes(let transfer): cancelKeepingBytes(transfer, at: now)
        case .answer(let transfer, let challenge, let answer):
            guard let place = place(of: transfer), case .challenged(challenge) = transfers[place].stage else { return }
            take(answer, place, at: now)
        }
    }

    private func place(of transfer: TransferNumber) -> Int? { transfers.firstIndex { $0.transfer == transfer } }

    /// The server of a URL, and what lies there.
    private func found(_ place: Int) -> (server: Int, entry: TransferServer.Entry?)? {
        for server in servers.indices {
            if let answer = servers[server].description.answers(transfers[place].order.url) {
                return (server, answer.entry)
            }
        }
        return nil
    }

    /// The bytes that an earlier download left; nothing else of it is kept.
    private func take(_ bytes: UInt64?, _ transfer: TransferNumber) {
        guard let place = place(of: transfer), let bytes, let entry = found(place)?.entry else { return }
        transfers[place].done = min(bytes, entry.size)
        transfers[place].quarters = entry.size < 4 ? 0 : min(3, transfers[place].done / (entry.size / 4))
    }

    private func cancelKeepingBytes(_ transfer: TransferNumber, at now: Instant) {
        guard let place = place(of: transfer) else { return }
        account(place, at: now)
        var failure = TransferFailure.cancelled
        let isResumable = found(place)?.entry?.resumable == true && transfers[place].order.kind == .download
        if isResumable, transfers[place].done > 0 { failure.resumes = transfers[place].done }
        end(place, .failed, .failed(failure), at: now)
    }

    private func begin(_ transfer: TransferNumber, resumes: Bool, at now: Instant) {
        guard let place = place(of: transfer), case .idle = transfers[place].stage else { return }
        let found = found(place)
        if !resumes || found?.entry?.resumable != true || transfers[place].order.kind == .upload {
            (transfers[place].done, transfers[place].quarters) = (0, 0)
        }
        let latency = found.map { servers[$0.server].description.latency } ?? .milliseconds(1)
        transfers[place].stage = .asking(until: now.advanced(by: latency))
    }

    private func account(_ place: Int, at now: Instant) {
        guard let (server, entry) = found(place) else { return }
        let bandwidth = servers[server].description.bandwidth
        transfers[place].account(at: now, bandwidth: bandwidth, size: entry?.size ?? 0)
    }

    private func take(_ answer: ChallengeAnswer, _ place: Int, at now: Instant) {
        let found = found(place)
        switch answer {
        case .cancel: end(place, .failed, .failed(.cancelled), at: now)
        case .defaultHandling: end(place, .finished, .finished(TransferResponse(status: 401)), at: now)
        case .credential(let user, let password):
            if let lock = found?.entry?.lock, lock.user == user, lock.password == password {
                transfers[place].isOpen = true
            } else {
                transfers[place].failures &+= 1
            }
            let latency = found.map { servers[$0.server].description.latency } ?? .milliseconds(1)
            transfers[place].stage = .asking(until: now.advanced(by: latency))
        }
    }

    // MARK: Time

    package var nextDeadline: Instant? {
        let own = transfers.indices.lazy.map { self.due($0) }.min() ?? .distantFuture
        let next = min(prepared.first?.at ?? .distantFuture, own)
        return next < .distantFuture ? next : nil
    }

    private func due(_ place: Int) -> Instant {
        switch transfers[place].stage {
        case .idle, .challenged: return .distantFuture
        case .asking(let until), .stalled(let until): return until
        case .sending(let since):
            guard let (server, entry) = found(place), let entry else { return since }
            return transfers[place].reaches(
                transfers[place].next(entry).bytes,
                since: since,
                bandwidth: servers[server].description.bandwidth
            )
        }
    }

    package func timeReached(_ now: Instant) {
        while let next = nextDeadline, next <= now {
            if let first = prepared.first, first.at <= next {
                prepared.removeFirst()
                report?(first.report)
            } else if let place = transfers.indices.first(where: { due($0) == next }) {
                proceed(place, at: next)
            }
        }
    }

    private func proceed(_ place: Int, at now: Instant) {
        switch transfers[place].stage {
        case .idle, .challenged: break
        case .stalled: interrupt(place, at: now)
        case .asking: answered(place, at: now)
        case .sending: send(place, at: now)
        }
    }

    /// The server answers: it wants a password, refuses, or begins to send.
    private func answered(_ place: Int, at now: Instant) {
        guard let (server, entry) = found(place) else {
            let failure = TransferFailure(
                code: -1003,
                message: "A server with the specified hostname could not be found."
            )
            return end(place, .failed, .failed(failure), at: now)
        }
        guard let entry else { return end(place, .finished, .finished(TransferResponse(status: 404)), at: now) }
        if let lock = entry.lock, !transfers[place].isOpen {
            lastChallenge &+= 1
            transfers[place].stage = .challenged(lastChallenge)
            let challenge = AuthenticationChallenge(
                host: servers[server].description.host,
                realm: lock.realm,
                scheme: lock.scheme.rawValue,
                failures: transfers[place].failures
            )
            return say(.transferChallenged, place, .challenge(challenge), request: lastChallenge)
        }
        transfers[place].stage = .sending(since: now)
    }

    private func send(_ place: Int, at now: Instant) {
        guard let (_, entry) = found(place), let entry else { return end(place, .failed, .failed(.cancelled), at: now) }
        let (step, bytes) = transfers[place].next(entry)
        transfers[place].done = bytes
        transfers[place].stage = .sending(since: now)
        switch step {
        case .quarter:
            transfers[place].quarters += 1
            let isUpload = transfers[place].order.kind == .upload
            let report = TransferReport.progress(
                sent: isUpload ? bytes : 0,
                received: isUpload ? 0 : bytes,
                expected: entry.size
            )
            say(.transferProgressed, place, report)
        case .cut:
            transfers[place].cuts += 1
            interrupt(place, at: now)
        case .stall:
            transfers[place].stalls += 1
            transfers[place].stage = .stalled(until: now.advanced(by: transfers[place].requestTimeout))
        case .end: finish(place, entry, at: now)
        }
    }

    private func finish(_ place: Int, _ entry: TransferServer.Entry, at now: Instant) {
        let transfer = transfers[place]
        let isUpload = transfer.order.kind == .upload
        var response = TransferResponse(status: entry.status, fields: [HTTPField("Content-Length", "\(entry.size)")])
        (response.sent, response.received) = isUpload ? (entry.size, 0) : (0, entry.size)
        if !isUpload, let files {
            guard let file = files.write(entry.size, of: transfer.transfer) else {
                return end(place, .failed, .failed(.cannotWriteToFile), at: now)
            }
            response.file = file
        }
        end(place, .finished, .finished(response), at: now)
    }

    private func interrupt(_ place: Int, at now: Instant) {
        transfers[place].stage = .idle
        let isResumable = found(place)?.entry?.resumable == true && transfers[place].order.kind == .download
        let end: TransferEnd = isResumable ? .interruptedResumable : .interrupted
        report?(SourceReport(ended(transfers[place], end)))
    }

    // MARK: Reports

    private func end(_ place: Int, _ end: TransferEnd, _ said: TransferReport, at now: Instant) {
        let event = ended(transfers[place], end)
        transfers.remove(at: place)
        report?(SourceReport(event, .transfer(said)))
    }

    private func ended(_ transfer: SimulatedTransfer, _ end: TransferEnd) -> WakeEvent {
        .transferEnded(
            transfer.transfer,
            of: transfer.app,
            task: transfer.task,
            transfer.session,
            end,
            origin: origin(of: transfer)
        )
    }

    private func say(_ kind: EventKind, _ place: Int, _ said: TransferReport, request: UInt32 = 0) {
        let transfer = transfers[place]
        report?(
            SourceReport(
                WakeEvent(
                    kind: kind,
                    local: transfer.transfer,
                    request: request,
                    subject: transfer.session,
                    app: transfer.app,
                    manager: transfer.task,
                    origin: origin(of: transfer)
                ),
                .transfer(said)
            )
        )
    }

    private func origin(of transfer: SimulatedTransfer) -> NameID {
        servers.first { $0.description.answers(transfer.order.url) != nil }?.origin ?? .none
    }

    // MARK: Faults

    /// Arms a fault of a server's file.
    ///
    /// - Returns: whether it changes anything now, or for what comes.
    /// - Throws: ``SourceFailure`` when the server, or the fault, is not there.
    @discardableResult
    package func arm(fault: String, device: String, at now: Instant) throws(SourceFailure) -> Bool {
        guard let server = servers.firstIndex(where: { $0.name == device }) else {
            throw SourceFailure.noDevice("server '\(device)'", among: servers.map(\.name))
        }
        guard let armed = servers[server].description.faults.first(where: { $0.name == fault }) else {
            let known = servers[server].description.faults.map(\.name)
            throw SourceFailure.noFault(fault, of: "server \(device)", among: known)
        }
        for place in transfers.indices where found(place)?.server == server { account(place, at: now) }
        var isFelt = transfers.indices.contains { found($0)?.server == server && isConnected($0) }
        switch armed.effect {
        case .bandwidth(let bandwidth):
            servers[server].description.bandwidth = bandwidth
            isFelt = true
        case .cut:
            for place in transfers.indices where found(place)?.server == server && isConnected(place) {
                transfers[place].stage = .idle
                let isResumable = found(place)?.entry?.resumable == true && transfers[place].order.kind == .download
                let event = ended(transfers[place], isResumable ? .interruptedResumable : .interrupted)
                prepared.append(Prepared(at: now, report: SourceReport(event)))
            }
        case .stall:
            for place in transfers.indices where found(place)?.server == server && isConnected(place) {
                transfers[place].stage = .stalled(until: now.advanced(by: transfers[place].requestTimeout))
            }
        }
        return isFelt
    }

    private func isConnected(_ place: Int) -> Bool {
        switch transfers[place].stage {
        case .asking, .sending, .stalled: true
        case .idle, .challenged: false
        }
    }

    // MARK: Snapshots

    /// Its part of a snapshot.
    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&transfers)
        try coder.code(&lastChallenge)
        try coder.code(&prepared)
        for server in servers.indices {
            var bandwidth = servers[server].description.bandwidth
            try coder.code(&bandwidth)
            servers[server].description.bandwidth = max(1, bandwidth)
        }
    }
}

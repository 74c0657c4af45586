import WakeModel

/// A transfer that the source has.
struct BegunTransfer {
    var app: AppID
    var number: TransferNumber
    var task: TransferTaskNumber
    var session: NameID
}

/// What the random world's apps have transferred for them, and what becomes of it.
extension RandomWorld {
    private mutating func anySession() -> NameID { NameID(UInt32(900 + chance.below(3))) }

    /// Sessions of a background configuration, and one of Newsstand's.
    private mutating func anyConfiguration(of session: NameID) -> TransferConfiguration {
        var configuration = TransferConfiguration()
        if session == NameID(902) { configuration.kind = .newsstand }
        configuration.sendsLaunchEvents = session != NameID(901) || chance.once(in: 2)
        configuration.isDiscretionary = chance.once(in: 4)
        if chance.once(in: 8) { configuration.resourceTimeout = .seconds(Int64(1 + chance.below(600))) }
        configuration.allowsCellular = chance.once(in: 2)
        return configuration
    }

    private mutating func anyTask() -> TransferTaskNumber { TransferTaskNumber(chance.below(7)) }

    private mutating func anyTransferOrder() -> TransferOrder {
        let kind: TransferKind = chance.once(in: 8) ? chance.pick(TransferKind.allCases) : .download
        return TransferOrder(kind, url: chance.once(in: 12) ? "ftp://example.com/a" : "https://example.com/a")
    }

    mutating func anyTransferRequest(_ index: Int) -> AppRequest {
        let number = ManagerNumber(2_001 + chance.below(3))
        let request: TransferRequest
        switch chance.below(24) {
        case 0..<7:
            let session = NameID(899 + number - 2_000)
            request = .join(session, anyConfiguration(of: session))
        case 7..<12: request = .create(anyTask(), anyTransferOrder())
        case 12..<18: request = .resume(anyTask(), anyWishes())
        case 18: request = .suspend(anyTask())
        case 19: request = chance.once(in: 2) ? .cancelKeepingBytes(anyTask()) : .cancel(anyTask())
        case 20: request = chance.once(in: 8) ? .invalidate(cancels: chance.once(in: 2)) : .cancel(anyTask())
        case 21: request = .answer(anyTask(), chance.once(in: 4) ? .cancel : .defaultHandling)
        default: request = .handledEvents(anySession())
        }
        return .transfer(chance.once(in: 30) ? 0 : number, request)
    }

    private mutating func anyWishes() -> TransferWishes {
        var wishes = TransferWishes()
        if chance.once(in: 6) { wishes.earliestBegin = router.nextDeadline?.advanced(by: .seconds(5)) }
        return wishes
    }

    /// The source is asked for something.
    mutating func hand(_ command: TransferCommand) {
        switch command {
        case .begin(let app, let transfer, let task, let session, _, _, _):
            transfers.removeAll { $0.number == transfer }
            transfers.append(.init(app: app, number: transfer, task: task, session: session))
        case .cancel(let transfer): transfers.removeAll { $0.number == transfer }
        case .suspend, .answer, .cancelKeepingBytes, .release: break
        }
    }

    /// Something becomes of a transfer; or an app does what most do.
    mutating func transferSomething() {
        if !given.isEmpty, chance.once(in: 2) {
            let (app, event) = given.remove(at: chance.below(given.count))
            return hear(.process(app, .took(event)))
        }
        let app = AppID(UInt32(chance.below(Self.appCount)))
        if transfers.isEmpty || chance.once(in: 6) { return beginTransfers(of: app) }
        happen(to: chance.pick(transfers))
    }

    /// Something becomes of a transfer of an app in a state that is met seldom.
    mutating func transfer(for app: AppID) {
        if let transfer = transfers.last(where: { $0.app == app }) { return happen(to: transfer) }
        beginTransfers(of: app)
    }

    private mutating func beginTransfers(of app: AppID) {
        for place in 0..<3 where chance.once(in: 2) {
            let number = ManagerNumber(2_001 + place)
            let session = NameID(UInt32(900 + place))
            hear(.request(app, .transfer(number, .join(session, anyConfiguration(of: session)))))
            let task = anyTask()
            hear(.request(app, .transfer(number, .create(task, anyTransferOrder()))))
            hear(.request(app, .transfer(number, .resume(task, anyWishes()))))
        }
    }

    private mutating func happen(to transfer: BegunTransfer) {
        switch chance.below(12) {
        case 0..<6: end(transfer, chance.pick([.finished, .finished, .failed]))
        case 6: end(transfer, chance.pick([.interrupted, .interruptedResumable]))
        case 7, 8:
            lastChallenge += 1
            report(.transferChallenged, of: transfer, challenge: lastChallenge)
        case 9: report(.transferWaiting, of: transfer)
        case 10: report(.transferEventsFinished, of: transfer)
        default: report(.transferProgressed, of: transfer)
        }
    }

    private mutating func end(
        _ transfer: BegunTransfer,
        _ end: TransferEnd
    ) {
        if end.isOver { transfers.removeAll { $0.number == transfer.number } }
        hear(
            .event(.transferEnded(transfer.number, of: transfer.app, task: transfer.task, transfer.session, end)),
            isEvent: true
        )
    }

    private mutating func report(
        _ kind: EventKind,
        of transfer: BegunTransfer,
        challenge: UInt32 = 0
    ) {
        hear(
            .event(
                WakeEvent(
                    kind: kind,
                    local: kind == .transferEventsFinished ? 0 : transfer.number,
                    request: challenge,
                    subject: transfer.session,
                    app: transfer.app,
                    manager: transfer.task
                )
            ),
            isEvent: true
        )
    }
}

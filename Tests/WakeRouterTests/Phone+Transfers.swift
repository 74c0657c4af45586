import WakeModel

@testable import WakeRouter

/// Verbs for transfers.
extension Phone {
    static let session = NameID(70)
    static let url = "https://example.com/episode"

    var transferCommands: [TransferCommand] {
        actions.compactMap { if case .command(.transfer(let command)) = $0 { command } else { nil } }
    }

    /// The transfers that were begun, in order.
    var begun: [TransferNumber] {
        transferCommands.compactMap { if case .begin(_, let transfer, _, _, _, _, _) = $0 { transfer } else { nil } }
    }

    /// Whether what was begun goes on with what there is of it, in order.
    var resumptions: [Bool] {
        transferCommands.compactMap { if case .begin(_, _, _, _, _, _, let resumes) = $0 { resumes } else { nil } }
    }

    /// The managers that events were delivered to, in order; 0 for the process.
    var receivers: [ManagerNumber] {
        actions.compactMap { if case .deliver(_, let manager, _, _, _) = $0 { manager } else { nil } }
    }

    /// Why what the system ended itself failed, as its app is to read it.
    var failures: [TransferFailure] {
        actions.compactMap { if case .raise(_, .transfer(.failed(let failure))) = $0 { failure } else { nil } }
    }

    mutating func transfer(_ app: AppID, _ request: TransferRequest, by manager: ManagerNumber = 5) {
        hear(.request(app, .transfer(manager, request)))
    }

    mutating func join(
        _ app: AppID,
        _ session: NameID = session,
        by manager: ManagerNumber = 5,
        _ change: (inout TransferConfiguration) -> Void = { _ in }
    ) {
        var configuration = TransferConfiguration()
        change(&configuration)
        transfer(app, .join(session, configuration), by: manager)
    }

    /// The app makes a task and resumes it.
    mutating func download(
        _ app: AppID,
        _ task: TransferTaskNumber = 1,
        by manager: ManagerNumber = 5,
        url: String = url,
        _ wishes: TransferWishes = TransferWishes()
    ) {
        transfer(app, .create(task, TransferOrder(.download, url: url)), by: manager)
        transfer(app, .resume(task, wishes), by: manager)
    }

    /// The source says that a transfer is over.
    @discardableResult
    mutating func end(
        _ app: AppID,
        _ transfer: TransferNumber = 1,
        _ end: TransferEnd = .finished,
        in session: NameID = session
    ) -> EventID {
        hear(.event(.transferEnded(transfer, of: app, task: transfer, session, end)))
    }

    @discardableResult
    mutating func challenge(_ app: AppID, _ transfer: TransferNumber = 1, number: UInt32 = 1) -> EventID {
        hear(
            .event(
                WakeEvent(
                    kind: .transferChallenged,
                    local: transfer,
                    request: number,
                    subject: Phone.session,
                    app: app
                )
            )
        )
    }

    /// An app in the foreground that has joined its session and begun a number of downloads.
    mutating func downloader(
        _ modes: [BackgroundMode] = [],
        tasks: UInt32 = 1,
        _ change: (inout TransferConfiguration) -> Void = { _ in }
    ) -> AppID {
        let app = install(modes)
        open(app)
        join(app, Phone.session, by: 5, change)
        for task in 1...max(1, tasks) where tasks > 0 { download(app, task) }
        return app
    }

    /// The same, and suspended; nothing before counts.
    mutating func suspendedDownloader(
        _ modes: [BackgroundMode] = [],
        tasks: UInt32 = 1,
        _ change: (inout TransferConfiguration) -> Void = { _ in }
    ) -> AppID {
        let app = downloader(modes, tasks: tasks, change)
        leave(app)
        forget()
        return app
    }

    /// The same, and its process gone; nothing before counts.
    mutating func terminatedDownloader(
        _ modes: [BackgroundMode] = [],
        tasks: UInt32 = 1,
        cause: ExitCause = .memory,
        _ change: (inout TransferConfiguration) -> Void = { _ in }
    ) -> AppID {
        let app = suspendedDownloader(modes, tasks: tasks, change)
        if cause == .userForceQuit { user(.forceQuit, app) } else { hear(.terminate(app, cause)) }
        forget()
        return app
    }

    /// The app's process takes all that it was given.
    mutating func take(_ app: AppID) {
        for event in delivered { hear(.process(app, .took(event))) }
    }

    /// The phone lies on its charger in the night.
    mutating func rest() {
        hear(.phone(.chargerConnected))
        hear(.phone(.displayOff))
    }

    /// Whether a deed was done by an app.
    func has(_ deed: Deed) -> Bool {
        actions.contains { if case .did(_, deed, _, _) = $0 { true } else { false } }
    }
}

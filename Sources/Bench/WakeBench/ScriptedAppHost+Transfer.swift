import WakeDevices
import WakeModel
import WakePorts

/// The transfers of scripted apps.
extension TransferArea {
    /// Makes the sessions of the script; the first process of the app begins their tasks.
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        guard let own = host.apps[app], let use = own.script.transfers else { return }
        for (place, session) in use.sessions.enumerated() {
            if session.joinsByHandOnly, !own.wasLaunchedByHand { continue }
            host.make(session, place, of: app)
            guard own.generation == 1 else { continue }
            for task in session.tasks { host.begin(task, in: place, of: app) }
        }
    }

    /// What a session says to its app: that it has something for it, or that a server wants a password.
    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost) {
        if delivery.event.kind == .transferEnded, delivery.manager != 0 {
            host.say(app, .acknowledged(delivery.event.id))
        }
        guard let own = host.apps[app], let use = own.script.transfers else { return }
        let name = host.names.text(delivery.event.subject)
        guard let place = use.sessions.firstIndex(where: { $0.identifier == name }) else { return }
        if delivery.manager == 0 {
            host.hears(of: place, use, in: app)
        } else if delivery.event.kind == .transferChallenged {
            let answer = use.sessions[place].answer
            host.request(.transfer(delivery.manager, .answer(delivery.event.transferTask, answer)), from: app)
        }
    }
}

extension ScriptedAppHost {
    /// The numbers of sessions, apart from those of managers.
    private static let firstSession: ManagerNumber = 10_000

    private func manager(_ place: Int) -> ManagerNumber { Self.firstSession + ManagerNumber(place) }

    fileprivate func make(_ session: ScriptedApp.TransferSession, _ place: Int, of app: AppID) {
        let identifier = names.intern(session.identifier)
        request(.transfer(manager(place), .join(identifier, session.configuration)), from: app)
    }

    fileprivate func begin(_ task: ScriptedApp.TransferTask, in place: Int, of app: AppID) {
        guard let own = apps[app] else { return }
        let number = (own.lastTask[place] ?? 0) + 1
        own.lastTask[place] = number
        var wishes = TransferWishes()
        wishes.earliestBegin = task.beginsAfter.map { now.advanced(by: $0) }
        (wishes.bytesToSend, wishes.bytesToReceive) = (task.bytesToSend, task.bytesToReceive)
        request(.transfer(manager(place), .create(number, task.order)), from: app)
        request(.transfer(manager(place), .resume(number, wishes)), from: app)
    }

    /// handleEventsForBackgroundURLSession: the app begins what follows, and calls the completion handler some time.
    fileprivate func hears(of place: Int, _ use: ScriptedApp.TransferUse, in app: AppID) {
        guard let own = apps[app], use.sessions[place].configuration.kind == .background else { return }
        let followed = own.followed[place] ?? 0
        if followed < use.sessions[place].following.count {
            own.followed[place] = followed + 1
            begin(use.sessions[place].following[followed], in: place, of: app)
        }
        guard let span = use.handlesAfter else { return }
        let session = names.intern(use.sessions[place].identifier)
        request(.transfer(0, .handledEvents(session)), from: app, at: now.advanced(by: span))
    }

    /// A step says what apps do with a session; one that does not run does nothing.
    func perform(_ act: ScriptedApp.TransferAct, in session: String, of app: AppID, at now: Instant) {
        guard let own = apps[app], own.running, !own.frozen,
            let place = own.script.transfers?.sessions.firstIndex(where: { $0.identifier == session }),
            let made = own.script.transfers?.sessions[place]
        else { return }
        self.now = max(self.now, now)
        switch act {
        case .begin(let task): begin(task, in: place, of: app)
        case .suspend(let task): request(.transfer(manager(place), .suspend(task)), from: app)
        case .resume(let task): request(.transfer(manager(place), .resume(task)), from: app)
        case .cancel(let task): request(.transfer(manager(place), .cancel(task)), from: app)
        case .invalidate: request(.transfer(manager(place), .invalidate(cancels: true)), from: app)
        case .makeAgain: make(made, place, of: app)
        }
    }
}

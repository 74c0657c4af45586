import WakeModel
import WakePorts
import WakeProcesses
import WakeSystem
import WakeWire

/// A service extension that runs for one push: a process beside its app's (PUSH-9).
struct RunningExtension {
    let app: AppID
    /// That of the push.
    let number: UInt32
    let process: AppProcess
    let notification: WireNotification
}

/// What came of a service extension.
struct EndedExtension {
    let app: AppID
    /// That of the push.
    let number: UInt32
    /// What it made of the notification; nil without an answer.
    let content: NotificationContent?
    /// The most memory that it is known to have had at once, in megabytes.
    let memory: UInt32
}

/// The service extensions of real apps. Each push has a process of its own, which ends once it has answered.
extension ProcessAppHost {
    func runExtension(of app: AppID, for number: UInt32, _ notification: ScheduledNotification, at now: Instant) {
        guard let bundle = extensionBundles[app] else { return tellEnd(of: app, number, nil, memory: 0) }
        let process = makeProcess(bundle, Welcome(state: .background, options: LaunchOptions()))
        let running = RunningExtension(
            app: app,
            number: number,
            process: process,
            notification: translation.wire(notification.identifier, notification.content)
        )
        process.onFault = { [unowned self] in extensionFault($0, of: running) }
        extensions.append(running)
        do {
            let pid = try start(process, bundle, nil, at: now)
            note("runs as process \(pid)", of: running)
        } catch {
            note("\(error)", of: running)
            forget(running)
            tellEnd(of: app, number, nil, memory: 0)
        }
    }

    /// The time of a service extension is nearly over.
    func warnExtension(of app: AppID, for number: UInt32) {
        guard let running = runningExtension(of: app, for: number), running.process.launched else { return }
        tell(.extensionExpires(number: number), to: running)
    }

    /// A service extension is not to run any more; nobody is told.
    func endExtension(of app: AppID, for number: UInt32) {
        guard let running = runningExtension(of: app, for: number) else { return }
        note("is ended without an answer", of: running)
        forget(running)
        host.kill(running.process.key)
    }

    /// Ends those that have more memory than they may, in megabytes.
    func endExtensions(above limit: UInt32) {
        for running in extensions {
            let memory = peak(of: running)
            guard memory > limit else { continue }
            note("has \(memory) MB of memory and may have \(limit): it is ended", of: running)
            forget(running)
            host.kill(running.process.key)
            tellEnd(of: running.app, running.number, nil, memory: memory)
        }
    }

    func runningExtension(_ key: UInt32) -> RunningExtension? { extensions.first { $0.process.key == key } }

    private func runningExtension(of app: AppID, for number: UInt32) -> RunningExtension? {
        extensions.first { $0.app == app && $0.number == number }
    }

    private func forget(_ running: RunningExtension) { extensions.removeAll { $0.process === running.process } }

    private func tellEnd(of app: AppID, _ number: UInt32, _ content: NotificationContent?, memory: UInt32) {
        extensionEnded?(EndedExtension(app: app, number: number, content: content, memory: memory))
    }

    private func peak(of running: RunningExtension) -> UInt32 {
        UInt32(clamping: (host.peakFootprint(of: running.process.key) ?? 0) / 1_000_000)
    }

    private func note(_ what: String, of running: RunningExtension) {
        surroundings?.note(.beside("its service extension \(running.process.name) \(what)"), of: running.app)
    }

    // MARK: What it says

    func extensionSaid(_ packet: [UInt8], _ key: UInt32) {
        guard let running = runningExtension(key) else { return }
        let process = running.process
        process.saidAtInstant += 1
        let message: AppMessage
        do { message = try AppMessage(decoding: packet) } catch {
            return extensionFault(error.description, of: running)
        }
        switch message {
        case .hello(let version, _, _, _):
            guard version == WireLimits.version else {
                return extensionFault(
                    "speaks version \(version) of the wire; this bench speaks \(WireLimits.version)",
                    of: running
                )
            }
            if !process.greeted { process.send(.welcome(process.welcome), with: []) }
            process.greeted = true
        case .launched:
            guard !process.launched else { return }
            process.hasLaunched()
            tell(.extend(number: running.number, running.notification), to: running)
        case .acknowledge(let first, let last):
            guard process.answer(first, through: last ?? first) == nil else { return }
            extensionFault("acknowledges what it does not owe", of: running)
        case .push(.extended(running.number, let notification)): answered(notification, running)
        case .notification(.list(let id, let delivered, let from)):
            process.send(.reply(id: id, list(delivered: delivered, from: from, of: running.app)), with: [])
        case .notification(.isAllowed(let id)): process.send(.reply(id: id, mayNotify(running.app)), with: [])
        case .beginTask(_, _, let id?): process.send(.reply(id: id, WireReply(granted: false)), with: [])
        case .done, .signpost: break
        default: extensionFault("asks for what the bench does for apps alone", of: running)
        }
    }

    private func tell(_ event: WirePushEvent, to running: RunningExtension) {
        let number = running.process.owe(.nothing(.none))
        running.process.send(.deliver(WireDelivery(delivery: number, manager: 0, body: .push(event))), with: [])
    }

    /// It has called its content handler: that is what it was started for.
    private func answered(_ notification: WireNotification, _ running: RunningExtension) {
        var content = content(of: notification, by: running.app)
        content.isRemote = true
        let memory = peak(of: running)
        note("has answered, with at most \(memory) MB of memory", of: running)
        forget(running)
        host.kill(running.process.key)
        tellEnd(of: running.app, running.number, content, memory: memory)
    }

    // MARK: Its end

    func extensionExited(_ key: UInt32, _ exit: ProcessExit) {
        guard let running = runningExtension(key) else { return }
        switch exit.cause {
        case .exited(let status): note("has exited with \(status), without an answer", of: running)
        case .signalled(let signal, _): note("was ended by signal \(signal), without an answer", of: running)
        case .unknown: note("has ended without an answer", of: running)
        }
        forget(running)
        tellEnd(of: running.app, running.number, nil, memory: 0)
    }

    func extensionFault(_ what: SocketFault, _ key: UInt32) {
        guard let running = runningExtension(key) else { return }
        switch what {
        case .truncated: extensionFault("sent a packet of more than \(WireLimits.packetBytes) bytes", of: running)
        case .ending: running.process.hasDisconnected()
        case .flooded, .closed:
            running.process.hasDisconnected()
            extensionFault("is heard no more", of: running)
        }
    }

    private func extensionFault(_ what: String, of running: RunningExtension) {
        running.process.faults += 1
        if running.process.faults <= Self.loggedFaults { note(what, of: running) }
    }
}

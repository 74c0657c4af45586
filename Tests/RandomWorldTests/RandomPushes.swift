import WakeModel

/// What APNs brings for the random world's apps, and what they ask about it.
extension RandomWorld {
    /// An app does what most do: it registers for pushes, and for those of calls.
    mutating func registerForPushes(_ index: Int) {
        let app = AppID(UInt32(index))
        hear(.request(app, .push(.register)))
        if chance.once(in: 2) { hear(.request(app, .push(.registerCalls))) }
    }

    mutating func anyPushRequest(_ app: AppID) -> AppRequest {
        switch chance.below(16) {
        case 0: .push(.unregister)
        case 1: .push(.unregisterCalls)
        case 2, 3: .push(.register)
        case 4, 5: .push(.registerCalls)
        case 6: .push(.reportCall)
        case 7: .push(chance.pick([.reportCall, .callBegan, .callEnded, .callEnded]))
        case 8..<11: .push(.callHandled(anyPushed(of: app)))
        default: .push(.fetched(anyPushed(of: app), chance.pick(FetchResult.allCases)))
        }
    }

    /// A push that the app may owe an answer for, mostly.
    private mutating func anyPushed(of app: AppID) -> UInt32 {
        if !chance.once(in: 10), let known = pushed.last(where: { $0.app == app }) { return known.number }
        return UInt32(chance.below(1_000))
    }

    mutating func owe(_ event: WakeEvent, _ app: AppID) {
        pushed.append((app, event.pushNumber))
        if pushed.count > 64 { pushed.removeFirst(32) }
    }

    mutating func work(_ command: PushCommand) {
        switch command {
        case .runExtension(let app, let number, _): extending.append((app, number))
        case .endExtension(let app, let number): extending.removeAll { $0 == (app, number) }
        case .register, .unregister, .warnExtension: break
        }
    }

    /// A push comes for an app, or many one after the other; or a service extension ends.
    mutating func pushes() {
        if !extending.isEmpty, chance.once(in: 2) { return endExtension() }
        let app = AppID(UInt32(chance.below(Self.appCount)))
        guard chance.once(in: 8) else { return push(to: app) }
        pushAgainAndAgain(to: self.app(in: chance.once(in: 2) ? .suspended : .notRunning) ?? app)
    }

    /// More background pushes than the phone gives an app time for, or more calls than it may leave unreported.
    private mutating func pushAgainAndAgain(to app: AppID) {
        let isCall = chance.once(in: 2)
        // Calls come to a phone that is reached, and may launch their app.
        for change in [PhoneChange.boot, .airplaneModeOff, .cellularOn, .unlock] where isCall {
            hear(.phone(change), isEvent: true)
        }
        hear(.request(app, .push(isCall ? .registerCalls : .register)))
        for _ in 0..<5 {
            var push = Push()
            (push.type, push.priority, push.isContentAvailable) = (isCall ? .call : .background, .normal, true)
            lastPush += 1
            let kind: EventKind = isCall ? .callPushReceived : .pushReceived
            var event = WakeEvent(kind: kind, local: lastPush, subject: NameID(app.number + 1), app: app)
            event.push = push
            hear(.event(event), isEvent: true)
            hear(.process(app, .launched))
            hear(.request(app, .push(isCall ? .callHandled(lastPush) : .fetched(lastPush, .newData))))
            hear(.process(app, .suspended))
        }
    }

    private mutating func endExtension() {
        let running = extending.remove(at: chance.below(extending.count))
        var event = WakeEvent(
            kind: .serviceExtensionEnded,
            local: running.number,
            failed: chance.once(in: 4),
            app: running.app
        )
        var push = Push()
        push.extensionMemory = UInt32(chance.below(28))
        event.push = push
        hear(.event(event), isEvent: true)
    }

    /// A push of any kind comes for an app.
    mutating func push(to app: AppID) {
        lastPush += 1
        let kind: EventKind =
            switch chance.below(8) {
            case 0, 1: .callPushReceived
            case 2: .newsstandPushReceived
            default: .pushReceived
            }
        var push = Push()
        push.type = kind == .callPushReceived ? .call : chance.once(in: 4) ? .alert : .background
        push.priority = chance.once(in: 4) ? .high : .normal
        push.isContentAvailable = !chance.once(in: 4)
        push.isMutable = chance.once(in: 2)
        push.isNotification = chance.once(in: 3)
        if chance.once(in: 6) { push.content.badge = UInt32(chance.below(4)) }
        push.identifier = NameID(UInt32(810 + chance.below(4)))
        push.isCollapsible = chance.once(in: 2)
        push.size = chance.once(in: 20) ? 6_000 : 100
        switch chance.below(6) {
        case 0: push.expiration = .once
        case 1: push.expiration = .at(Instant(nanoseconds: Int64(chance.below(100_000)) * 1_000_000_000))
        default: break
        }
        var event = WakeEvent(kind: kind, local: lastPush, subject: NameID(app.number + 1), app: app)
        event.push = push
        hear(.event(event), isEvent: true)
    }
}

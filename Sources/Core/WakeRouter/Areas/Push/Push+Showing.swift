import WakeModel

/// What the user sees of pushes, and the service extensions that may change it first (PUSH-9).
extension Router {
    /// A push that reached the phone shows its notification, whatever its app gets of it.
    mutating func presentPush(_ event: WakeEvent, of app: AppID, _ reason: Reason) {
        let push = event.push
        guard push.isVisible, event.kind == .pushReceived, PushArea.reachedPhone(reason),
            !areas.push.apps[app].presented.contains(event.id)
        else { return }
        if areas.push.apps[app].presented.count >= PushArea.presentedLimit {
            areas.push.apps[app].presented.removeFirst()
        }
        areas.push.apps[app].presented.append(event.id)
        if withholds(push.identifier, of: app, by: event.id) { return }
        guard push.isNotification else {
            if let badge = push.content.badge { areas.notification.apps[app].badge = badge }
            return
        }
        let notification = ScheduledNotification(identifier: push.identifier, content: push.content, trigger: .now)
        if push.isCollapsible,
            areas.notification.apps[app].delivered.contains(where: { $0.identifier == push.identifier })
        {
            act(.did(app, .collapsedNotification, subject: push.identifier, event.id))
        }
        if push.isMutable, areas.push.apps[app].hasExtension, profile.areas.push.extensions,
            areas.push.apps[app].extensions.count < PushArea.owedLimit
        {
            runExtension(event.pushNumber, notification, of: app, by: event.id)
        } else {
            notify(notification, of: app, by: event.id)
        }
    }

    private mutating func runExtension(
        _ number: UInt32,
        _ notification: ScheduledNotification,
        of app: AppID,
        by event: EventID
    ) {
        // One number is used once; a source that gives it again has lost the first.
        areas.push.apps[app].extensions.removeAll { $0.number == number }
        let (window, margin) = (profile.areas.push.extensionWindow, profile.areas.push.extensionMargin)
        areas.push.apps[app].extensions.append(
            .init(
                number: number,
                notification: notification,
                warning: margin < window ? now.advanced(by: window - margin) : now,
                due: now.advanced(by: window)
            )
        )
        act(.did(app, .beganExtension, subject: notification.identifier, event))
        act(.push(.runExtension(app, number, notification)))
    }

    /// The extension has answered, or is over without an answer: the user sees what it made of the notification, or how it came.
    mutating func extensionEnded(_ event: WakeEvent, of app: AppID) {
        guard let place = areas.push.apps[app].extensions.firstIndex(where: { $0.number == event.pushNumber }) else {
            return
        }
        let item = areas.push.apps[app].extensions.remove(at: place)
        let isAnswer = !event.failed && event.push.extensionMemory <= profile.areas.push.extensionMemory
        var checks = CheckResults()
        checks[.extensionAnswered] = isAnswer ? .pass : .fail
        reached = true
        recordUnaddressed(
            event,
            isAnswer
                ? Ruling(.coalesce, .ledToEvents, wouldHave: .coalesce)
                : Ruling(.drop, .originalShown, wouldHave: .coalesce),
            checks: checks
        )
        var notification = item.notification
        if isAnswer { notification.content = event.push.content }
        notify(notification, of: app, by: event.id)
    }

    /// The time of an extension is nearly over, or over: that is the end of it.
    mutating func extensionsDue(of app: AppID) {
        for place in areas.push.apps[app].extensions.indices where areas.push.apps[app].extensions[place].warning <= now
        {
            areas.push.apps[app].extensions[place].warning = .distantFuture
            act(.push(.warnExtension(app, areas.push.apps[app].extensions[place].number)))
        }
        for place in areas.push.apps[app].extensions.indices where areas.push.apps[app].extensions[place].due <= now {
            let item = areas.push.apps[app].extensions[place]
            areas.push.apps[app].extensions[place].due = .distantFuture
            act(.push(.endExtension(app, item.number)))
            raise(
                WakeEvent(
                    kind: .serviceExtensionEnded,
                    local: item.number,
                    subject: apps[app].snapshot.bundle,
                    failed: true,
                    app: app
                )
            )
        }
    }
}

extension PushArea {
    /// Whether a push with that reason came to the phone.
    static func reachedPhone(_ reason: Reason) -> Bool {
        switch reason {
        case .storedByServer, .pushExpired, .payloadTooLarge: false
        default: true
        }
    }
}

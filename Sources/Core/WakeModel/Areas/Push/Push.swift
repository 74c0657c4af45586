/// What of a push the router decides by, and what the user sees of it. What the app reads, the whole payload, travels beside the
/// event.
package struct Push: Hashable, Codable, Sendable {
    /// apns-push-type; APNs takes one without it for an alert.
    package var type = PushType.alert
    package var priority = PushPriority.high
    package var expiration = PushExpiration.none
    /// `content-available: 1`: the app is to run for it.
    package var isContentAvailable = false
    /// `mutable-content: 1`: a service extension may change what the user sees.
    package var isMutable = false
    /// It has an alert or a sound.
    package var isNotification = false
    /// What the user sees and hears of it; only the badge of one that is no notification.
    package var content = NotificationContent()
    /// Of its notification: the interned apns-collapse-id, or a name of its own.
    package var identifier = NameID.none
    /// It has an apns-collapse-id, by which it replaces what is displayed.
    package var isCollapsible = false
    /// How many bytes the payload has.
    package var size: UInt32 = 0
    /// Of what a service extension made of it: how many megabytes the extension took at most.
    package var extensionMemory: UInt32 = 0

    package init() {}

    /// It has an alert, a sound or a badge.
    package var isVisible: Bool { isNotification || content.badge != nil }
}

/// apns-priority.
package enum PushPriority: UInt8, Worded, Codable, Sendable {
    /// 1: for the phone's power above all.
    case low
    /// 5: as the phone's power allows.
    case normal
    /// 10: at once.
    case high

    /// The number in the header.
    package var number: Int {
        switch self {
        case .low: 1
        case .normal: 5
        case .high: 10
        }
    }

    package init?(number: Int) {
        guard let priority = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = priority
    }
}

/// apns-expiration.
package enum PushExpiration: Hashable, Codable, Sendable {
    /// APNs keeps it for as long as it keeps any.
    case none
    /// 0: it is tried once.
    case once
    case at(Instant)
}

/// A push behind a pointer: each event is copied on its way, and few have one.
package indirect enum BoxedPush: Hashable, Codable, Sendable {
    case push(Push)

    package var push: Push {
        switch self {
        case .push(let push): push
        }
    }
}

extension WakeEvent {
    /// The push that an event is about; an empty one where it has none.
    package var push: Push {
        get { boxedPush?.push ?? Push() }
        set { boxedPush = .push(newValue) }
    }

    /// The number of a push, by which its app answers for it; minted by the source.
    @inlinable
    package var pushNumber: UInt32 { local }
}

/// What an app asks about pushes.
package enum PushRequest: Hashable, Codable, Sendable {
    /// registerForRemoteNotifications: it is told its device token.
    case register
    case unregister
    /// PKPushRegistry wants VoIP pushes.
    case registerCalls
    case unregisterCalls
    /// The completion handler of the push with that number was called (PUSH-1).
    case fetched(UInt32, FetchResult)
    /// CallKit was told of an incoming call (PUSH-7), which goes on from now.
    case reportCall
    /// The app makes a call of its own (PUSH-10).
    case callBegan
    /// One of the app's calls is over.
    case callEnded
    /// The callback of the VoIP push with that number has returned (PUSH-7).
    case callHandled(UInt32)
}

/// What the router asks of the end that pushes come in by.
package enum PushCommand: Hashable, Sendable {
    /// The app has a device token from now on, for calls or for all else.
    case register(AppID, forCalls: Bool)
    case unregister(AppID, forCalls: Bool)
    /// The app's service extension is to run, and may change the notification of the push with that number (PUSH-9).
    case runExtension(AppID, UInt32, ScheduledNotification)
    /// Its time is nearly over.
    case warnExtension(AppID, UInt32)
    /// Its time is over.
    case endExtension(AppID, UInt32)
}

/// The kinds of its events, each by its row of Tables/events.tsv.
extension EventKind {
    @inlinable package static var pushReceived: EventKind { EventKind(row: 74) }
    @inlinable package static var callPushReceived: EventKind { EventKind(row: 75) }
    @inlinable package static var newsstandPushReceived: EventKind { EventKind(row: 76) }
    @inlinable package static var serviceExtensionEnded: EventKind { EventKind(row: 77) }
}

extension Action {
    package static func push(_ command: PushCommand) -> Action { .command(.push(command)) }
}

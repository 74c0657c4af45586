import WakeModel
import WakePorts

/// The desk at which APNs takes pushes for the apps of the phone: whoever brings them, one answer at once, and an event for what is
/// the phone's to decide.
package struct PushDesk {
    /// An app that pushes may be for.
    package struct App: Hashable, Sendable {
        package var bundle: String
        package var modes: BackgroundModes

        package init(bundle: String, modes: BackgroundModes) {
            self.bundle = bundle
            self.modes = modes
        }
    }

    /// Which of its tokens an app has asked for.
    private struct Registration: Hashable, Codable {
        var others = false
        var calls = false
    }

    /// A token, and what it is of.
    private struct Owner {
        var app: AppID
        var forCalls: Bool
    }

    /// The most bytes of an apns-collapse-id.
    static let collapseBytes = 64
    /// How many names notifications without an apns-collapse-id have before the first comes again: as many as stay displayed.
    private static let identifiers: UInt32 = 256

    private let names: NameTable
    private let figures: PushFigures
    /// Nanoseconds since 1970 at the beginning of the run.
    private let epoch: Int64
    private var apps: [AppID: App] = [:]
    private var owners: [[UInt8]: Owner] = [:]
    private var registrations: [AppID: Registration] = [:]
    private var lastNumber: UInt32 = 0
    private var bound = NameBound(most: NameBound.ofAir)

    package init(names: NameTable, figures: PushFigures, epoch: Int64) {
        self.names = names
        self.figures = figures
        self.epoch = epoch
    }

    /// Takes on an app of the phone.
    package mutating func add(_ app: App, as id: AppID) {
        apps[id] = app
        for forCalls in [false, true] {
            owners[DeviceToken.bytes(of: app.bundle, forCalls: forCalls)] = Owner(app: id, forCalls: forCalls)
        }
    }

    /// The app of a bundle identifier; nil when the phone has none.
    package func app(of bundle: String) -> AppID? { apps.first { $0.value.bundle == bundle }?.key }

    /// The bundle identifier of an app; nil for one that the desk does not know.
    package func bundle(of app: AppID) -> String? { apps[app]?.bundle }

    /// The token of an app that the desk knows.
    package func token(of app: AppID, forCalls: Bool) -> [UInt8] {
        DeviceToken.bytes(of: apps[app]?.bundle ?? "", forCalls: forCalls)
    }

    /// An app has a token from now on, or has it no more.
    package mutating func register(_ app: AppID, forCalls: Bool, _ isRegistered: Bool) {
        if forCalls {
            registrations[app, default: Registration()].calls = isRegistered
        } else {
            registrations[app, default: Registration()].others = isRegistered
        }
    }

    /// Takes a push, or says why not.
    ///
    /// - Parameter origin: where it comes from, such as a line of a scenario.
    /// - Returns: the answer; and what to report, which is also so of some that are refused, as what the phone says to them is to be
    ///   read in its records.
    package mutating func receive(
        _ message: PushMessage,
        origin: NameID,
        at now: Instant
    ) -> (answer: PushAnswer, report: SourceReport?) {
        guard let owner = owners[message.token], let app = apps[owner.app] else {
            return (.refused(.badDeviceToken), nil)
        }
        if let refusal = refusal(of: message, owner, app) { return (.refused(refusal), nil) }
        guard var push = PushPayload.read(message.payload) else { return (.refused(.payloadEmpty), nil) }
        push.type = pushType(of: message, owner)
        push.priority = message.priority.flatMap { PushPriority(number: $0) } ?? .high
        push.expiration = expiration(of: message)
        lastNumber &+= 1
        var identifier = "push-\(lastNumber % Self.identifiers)"
        if let collapse = message.collapseID {
            guard bound.admits([collapse], into: names) else { return (.refused(.tooManyRequests), nil) }
            (identifier, push.isCollapsible) = (collapse, true)
        }
        push.identifier = names.intern(identifier)
        let registration = registrations[owner.app] ?? Registration()
        var answer = PushAnswer.accepted
        if !(owner.forCalls ? registration.calls : registration.others) { answer = .refused(.unregistered) }
        if push.size > (owner.forCalls ? figures.callPayloadLimit : figures.payloadLimit) {
            answer = .refused(.payloadTooLarge)
            // Nobody reads it, and no journal keeps it.
            push.content = NotificationContent()
            return (answer, report(push, of: owner, app, origin, []))
        }
        return (answer, report(push, of: owner, app, origin, message.payload))
    }

    private func report(
        _ push: Push,
        of owner: Owner,
        _ app: App,
        _ origin: NameID,
        _ payload: [UInt8]
    ) -> SourceReport {
        var event = WakeEvent(
            kind: kind(of: push, owner, app),
            local: lastNumber,
            subject: names.intern(app.bundle),
            app: owner.app,
            origin: origin
        )
        event.push = push
        return SourceReport(event, .push(payload))
    }

    private func kind(of push: Push, _ owner: Owner, _ app: App) -> EventKind {
        if owner.forCalls { return .callPushReceived }
        let isForNewsstand = app.modes.contains(.newsstandContent) && !app.modes.contains(.remoteNotification)
        return push.isContentAvailable && isForNewsstand ? .newsstandPushReceived : .pushReceived
    }

    // MARK: Headers

    /// What is wrong with the headers of a push; nil when nothing is.
    private func refusal(of message: PushMessage, _ owner: Owner, _ app: App) -> PushRefusal? {
        guard let topic = message.topic else { return .missingTopic }
        if topic != PushType.topic(of: app.bundle, forCalls: owner.forCalls) {
            return Self.isOfOther(topic, app.bundle) ? .topicDisallowed : .deviceTokenNotForTopic
        }
        if let type = message.type {
            guard let known = PushType(word: type) else { return .invalidPushType }
            if (known == .call) != owner.forCalls { return .invalidPushType }
        }
        if let priority = message.priority, PushPriority(number: priority) == nil { return .badPriority }
        if let expiration = message.expiration, expiration < 0 { return .badExpirationDate }
        if let collapse = message.collapseID, !(1...Self.collapseBytes).contains(collapse.utf8.count) {
            return .badCollapseID
        }
        return message.payload.isEmpty ? .payloadEmpty : nil
    }

    /// Whether a topic is one of the app's for pushes that this phone does not have, such as those of a watch.
    private static func isOfOther(_ topic: String, _ bundle: String) -> Bool {
        topic.hasPrefix(bundle + ".") && topic != PushType.topic(of: bundle, forCalls: true)
    }

    private func pushType(of message: PushMessage, _ owner: Owner) -> PushType {
        owner.forCalls ? .call : message.type.flatMap { PushType(word: $0) } ?? .alert
    }

    private func expiration(of message: PushMessage) -> PushExpiration {
        guard let seconds = message.expiration else { return .none }
        guard seconds > 0 else { return .once }
        let (since, isFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !isFar else { return .none }
        return .at(Instant(nanoseconds: max(0, since &- epoch)))
    }

    /// Its part of a snapshot.
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var registered = registrations.keys.sorted().map { Entry(app: $0, registration: registrations[$0]!) }
        try coder.code(&registered)
        try coder.code(&lastNumber)
        guard coder.isReading else { return }
        registrations = [:]
        for entry in registered { registrations[entry.app] = entry.registration }
    }

    private struct Entry: Codable {
        var app: AppID
        var registration: Registration
    }
}

import WakeModel

extension PushArea {
    static let mechanisms = [
        WakeMechanism(
            name: "PushKit",
            modes: BackgroundModes([EventKind.callPushReceived.mode]),
            prepare: { $0.ask(.push(.registerCalls)) },
            happen: { $0.push(.callPushReceived) { $0.type = .call } }
        ),
        WakeMechanism(
            name: "silent push",
            modes: BackgroundModes([.remoteNotification]),
            prepare: { $0.ask(.push(.register)) },
            happen: { phone in
                phone.push(.pushReceived) {
                    ($0.type, $0.priority, $0.isContentAvailable) = (.background, .normal, true)
                }
            }
        ),
        WakeMechanism(
            name: "visible push",
            modes: BackgroundModes([.remoteNotification]),
            prepare: { $0.ask(.push(.register)) },
            happen: { $0.push(.pushReceived) { $0.isNotification = true } }
        ),
        WakeMechanism(
            name: "Newsstand push",
            modes: BackgroundModes([.newsstandContent]),
            prepare: { $0.ask(.push(.register)) },
            happen: { $0.push(.newsstandPushReceived) { $0.isContentAvailable = true } }
        ),
    ]
}

extension TriedPhone {
    fileprivate mutating func push(_ kind: EventKind, change: (inout Push) -> Void) {
        var push = Push()
        change(&push)
        var event = WakeEvent(kind: kind, local: 1, app: TriedPhone.app)
        event.push = push
        hear(.event(event))
    }
}

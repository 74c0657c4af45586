import WakeModel

extension Observer {
    static let transfers: [String: Observer] = [
        "launch-events": .flag { $0.snapshot.sendsLaunchEvents },
        "transfers-left": Observer { $0.observe(count: UInt64($1.snapshot.transfersLeft), into: &$2) },
    ]
}

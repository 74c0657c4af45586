import WakeModel

extension Observer {
    static let transfers: [String: Observer] = [
        "launch-events": .flag { $0.snapshot.sendsLaunchEvents },
        "transfers-left": Observer { _, seen, line in
            line.append(",\"observed\":")
            line.append(UInt64(seen.snapshot.transfersLeft))
        },
    ]
}

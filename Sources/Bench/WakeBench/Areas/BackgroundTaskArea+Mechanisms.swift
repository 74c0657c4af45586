import WakeModel

extension BackgroundTaskArea {
    static let mechanisms = [
        WakeMechanism(
            name: "background fetch",
            modes: BackgroundModes([.fetch]),
            prepare: { $0.ask(.backgroundTask(.setFetchInterval(.zero, clock: clock))) },
            happen: { $0.wait(.seconds(86_400)) }
        ),
        scheduled("BGAppRefreshTask", isProcessing: false),
        scheduled("BGProcessingTask", isProcessing: true),
    ]

    private static let clock = PhoneClock(epoch: 0, zone: 0)

    /// A request that is due while the phone lies idle.
    private static func scheduled(_ name: String, isProcessing: Bool) -> WakeMechanism {
        let identifier = NameID(11)
        return WakeMechanism(
            name: name,
            modes: BackgroundModes([.fetch, .processing]),
            declare: { $0.taskIdentifiers = [identifier] },
            prepare: { phone in
                phone.ask(.backgroundTask(.register(identifier)))
                let submission = BackgroundTaskSubmission(identifier: identifier, isProcessing: isProcessing)
                phone.ask(.backgroundTask(.submit(submission, clock: clock)))
            },
            happen: { phone in
                phone.hear(.phone(.displayOff))
                phone.wait(.seconds(86_400))
            }
        )
    }
}

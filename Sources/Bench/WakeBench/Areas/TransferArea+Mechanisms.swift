import WakeModel

extension TransferArea {
    static let mechanisms = [
        over("background URLSession", .background, modes: []),
        over("Newsstand download", .newsstand, modes: [.newsstandContent]),
    ]

    /// A download is over, as far as it was not cancelled.
    private static func over(_ name: String, _ kind: TransferSessionKind, modes: [BackgroundMode]) -> WakeMechanism {
        WakeMechanism(
            name: name,
            modes: BackgroundModes(modes),
            prepare: { phone in
                var configuration = TransferConfiguration()
                configuration.kind = kind
                phone.ask(.transfer(2, .join(session, configuration)))
                phone.ask(.transfer(2, .create(1, TransferOrder(.download, url: "https://example.com/1"))))
                phone.ask(.transfer(2, .resume(1)))
            },
            happen: { $0.hear(.event(.transferEnded(1, of: TriedPhone.app, task: 1, session, .finished))) }
        )
    }

    private static let session = NameID(9)
}

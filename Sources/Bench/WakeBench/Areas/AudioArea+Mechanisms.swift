import WakeModel

extension AudioArea {
    static let mechanisms = [
        WakeMechanism(
            name: "audio",
            modes: BackgroundModes([.audio]),
            prepare: { phone in
                phone.ask(.audio(.setCategory(.playback, [])))
                phone.ask(.audio(.start(request: 1, plays: true, records: false)))
            },
            happen: { $0.hear(.event(WakeEvent(kind: .audioRanDry, app: TriedPhone.app))) }
        )
    ]
}

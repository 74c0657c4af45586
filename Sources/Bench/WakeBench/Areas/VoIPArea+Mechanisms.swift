import WakeModel

extension VoIPArea {
    static let mechanisms = [
        WakeMechanism(
            name: "VoIP socket",
            modes: BackgroundModes([.voip]),
            declare: { $0.sdk = SDKVersion(9, 3) },
            prepare: { $0.ask(.voip(.watch(1, peer: NameID(9)))) },
            happen: { $0.hear(.event(WakeEvent(kind: .voipData, local: 1, app: TriedPhone.app))) }
        )
    ]
}

import WakeModel

extension AccessoryArea {
    static let mechanisms = [
        WakeMechanism(
            name: "external accessory",
            modes: BackgroundModes([.externalAccessory]),
            declare: { $0.accessoryProtocols = [NameID(7)] },
            prepare: { $0.ask(.accessory(3, .register)) },
            happen: { phone in
                let plugged = WakeEvent(
                    kind: .accessoryConnected,
                    peripheral: NameID(8),
                    local: 1,
                    services: [NameID(7)]
                )
                phone.hear(.event(plugged))
            }
        )
    ]
}

import WakeModel

@testable import WakeRouter

/// Verbs for a phone whose app is a peripheral, with manager 1 in slot 0.
extension Phone {
    /// What a publisher asks for in the foreground, and what of it goes on without it (BTP-3).
    static let lampInFull = PeripheralRoleCommand.advertise(
        client,
        localName: "Lamp",
        services: [service],
        overflow: [],
        again: true
    )
    static let lampReduced = PeripheralRoleCommand.advertise(
        client,
        localName: nil,
        services: [],
        overflow: [service],
        again: true
    )

    static let central = NameID(40)
    static let level: UInt32 = 2
    static let client = BluetoothClient(app: AppID(0), slot: 0)
    static let battery = LocalService(
        number: 1,
        uuid: "180F",
        characteristics: [LocalCharacteristic(number: level, uuid: "2A19", properties: 0x12, permissions: 1)]
    )
    static let advertisement = LocalAdvertisement(localName: "Lamp", services: [service])

    var airCommands: [PeripheralRoleCommand] {
        actions.compactMap { if case .command(.peripheralRole(let command)) = $0 { command } else { nil } }
    }

    /// What centrals were answered: the number of the request, and the ATT error code.
    var answers: [[UInt32]] {
        airCommands.compactMap {
            if case .respond(_, let request, let result, _) = $0 { [request, UInt32(result)] } else { nil }
        }
    }

    mutating func ask(_ app: AppID, _ request: PeripheralManagerRequest) {
        self.request(app, .peripheralManager(1, request))
    }

    /// Something happens at the end that is addressed to the client.
    @discardableResult
    mutating func hear(
        _ kind: EventKind,
        local: UInt32 = Phone.level,
        request: UInt32 = 0,
        from central: NameID = Phone.central,
        to client: BluetoothClient = Phone.client,
        failed: Bool = false
    ) -> EventID {
        hear(
            .event(
                WakeEvent(
                    kind: kind,
                    peripheral: central,
                    local: local,
                    request: request,
                    client: client,
                    failed: failed
                )
            )
        )
    }

    @discardableResult
    mutating func read(_ request: UInt32) -> EventID { hear(.readRequested, request: request) }

    /// An active app that publishes the battery service and advertises it.
    mutating func publisher(
        _ modes: [BackgroundMode] = [.bluetoothPeripheral],
        restoreIdentifier: NameID = Phone.identifier,
        exitsOnSuspend: Bool = false
    ) -> AppID {
        let app = install(modes, exitsOnSuspend: exitsOnSuspend)
        user(.launch, app)
        ask(app, .create(restoreIdentifier: restoreIdentifier))
        report(app, .launched)
        ask(app, .addService(Phone.battery))
        hear(.serviceAdded, local: 1, from: .none)
        ask(
            app,
            .startAdvertising(
                localName: Phone.advertisement.localName,
                services: Phone.advertisement.services
            )
        )
        hear(.advertisingStarted, local: 0, from: .none)
        return app
    }

    mutating func suspendedPublisher(
        _ modes: [BackgroundMode] = [.bluetoothPeripheral],
        restoreIdentifier: NameID = Phone.identifier
    ) -> AppID {
        let app = publisher(modes, restoreIdentifier: restoreIdentifier)
        leave(app)
        forget()
        return app
    }

    mutating func terminatedPublisher(
        _ modes: [BackgroundMode] = [.bluetoothPeripheral],
        restoreIdentifier: NameID = Phone.identifier
    ) -> AppID {
        let app = suspendedPublisher(modes, restoreIdentifier: restoreIdentifier)
        hear(.terminate(app, .memory))
        forget()
        return app
    }
}

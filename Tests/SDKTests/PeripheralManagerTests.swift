import Foundation
import Testing
import WakeModel
import WakeWire

@Suite("CBPeripheralManager")
struct PeripheralManagerTests {
    private static let service = LocalService(
        number: 1,
        uuid: "180F",
        characteristics: [
            LocalCharacteristic(
                number: 2,
                uuid: "2A19",
                properties: 0x1a,
                permissions: 3,
                descriptors: [LocalDescriptor(uuid: "2901", value: Array("Level".utf8))]
            ),
            LocalCharacteristic(
                number: 3,
                uuid: "2A00",
                properties: 2,
                permissions: 1,
                value: [111, 107]
            ),
        ]
    )
    private static let central = BluetoothAppEnd.central

    private func asked(_ request: WirePeripheralManagerRequest) -> AppMessage {
        .peripheralManager(manager: 1, request)
    }

    /// An app with its service published.
    private func published(_ script: String...) throws -> BluetoothAppEnd {
        let end = try BluetoothAppEnd(["peripheral=", "poweredOn=add"] + script)
        #expect(try end.tell(.peripheralManager(.state(.poweredOn))) == [asked(.addService(Self.service))])
        return end
    }

    @Test("A service is published with its numbers, told as added, and advertised")
    func publishing() throws {
        let end = try published("didAdd=advertise", "didStartAdvertising=advertising,stop,advertising")
        let advertise = asked(.startAdvertising(localName: "cell", services: ["180F"]))
        #expect(
            try end.tell(.peripheralManager(.serviceAdded(service: 1, failure: nil))) == [advertise]
        )
        #expect(
            try end.tell(.peripheralManager(.advertisingStarted(failure: nil))) == [asked(.stopAdvertising)]
        )
        #expect(
            try end.lines() == [
                "poweredOn", "didAdd 180F none", "didStartAdvertising none", "isAdvertising true",
                "isAdvertising false",
            ]
        )
    }

    @Test("An advertisement that cannot begin is told with its error, and is none")
    func advertisingFails() throws {
        let end = try BluetoothAppEnd("peripheral=", "poweredOn=advertise-more", "didStartAdvertising=advertising")
        let asked = try end.tell(.peripheralManager(.state(.poweredOn)))
        #expect(asked == [self.asked(.startAdvertising(localName: nil, services: []))])
        let failure = WireFailure(domain: "CBErrorDomain", code: 9, message: "already")
        try end.tell(.peripheralManager(.advertisingStarted(failure: failure)))
        let result = try end.end()
        #expect(result.lines.suffix(2) == ["didStartAdvertising CBError.alreadyAdvertising", "isAdvertising false"])
        #expect(result.complaints.count == 1)
        #expect(result.complaints[0].contains("'kCBAdvDataManufacturerData' is not allowed, ignored"))
    }

    @Test(
        "A cached value of a characteristic that is not read-only is a misuse: the service is refused and it is said so"
    )
    func badService() throws {
        let end = try BluetoothAppEnd("peripheral=", "poweredOn=add-bad,publish")
        try end.tell(.peripheralManager(.state(.poweredOn)))
        try end.tell(.peripheralManager(.channelPublished(psm: 192, failure: nil)))
        let result = try end.end()
        #expect(result.lines == ["poweredOn", "didAdd 1809 CBError.invalidParameters", "didPublish 192 none"])
        #expect(result.complaints.first?.hasSuffix("Characteristics with cached values must be read-only") == true)
    }

    @Test("A service that is published cannot be added again, and it is said so")
    func addedTwice() throws {
        let end = try BluetoothAppEnd("peripheral=", "poweredOn=add,add,publish")
        let asked = try end.tell(.peripheralManager(.state(.poweredOn)))
        #expect(asked == [self.asked(.addService(Self.service)), self.asked(.publishChannel(encrypted: true))])
        try end.tell(.peripheralManager(.channelPublished(psm: 192, failure: nil)))
        let result = try end.end()
        #expect(result.lines == ["poweredOn", "didAdd 180F CBError.invalidParameters", "didPublish 192 none"])
        #expect(result.complaints.first?.hasSuffix("Services cannot be added more than once") == true)
    }

    @Test("A service that was removed can be added again, with new numbers")
    func addedAgain() throws {
        let end = try published("didAdd=remove,add")
        let asked = try end.tell(.peripheralManager(.serviceAdded(service: 1, failure: nil)))
        #expect(asked.first == self.asked(.removeService(1)))
        guard case .peripheralManager(1, .addService(let again)) = asked.last else {
            Issue.record("not added again: \(asked)")
            return
        }
        #expect(again.number == 4)
        #expect(again.characteristics.map(\.number) == [5, 6])
    }

    @Test("Updates go on until one is not taken, and go on where they stopped once the queue is ready")
    func backPressure() throws {
        let end = try published("didSubscribe=update", "isReady=update")
        var room = 2
        var taken: [UInt8] = []
        let answer = { (message: AppMessage) -> WireReply? in
            guard case .peripheralManager(1, .updateValue(_, 2, let value, nil)) = message else { return nil }
            if room == 0 { return WireReply(taken: false) }
            room -= 1
            taken += value
            return WireReply(taken: true)
        }
        try end.tell(.peripheralManager(.subscribed(Self.central, characteristic: 2)), answering: answer)
        room = 5
        try end.tell(.peripheralManager(.readyToUpdate), answering: answer)
        #expect(taken == [0, 1, 2])
        #expect(try end.lines() == ["poweredOn", "didSubscribe 2A19 182", "sent 2", "isReady", "sent 3"])
    }

    @Test("The centrals that are subscribed are known, and an update can be for them alone")
    func subscribers() throws {
        let end = try published("didSubscribe=subscribed,update-one", "didUnsubscribe=subscribed,update-one")
        let first = try end.tell(
            .peripheralManager(.subscribed(Self.central, characteristic: 2)),
            answering: { _ in WireReply(taken: true) }
        )
        guard case .peripheralManager(1, .updateValue(_, 2, [7], let centrals)) = first.last else {
            Issue.record("no update: \(first)")
            return
        }
        #expect(centrals == [Self.central.identifier])
        #expect(try end.tell(.peripheralManager(.unsubscribed(Self.central, characteristic: 2))) == [])
        #expect(
            try end.lines() == [
                "poweredOn", "didSubscribe 2A19 182", "subscribed [182]", "updated true", "didUnsubscribe 2A19",
                "subscribed []", "updated true",
            ]
        )
    }

    @Test("A read is answered with what follows its offset, once")
    func reading() throws {
        let end = try published("didReceiveRead=answer,answer")
        let read = WirePeripheralManagerEvent.readRequest(Self.central, request: 9, characteristic: 2, offset: 1)
        #expect(
            try end.tell(.peripheralManager(read)) == [asked(.respond(request: 9, result: 0, value: [51, 52]))]
        )
        let result = try end.end()
        #expect(result.lines.last == "didReceiveRead 2A19 offset=1")
        #expect(result.complaints.first?.hasSuffix("Request 9 is not waiting for a response") == true)
    }

    @Test("The writes of one request come together and get one answer")
    func writing() throws {
        let end = try published("didReceiveWrite=refuse")
        let writes = WirePeripheralManagerEvent.writeRequests(
            Self.central,
            request: 10,
            [.init(characteristic: 2, offset: 0, value: [1, 2]), .init(characteristic: 2, offset: 2, value: [3])]
        )
        #expect(
            try end.tell(.peripheralManager(writes)) == [asked(.respond(request: 10, result: 8, value: nil))]
        )
        #expect(try end.lines().last == #"didReceiveWrite ["0:0102", "2:03"]"#)
    }

    @Test("A request for what is no longer published fails without the app")
    func requestForNothing() throws {
        let end = try published("didAdd=remove-all")
        try end.tell(.peripheralManager(.serviceAdded(service: 1, failure: nil)))
        let read = WirePeripheralManagerEvent.readRequest(Self.central, request: 9, characteristic: 2, offset: 0)
        #expect(
            try end.tell(.peripheralManager(read)) == [asked(.respond(request: 9, result: 14, value: nil))]
        )
        #expect(try end.lines() == ["poweredOn", "didAdd 180F none"])
    }

    @Test("A delegate without the methods for requests answers that they are not supported")
    func plainDelegate() throws {
        let end = try BluetoothAppEnd("peripheral=mine", "plain")
        let restoration = WirePeripheralRestoration(services: [Self.service])
        try end.tell(.peripheralManager(.willRestore(restoration)), .peripheralManager(.state(.poweredOn)))
        let read = WirePeripheralManagerEvent.readRequest(Self.central, request: 9, characteristic: 2, offset: 0)
        #expect(
            try end.tell(.peripheralManager(read)) == [asked(.respond(request: 9, result: 6, value: nil))]
        )
        let result = try end.end()
        #expect(result.lines == ["state poweredOn"])
        let misuse = "doesn't implement the peripheralManager:willRestoreState: method"
        #expect(result.complaints.count == 1)
        #expect(result.complaints.first?.hasSuffix(misuse) == true)
    }

    @Test("A delegate with willRestoreState of a manager without restore identifier is a misuse and is said so once")
    func restoreWithoutIdentifier() throws {
        let end = try BluetoothAppEnd("peripheral=", "restoring", "poweredOn=advertising")
        try end.tell(.peripheralManager(.state(.poweredOn)))
        let misuse =
            "<CBPeripheralManager: 1> has no restore identifier but the delegate implements the "
            + "peripheralManager:willRestoreState: method. Restoring will not be supported"
        #expect(try end.end().complaints == ["wakebench: [CoreBluetooth] API MISUSE: \(misuse)"])
    }

    @Test("BTP-4: a restored manager has its services, subscribers and advertisement, and gives out no number again")
    func restoration() throws {
        let end = try BluetoothAppEnd(
            "peripheral=mine",
            "willRestoreState=advertising,subscribed",
            "poweredOn=update-one"
        )
        #expect(
            end.start == [asked(.create(id: 1, restoreIdentifier: "mine", showPowerAlert: false))]
        )
        let restoration = WirePeripheralRestoration(
            services: [Self.service],
            subscriptions: [.init(characteristic: 2, central: Self.central)],
            advertisement: .init(localName: "cell", services: ["180F"])
        )
        try end.tell(.peripheralManager(.willRestore(restoration)))
        let asked = try end.tell(
            .peripheralManager(.state(.poweredOn)),
            answering: { _ in WireReply(taken: true) }
        )
        guard case .peripheralManager(1, .updateValue(_, 2, [7], _)) = asked.first else {
            Issue.record("no update of the restored characteristic: \(asked)")
            return
        }
        #expect(
            try end.lines() == [
                "willRestoreState [180F] name=cell", "isAdvertising true", "subscribed [182]", "poweredOn",
                "updated true",
            ]
        )
    }

    @Test("A channel's PSM is published and taken back, and a central's channel is opened")
    func channels() throws {
        let end = try BluetoothAppEnd("peripheral=", "poweredOn=publish", "didPublish=unpublish")
        #expect(try end.tell(.peripheralManager(.state(.poweredOn))) == [asked(.publishChannel(encrypted: true))])
        #expect(
            try end.tell(.peripheralManager(.channelPublished(psm: 192, failure: nil))) == [
                asked(.unpublishChannel(psm: 192))
            ]
        )
        try end.tell(.peripheralManager(.channelUnpublished(psm: 192, failure: nil)))
        let (_, appEnd) = try BenchEnd.pair()
        try end.tell(
            .peripheralManager(.channelOpened(Self.central, psm: 192, failure: nil)),
            descriptor: appEnd
        )
        #expect(
            try end.lines() == [
                "poweredOn", "didPublish 192 none", "didUnpublish 192 none", "didOpen psm=192 central=true",
            ]
        )
    }

    @Test(
        "A command before the powered on state is a misuse, does nothing, and is said so",
        arguments: ["add", "advertise", "publish"]
    )
    func needsPower(command: String) throws {
        let end = try BluetoothAppEnd("peripheral=", "made=\(command)")
        #expect(end.start.count == 1)
        let misuse = "<CBPeripheralManager: 1> can only accept this command while in the powered on state"
        #expect(try end.end().complaints == ["wakebench: [CoreBluetooth] API MISUSE: \(misuse)"])
    }
}

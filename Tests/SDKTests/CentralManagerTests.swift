import Foundation
import Testing
import WakeModel
import WakeWire

@Suite("CBCentralManager")
struct CentralManagerTests {
    private static let connecting = ["central=", "poweredOn=scan", "didDiscover=connect"]

    @Test("An empty list of services is no filter, and a device is reported once in a scan, again in a new one")
    func scanning() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan,scanning", "didDiscover=scan-all")
        let asked = try end.tell(.central(.state(.poweredOn)))
        #expect(
            asked == [
                .central(manager: 1, .scan(services: [], allowDuplicates: false, solicitedServices: []))
            ]
        )
        let seen = WireDeliveryBody.central(
            .discovered(
                WireDiscovery(
                    identifier: BenchEnd.belt,
                    name: "belt",
                    Advertisement(localName: "b", services: ["180D"], txPower: 4, signalStrength: -52)
                )
            )
        )
        // The script scans again with duplicates at the first sighting; each later one is reported too.
        try end.tell(seen, seen)
        let line = "didDiscover b [180D] power=4 connectable=true rssi=-52"
        #expect(try end.lines() == ["poweredOn", "isScanning true", line, line])
    }

    @Test("Without AllowDuplicates a second sighting in the same scan is not reported")
    func oncePerScan() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan")
        try end.tell(.central(.state(.poweredOn)))
        let seen = WireDeliveryBody.central(
            .discovered(WireDiscovery(identifier: BenchEnd.belt, Advertisement(signalStrength: -52)))
        )
        try end.tell(seen, seen)
        #expect(try end.lines().count == 2)
    }

    @Test("A manager on a concurrent queue tells its delegate one thing at a time, in order")
    func concurrentQueue() throws {
        let end = try BluetoothAppEnd("central=", "global", "poweredOn=scan-all")
        try end.tell(.central(.state(.poweredOn)))
        let strengths = Array((-90)...(-41))
        for strength in strengths.dropLast() {
            end.post(
                .central(
                    .discovered(
                        WireDiscovery(identifier: BenchEnd.belt, Advertisement(signalStrength: Int16(strength)))
                    )
                )
            )
        }
        try end.tell(
            .central(
                .discovered(
                    WireDiscovery(identifier: BenchEnd.belt, Advertisement(signalStrength: Int16(strengths[49])))
                )
            )
        )
        let told = try end.lines().dropFirst().compactMap { $0.split(separator: "=").last.flatMap { Int($0) } }
        #expect(told == strengths)
    }

    @Test("Cancelling a pending connect calls didDisconnect without an error")
    func cancelPending() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan", "didDiscover=connect,services,cancel")
        try end.tell(.central(.state(.poweredOn)))
        let asked = try end.tell(
            .central(.discovered(WireDiscovery(identifier: BenchEnd.belt, Advertisement(signalStrength: -50))))
        )
        #expect(asked.last == .central(manager: 1, .cancel(peripheral: BenchEnd.belt)))
        try end.tell(
            .central(.disconnected(peripheral: BenchEnd.belt, failure: nil, timestamp: 1, isReconnecting: false))
        )
        let lines = try end.lines()
        #expect(lines.suffix(2) == ["services nil connecting", "didDisconnect reconnecting=false none disconnected"])
    }

    @Test("retrievePeripherals keeps the requested order, whatever the order of the answer")
    func retrieveOrder() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=retrieve")
        let known = [
            WirePeripheral(identifier: BenchEnd.belt, name: "belt"),
            WirePeripheral(identifier: BluetoothAppEnd.central.identifier, name: "lamp"),
        ]
        try end.tell(.central(.state(.poweredOn)), answering: { _ in WireReply(peripherals: known) })
        #expect(try end.lines() == ["poweredOn", #"retrieved ["lamp", "belt"]"#])
    }

    @Test(
        "A command before the powered on state is a misuse, does nothing, and is said so",
        arguments: ["retrieve", "scan", "stop", "events"]
    )
    func needsPower(command: String) throws {
        let end = try BluetoothAppEnd("central=", "made=\(command)")
        let create = CentralRequest.create(id: 1, restoreIdentifier: nil, showPowerAlert: true)
        #expect(end.start == [.central(manager: 1, create)])
        let misuse = "<CBCentralManager: 1> can only accept this command while in the powered on state"
        #expect(try end.end().complaints == ["wakebench: [CoreBluetooth] API MISUSE: \(misuse)"])
    }

    @Test("Services are nil after a disconnect, and the state is told")
    func servicesAfterDisconnect() throws {
        let end = try BluetoothAppEnd(
            "central=",
            "poweredOn=scan",
            "didDiscover=connect",
            "didDiscoverCharacteristics=services",
            "didDisconnect=services"
        )
        try end.connectBelt()
        _ = try end.disconnectBelt()
        #expect(
            try end.lines().suffix(3) == [
                "services [180D, 180F] connected",
                "didDisconnect reconnecting=false CBError.connectionTimeout disconnected", "services nil disconnected",
            ]
        )
    }

    @Test("A link that the system takes up again by itself is connecting after its loss")
    func autoReconnect() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan", "didDiscover=reconnecting")
        try end.tell(.central(.state(.poweredOn)))
        let asked = try end.tell(
            .central(.discovered(WireDiscovery(identifier: BenchEnd.belt, Advertisement(signalStrength: -50))))
        )
        let connect = CentralRequest.connect(peripheral: BenchEnd.belt, .reconnects, startDelay: nil)
        #expect(asked == [.central(manager: 1, connect)])
        try end.tell(.central(.connected(peripheral: BenchEnd.belt, name: nil)))
        #expect(try end.disconnectBelt(reconnecting: true) == [])
        #expect(try end.lines().last == "didDisconnect reconnecting=true CBError.connectionTimeout connecting")
    }

    @Test("An operation in flight at a disconnect fails with peripheralDisconnected, before the disconnect is told")
    func inFlight() throws {
        let end = try BluetoothAppEnd(
            "central=",
            "poweredOn=scan",
            "didDiscover=connect",
            "didDiscoverCharacteristics=discover,included,descriptors,read,write,notify,rssi,open"
        )
        try end.connectBelt()
        _ = try end.disconnectBelt()
        let error = "CBError.peripheralDisconnected"
        #expect(
            try end.lines().suffix(9) == [
                "didDiscoverServices [180D, 180F] \(error)", "didDiscoverIncludedServices \(error)",
                "didDiscoverDescriptors [] \(error)", "didUpdateValue nil \(error)", "didWriteValue \(error)",
                "didUpdateNotificationState false \(error)", "didReadRSSI 127 \(error)", "didOpen \(error)",
                "didDisconnect reconnecting=false CBError.connectionTimeout disconnected",
            ]
        )
    }

    @Test("A notification that comes before the answer to the write that caused it is told first")
    func notificationBeforeAnswer() throws {
        let end = try BluetoothAppEnd(
            "central=",
            "poweredOn=scan",
            "didDiscover=connect",
            "didDiscoverCharacteristics=write"
        )
        try end.connectBelt()
        try end.happen(.value(attribute: 18, value: [5], failure: nil))
        try end.happen(.written(attribute: 18, failure: nil))
        #expect(try end.lines().suffix(2) == ["didUpdateValue 05 none", "didWriteValue none"])
    }

    @Test("didModifyServices lists only the services that were removed, and the others stay")
    func modifiedServices() throws {
        let end = try BluetoothAppEnd(
            "central=",
            "poweredOn=scan",
            "didDiscover=connect"
        )
        try end.connectBelt()
        try end.happen(.modifiedServices([32, 64]))
        #expect(try end.lines().last == "didModifyServices [180F] left=[180D]")
    }

    @Test("A delegate without didModifyServices is told of in the app's log, in Apple's words")
    func modifiedServicesUnheard() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan", "didDiscover=unheard,connect")
        try end.connectBelt()
        try end.happen(.modifiedServices([32]))
        let belt = "<CBPeripheral: identifier = \(BenchEnd.belt), name = belt, state = connected>"
        let warning = "The delegate for \(belt) does not implement -[peripheral:didModifyServices:]"
        #expect(try end.end().complaints == ["wakebench: [CoreBluetooth] WARNING: \(warning)"])
    }

    @Test("What belongs to a service that went is not used any more, and that is said in Apple's words")
    func attributeOfAService() throws {
        let end = try BluetoothAppEnd(
            "central=",
            "poweredOn=scan",
            "didDiscover=connect",
            "didDiscoverCharacteristics=keep,read-kept",
            "didModifyServices=read-kept"
        )
        try end.connectBelt()
        #expect(try end.happen(.modifiedServices([16])) == [])
        let characteristic = "<CBCharacteristic: UUID = 2A37, properties = 0x1E, notifying = NO>"
        let belt = "<CBPeripheral: identifier = \(BenchEnd.belt), name = belt, state = connected>"
        #expect(
            try end.end().complaints == [
                "wakebench: [CoreBluetooth] WARNING: \(characteristic) is not a valid characteristic for peripheral \(belt)"
            ]
        )
    }

    @Test("A change of name is told, and the peripheral has the new one")
    func nameChanged() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan", "didDiscover=connect", "didUpdateName Belt 2=name")
        try end.connectBelt()
        try end.happen(.nameChanged("Belt 2"))
        #expect(try end.lines().suffix(2) == ["didUpdateName Belt 2", "name Belt 2"])
    }

    @Test("A peripheral has no name while its reports have none, and has the one that comes later")
    func nameComesLater() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan-all", "didDiscover=name")
        try end.tell(.central(.state(.poweredOn)))
        let nameless = WireDiscovery(identifier: BenchEnd.belt, Advertisement(signalStrength: -52))
        var named = nameless
        (named.name, named.advertisement.localName) = ("belt", "belt")
        try end.tell(.central(.discovered(nameless)), .central(.discovered(named)))
        #expect(try end.lines().filter { $0.hasPrefix("name ") } == ["name nil", "name belt"])
    }

    // MARK: Writes without response

    private static let writing = [
        "central=", "poweredOn=scan", "didDiscover=connect",
        "didDiscoverCharacteristics=can-write,command,command,can-write,command,can-write", "isReady=can-write",
    ]

    /// The bench's end takes so many writes, and says so when it is asked.
    private static func room(_ room: [UInt16]) -> (AppMessage) -> WireReply? {
        var left = room
        return { message in
            guard case .peripheral(_, _, .writeRoom) = message else { return nil }
            return WireReply(room: left.isEmpty ? 0 : left.removeFirst())
        }
    }

    @Test("canSendWriteWithoutResponse is false once the queue is full, and true again after peripheralIsReady")
    func writeRoom() throws {
        let end = try BluetoothAppEnd(Self.writing)
        let command = PeripheralRequest.write(attribute: 18, value: [1], withResponse: false)
        let asked = try end.connectBelt(answering: Self.room([3]))
        let writes = asked.filter { $0 == end.asked(command) }
        #expect(writes.count == 3)
        // It asks when it does not know of room: before the first write, and after the third.
        #expect(asked.count == writes.count + 2)
        try end.tell(.peripheral(BenchEnd.belt, .readyToWrite), answering: Self.room([5]))
        let lines = try end.lines().filter { $0.hasPrefix("canSend") || $0 == "isReady" }
        #expect(lines == ["canSend true", "canSend true", "canSend false", "isReady", "canSend true"])
    }

    @Test("A write without response that finds the queue full is not sent, and the app's log says so once")
    func writeLost() throws {
        let end = try BluetoothAppEnd(Self.writing)
        let asked = try end.connectBelt(answering: Self.room([1]))
        let command = PeripheralRequest.write(attribute: 18, value: [1], withResponse: false)
        #expect(asked.filter { $0 == end.asked(command) }.count == 1)
        let complaints = try end.end().complaints
        #expect(complaints.count == 1)
        #expect(complaints.first?.contains("takes no more writes without response now") == true)
    }

    @Test("Without a connection no write without response can be sent, and nobody is asked")
    func cannotWriteUnconnected() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan", "didDiscover=can-write")
        try end.tell(.central(.state(.poweredOn)))
        let seen = WireDiscovery(identifier: BenchEnd.belt, Advertisement(signalStrength: -50))
        #expect(try end.tell(.central(.discovered(seen))) == [])
        #expect(try end.lines().last == "canSend false")
    }

    private static let longest = "didDiscoverCharacteristics=longest"

    @Test("The longest write without response is what the bench says of the link, and 20 bytes without one")
    func longestWrite() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan", "didDiscover=longest,connect", Self.longest)
        try end.connectBelt { message in
            guard case .peripheral(_, _, .writeRoom) = message else { return nil }
            return WireReply(room: 20, longest: 244)
        }
        #expect(try end.lines().filter { $0.hasPrefix("longest") } == ["longest 20", "longest 244"])
    }

    // MARK: Both forms of a disconnect

    @Test(
        "BTC-11: of a delegate with both forms of a disconnect the shorter one alone is called",
        arguments: [true, false]
    )
    func bothForms(reconnecting: Bool) throws {
        let end = try BluetoothAppEnd("central=", "both-forms", "poweredOn=scan", "didDiscover=reconnecting")
        try end.connectBelt()
        _ = try end.disconnectBelt(reconnecting: reconnecting)
        let state = reconnecting ? "connecting" : "disconnected"
        let lines = try end.lines().filter { $0.hasPrefix("didDisconnect") }
        #expect(lines == ["didDisconnect in short CBError.connectionTimeout \(state)"])
    }

    // MARK: Several managers

    @Test("A manager neither connects nor disconnects the peripheral of another one: nothing is asked, told or changed")
    func peripheralOfAnotherManager() throws {
        let end = try BluetoothAppEnd(
            "central=",
            "poweredOn=scan",
            "didDiscover=other",
            "other=connect-other,services,connect,cancel-other,services"
        )
        try end.tell(.central(.state(.poweredOn)))
        let seen = WireDiscovery(identifier: BenchEnd.belt, name: "belt", Advertisement(signalStrength: -50))
        try end.tell(.central(.discovered(seen)))
        let asked = try end.tell(.central(.state(.poweredOn)), of: 2)
        #expect(asked == [.central(manager: 1, .connect(peripheral: BenchEnd.belt, [], startDelay: nil))])
        let result = try end.end()
        #expect(result.lines.suffix(3) == ["other", "services nil disconnected", "services nil connecting"])
        let misuses = ["disconnected", "connecting"].map { state in
            "wakebench: [CoreBluetooth] API MISUSE: <CBCentralManager: 2> <CBPeripheral: identifier = \(BenchEnd.belt), "
                + "name = belt, state = \(state)> is the peripheral of another manager, ignored"
        }
        #expect(result.complaints == misuses)
    }

    @Test("A peripheral whose manager is gone is not a valid one, in Apple's words")
    func peripheralOfNobody() throws {
        let end = try BluetoothAppEnd(
            "central=",
            "poweredOn=scan",
            "didDiscover=connect",
            "didConnect=release,rssi-later"
        )
        try end.tell(.central(.state(.poweredOn)))
        let seen = WireDiscovery(identifier: BenchEnd.belt, name: "belt", Advertisement(signalStrength: -50))
        try end.tell(.central(.discovered(seen)))
        try end.tell(.central(.connected(peripheral: BenchEnd.belt, name: nil)))
        let belt = "<CBPeripheral: identifier = \(BenchEnd.belt), name = belt, state = connected>"
        #expect(try end.end().complaints == ["wakebench: [CoreBluetooth] WARNING: \(belt) is not a valid peripheral"])
    }

    @Test("A delegate with willRestoreState of a manager without restore identifier is a misuse and is said so once")
    func restoreWithoutIdentifier() throws {
        let end = try BluetoothAppEnd("central=", "restoring", "poweredOn=scanning")
        try end.tell(.central(.state(.poweredOn)))
        let misuse =
            "<CBCentralManager: 1> has no restore identifier but the delegate implements the "
            + "centralManager:willRestoreState: method. Restoring will not be supported"
        #expect(try end.end().complaints == ["wakebench: [CoreBluetooth] API MISUSE: \(misuse)"])
    }

    @Test("An answer of the peripheral that is an error is a CBATTError")
    func attributeError() throws {
        let end = try BluetoothAppEnd(
            "central=",
            "poweredOn=scan",
            "didDiscover=connect",
            "didDiscoverCharacteristics=read"
        )
        try end.connectBelt()
        let refused = WireFailure(domain: "CBATTErrorDomain", code: 5, message: "no")
        try end.happen(.value(attribute: 18, value: nil, failure: refused))
        #expect(try end.lines().last == "didUpdateValue nil CBATTError.insufficientAuthentication")
    }

    @Test("A peripheral that the app drops takes its connection with it, and that is said so")
    func dropped() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan", "didDiscover=connect,drop")
        try end.tell(.central(.state(.poweredOn)))
        let asked = try end.tell(
            .central(.discovered(WireDiscovery(identifier: BenchEnd.belt, Advertisement(signalStrength: -50))))
        )
        #expect(asked.contains(.central(manager: 1, .cancel(peripheral: BenchEnd.belt))))
        #expect(try end.end().complaints.first?.contains("Cancelling connection for unused peripheral") == true)
    }

    @Test("Connection events are told for what was registered, with peripherals the app never met too")
    func connectionEvents() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=events", "connectionEvent=no-events")
        #expect(
            try end.tell(.central(.state(.poweredOn))) == [
                .central(manager: 1, .registerForConnectionEvents(services: ["180D"], peripherals: nil))
            ]
        )
        let event = WireDeliveryBody.central(
            .connectionEvent(
                peripheral: BenchEnd.belt,
                name: "belt",
                isConnected: true
            )
        )
        #expect(
            try end.tell(event) == [
                .central(manager: 1, .registerForConnectionEvents(services: nil, peripherals: nil))
            ]
        )
        #expect(try end.lines() == ["poweredOn", "connectionEvent peerConnected belt"])
    }

    @Test("A restore identifier whose delegate has no willRestoreState is a misuse and is said so")
    func restoreWithoutMethod() throws {
        let end = try BluetoothAppEnd("central=mine", "plain")
        try end.tell(.central(.willRestore(WireRestoration(peripherals: []))), .central(.state(.poweredOn)))
        let result = try end.end()
        #expect(result.lines == ["state poweredOn"])
        let misuse =
            "<CBCentralManager: 1> has provided a restore identifier but the delegate doesn't implement the "
            + "centralManager:willRestoreState: method"
        #expect(result.complaints == ["wakebench: [CoreBluetooth] API MISUSE: \(misuse)"])
    }
}

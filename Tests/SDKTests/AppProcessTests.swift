import Foundation
import Testing
import WakeModel
import WakeWire

@Suite("An app process")
struct AppProcessTests {
    private static let service = WireService(uuid: "180D", handle: 16)
    private static let measurement = WireCharacteristic(uuid: "2A37", handle: 18, properties: 0x10)

    /// The packets of an app from its start until it has launched, without their order.
    private func launch(_ app: AppProcess, restoring: [String] = []) throws {
        guard case .hello(version: WireLimits.version, client: _, pid: _, batches: _) = try app.bench.next() else {
            throw BenchFailure(description: "the first packet is no hello")
        }
        app.bench.send(.welcome(Welcome(state: .background, options: LaunchOptions(bluetoothCentrals: restoring))))
        let start = try app.bench.wait { $0 == .launched }
        let create = CentralRequest.create(id: 1, restoreIdentifier: "heart-rate", showPowerAlert: false)
        #expect(start.contains(.central(manager: 1, create)))
        app.bench.send(.reply(id: 1, WireReply()))
    }

    /// Makes the radio ready, and answers that no belt is connected.
    private func powerOn(_ app: AppProcess) throws {
        app.bench.deliver(1, .central(.state(.poweredOn)))
        var isScanning = false
        var isAcknowledged = false
        while !(isScanning && isAcknowledged) {
            switch try app.bench.next() {
            case .central(1, .retrieveConnected(let id, ["180D"])):
                app.bench.send(.reply(id: id, WireReply(peripherals: [])))
            case .central(1, .scan(["180D"], allowDuplicates: false, solicitedServices: [])): isScanning = true
            case .acknowledge(1, nil): isAcknowledged = true
            case let other: throw BenchFailure(description: "unexpected: \(other)")
            }
        }
    }

    @Test(
        "It loads FoundationNetworking, and libcurl with it, only where it makes a URLSession",
        arguments: [false, true]
    )
    func loadsWhatItCalls(makesSession: Bool) throws {
        let downloads = AppProcess.repository.appending(path: ".build/debug/Downloads").path
        let app = try AppProcess(makesSession ? [downloads] : AppProcess.swiftApp)
        guard case .hello(version: _, client: _, let process, batches: _) = try app.bench.next() else {
            throw BenchFailure(description: "the first packet is no hello")
        }
        let maps = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/maps"))
        let loaded = try String(decoding: maps.readToEnd() ?? Data(), as: UTF8.self)
        #expect(loaded.contains("/libFoundation.so"))
        #expect(loaded.contains("/libFoundationNetworking.so") == makesSession)
        #expect(loaded.contains("/libcurl") == makesSession)
    }

    @Test(
        "It finds, connects and follows a belt, answers each delivery after its work, and ends with the socket",
        arguments: [AppProcess.swiftApp, AppProcess.pythonApp]
    )
    func wholeLife(command: [String]) throws {
        let app = try AppProcess(command)
        let bench = app.bench
        try launch(app)
        try powerOn(app)
        bench.deliver(
            2,
            .central(
                .discovered(WireDiscovery(identifier: BenchEnd.belt, name: "belt", Advertisement(signalStrength: -50)))
            )
        )
        let found = try bench.untilAcknowledged(2)
        #expect(
            found == [
                .central(manager: 1, .stopScan),
                .central(manager: 1, .connect(peripheral: BenchEnd.belt, [], startDelay: nil)),
            ]
        )
        bench.deliver(3, .central(.connected(peripheral: BenchEnd.belt, name: "belt")))
        #expect(try bench.untilAcknowledged(3) == [asked(.discoverServices(["180D"]))])
        bench.happen(4, .services([Self.service], failure: nil))
        #expect(try bench.untilAcknowledged(4) == [asked(.discoverCharacteristics(["2A37"], service: 16))])
        bench.happen(5, .characteristics([Self.measurement], service: 16, failure: nil))
        #expect(try bench.untilAcknowledged(5) == [asked(.setNotify(attribute: 18, enabled: true))])
        bench.happen(6, .notifyState(attribute: 18, notifying: true, failure: nil))
        #expect(try bench.untilAcknowledged(6).isEmpty)
        bench.happen(7, .value(attribute: 18, value: [0, 72], failure: nil))
        #expect(try bench.untilAcknowledged(7).isEmpty)
        let lost = WireFailure(domain: "CBErrorDomain", code: 6, message: "lost")
        bench.deliver(
            8,
            .central(.disconnected(peripheral: BenchEnd.belt, failure: lost, timestamp: 1, isReconnecting: false))
        )
        let again = CentralRequest.connect(peripheral: BenchEnd.belt, [], startDelay: nil)
        #expect(try bench.untilAcknowledged(8) == [.central(manager: 1, again)])
        bench.send(.callback(delivery: 9, .didEnterBackground, state: .background))
        #expect(try bench.untilAcknowledged(9).isEmpty)
        let end = try app.end()
        #expect(end.status == 0)
        #expect(end.errors == [])
        #expect(end.lines.first?.hasSuffix("launchOptions=[]") == true)
        #expect(
            end.lines.dropFirst().map { $0.replacing(/pid=\d+/, with: "pid=N") } == [
                "didUpdateState poweredOn", "didDiscover belt", "didConnect", "didUpdateNotificationState true",
                "didUpdateValue pid=N count=1 value=0048 bpm=72", "didDisconnect", "didEnterBackground",
            ]
        )
    }

    private func asked(_ request: PeripheralRequest) -> AppMessage {
        .peripheral(manager: 1, peripheral: BenchEnd.belt, request)
    }

    @Test(
        "A relaunched app gets its past back, then the state, then the event that waited",
        arguments: [AppProcess.swiftApp, AppProcess.pythonApp]
    )
    func restoration(command: [String]) throws {
        let app = try AppProcess(command)
        try launch(app, restoring: ["heart-rate"])
        var measurement = Self.measurement
        measurement.isNotifying = true
        var service = Self.service
        service.characteristics = [measurement]
        let belt = WirePeripheral(identifier: BenchEnd.belt, name: "belt", state: .connected, services: [service])
        app.bench.deliver(1, .central(.willRestore(WireRestoration(peripherals: [belt]))))
        app.bench.deliver(2, .central(.state(.poweredOn)))
        app.bench.happen(3, .value(attribute: 18, value: [0, 80], failure: nil))
        let answers: [AppMessage] = [
            .acknowledge(delivery: 1), .acknowledge(delivery: 2), .acknowledge(delivery: 3),
        ]
        #expect(try app.bench.wait { $0 == answers[2] } == answers)
        let end = try app.end()
        #expect(end.lines.first?.contains("Centrals") == true)
        #expect(
            end.lines.dropFirst().map { $0.replacing(/pid=\d+/, with: "pid=N") } == [
                "willRestoreState peripherals=1", "didUpdateState poweredOn",
                "didUpdateValue pid=N count=1 value=0050 bpm=80",
            ]
        )
    }

    @Test("Garbage from the bench is ignored with one line each, and the app goes on")
    func garbage() throws {
        let app = try AppProcess(AppProcess.swiftApp)
        try launch(app)
        app.bench.send(bytes: Array("not JSON".utf8))
        app.bench.send(bytes: [])
        app.bench.send(bytes: Array(#"{"type":"unheard-of"}"#.utf8))
        try powerOn(app)
        let end = try app.end()
        #expect(end.status == 0)
        #expect(end.errors.count == 3)
        #expect(end.errors.allSatisfy { $0.hasPrefix("wakebench: ignored a packet from the bench: ") })
        #expect(end.lines.last == "didUpdateState poweredOn")
    }

    @Test("An app that no bench started says so in one line and exits with 2")
    func withoutBench() throws {
        let end = try AppProcess(AppProcess.swiftApp, connected: false).end()
        #expect(end.status == 2)
        #expect(end.lines == [])
        #expect(end.errors == ["wakebench: no bench started this app; run it with `wakebench run SCENARIO.yaml`"])
    }
}

import Foundation
import Testing
import WakeModel
import WakeWire

/// The bench's end of a process that does with its Bluetooth managers what its arguments say.
final class BluetoothAppEnd {
    static let central = WireCentral(identifier: "0B7C1C1E-5A67-4C0C-9A1D-6B2F8C6A7D10", maximumUpdateLength: 182)

    let app: AppProcess
    /// What the app asked while it started.
    private(set) var start: [AppMessage] = []
    private var delivered: UInt64 = 0

    /// Starts it and waits until it has launched.
    convenience init(_ script: String...) throws {
        try self.init(script)
    }

    /// Starts it and waits until it has launched.
    init(_ script: [String]) throws {
        app = try AppProcess([AppProcess.repository.appending(path: ".build/debug/BluetoothApp").path] + script)
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background)))
        start = try app.bench.wait { $0 == .launched }.dropLast()
    }

    /// Tells the only manager of events, one after the other; what the app asked until it had handled the last.
    @discardableResult
    func tell(_ bodies: WireDeliveryBody..., answering answer: (AppMessage) -> WireReply? = { _ in nil }) throws
        -> [AppMessage]
    {
        for body in bodies {
            delivered += 1
            app.bench.deliver(delivered, body)
        }
        return try settle(answer)
    }

    /// Tells another manager than the first of an event.
    @discardableResult
    func tell(_ body: WireDeliveryBody, of manager: UInt32) throws -> [AppMessage] {
        delivered += 1
        app.bench.send(.deliver(WireDelivery(delivery: delivered, manager: manager, body: body)))
        return try settle { _ in nil }
    }

    /// Tells the only manager of an event, and does not wait.
    func post(_ body: WireDeliveryBody) {
        delivered += 1
        app.bench.deliver(delivered, body)
    }

    /// Tells of an event of the belt.
    @discardableResult
    func happen(_ events: WirePeripheralEvent...) throws -> [AppMessage] {
        var asked: [AppMessage] = []
        for event in events {
            asked += try tell(.peripheral(BenchEnd.belt, event))
        }
        return asked
    }

    /// Tells of an event whose packet carries a descriptor, which is closed here.
    @discardableResult
    func tell(_ body: WireDeliveryBody, descriptor: Int32) throws -> [AppMessage] {
        delivered += 1
        app.bench.send(
            .deliver(WireDelivery(delivery: delivered, manager: 1, body: body)),
            descriptor: descriptor
        )
        close(descriptor)
        return try settle { _ in nil }
    }

    private func settle(_ answer: (AppMessage) -> WireReply?) throws -> [AppMessage] {
        var asked: [AppMessage] = []
        while true {
            let message = try app.bench.next()
            if message == .acknowledge(delivery: delivered) { return asked }
            if case .acknowledge = message { continue }
            asked.append(message)
            if let id = Self.id(of: message), let reply = answer(message) {
                app.bench.send(.reply(id: id, reply))
            }
        }
    }

    private static func id(of message: AppMessage) -> UInt64? {
        switch message {
        case .central(_, .retrieve(let id, _)), .central(_, .retrieveConnected(let id, _)),
            .peripheralManager(_, .updateValue(let id, _, _, _)), .peripheral(_, _, .writeRoom(let id)):
            id
        default: nil
        }
    }

    /// What the app printed, and its complaints, once it has ended.
    func end() throws -> (lines: [String], complaints: [String]) {
        let end = try app.end()
        #expect(end.status == 0)
        return (end.lines, end.errors)
    }

    /// What the app printed, once it has ended without a complaint.
    func lines() throws -> [String] {
        let end = try end()
        #expect(end.complaints == [])
        return end.lines
    }

    // MARK: A belt

    static let services = [WireService(uuid: "180D", handle: 16), WireService(uuid: "180F", handle: 32)]
    static let measurement = WireCharacteristic(uuid: "2A37", handle: 18, properties: 0x1e)
    static let lost = WireFailure(domain: "CBErrorDomain", code: 6, message: "lost")

    /// Makes the radio ready, finds the belt, connects it and finds what is on it; what the app asked when it knew that.
    @discardableResult
    func connectBelt(answering answer: (AppMessage) -> WireReply? = { _ in nil }) throws -> [AppMessage] {
        try tell(.central(.state(.poweredOn)))
        try tell(
            .central(
                .discovered(WireDiscovery(identifier: BenchEnd.belt, name: "belt", Advertisement(signalStrength: -50)))
            )
        )
        try tell(.central(.connected(peripheral: BenchEnd.belt, name: "belt")))
        try happen(.services(Self.services, failure: nil))
        let found = WirePeripheralEvent.characteristics([Self.measurement], service: 16, failure: nil)
        return try tell(.peripheral(BenchEnd.belt, found), answering: answer)
    }

    func disconnectBelt(reconnecting: Bool = false) throws -> [AppMessage] {
        try tell(
            .central(
                .disconnected(
                    peripheral: BenchEnd.belt,
                    failure: Self.lost,
                    timestamp: 1,
                    isReconnecting: reconnecting
                )
            )
        )
    }

    func asked(_ request: PeripheralRequest) -> AppMessage {
        .peripheral(manager: 1, peripheral: BenchEnd.belt, request)
    }
}

import Testing
import WakeBus

@testable import WakeBlueZ

/// A machine that is asked for its calls until it has none, and what it said meanwhile.
private struct Desk {
    var machine = BlueZServerMachine()
    var said: [String] = []

    /// Answers the next call; what it was, nil when there was none.
    mutating func answer(_ error: String? = nil) -> String? {
        guard let call = machine.next() else { return nil }
        let error = error.map { BusError(name: "org.bluez.Error.\($0)", message: "") }
        hear(machine.answered(call, error))
        return "\(call.member) \(call.object.split(separator: "/").last ?? "")"
    }

    mutating func hear(_ actions: [BlueZServerMachine.Action]) {
        for action in actions {
            switch action {
            case .say(.published(let number, let refusal)): said.append("published \(number) \(refusal?.kind ?? "-")")
            case .say(.advertising(let refusal)): said.append("advertising \(refusal?.kind ?? "-")")
            case .say: said.append("something else")
            case .pause(let milliseconds): said.append("pause \(milliseconds)")
            }
        }
    }

    static func service(_ number: UInt32) -> BlueZLocalService {
        BlueZLocalService(number: number, uuid: "0000180d-0000-1000-8000-00805f9b34fb")
    }

    static let strap = BlueZLocalAdvertisement(localName: "Strap")
}

@Suite("What bluetoothd is to have of this machine's")
struct BlueZServerMachineTests {
    @Test("It is asked for one thing at a time: what leaves, the services in their order, and then the advertisement")
    func order() {
        var desk = Desk()
        desk.hear(desk.machine.advertise(Desk.strap))
        for number: UInt32 in 1...2 { desk.machine.publish(Desk.service(number)) }
        let first = desk.machine.next()
        #expect(first?.object == "/org/wakebench/service1")
        #expect(desk.machine.next() == nil)
        if let first { desk.hear(desk.machine.answered(first, nil)) }
        #expect(desk.machine.unpublish(1)?.number == 1)
        #expect(desk.answer() == "UnregisterApplication service1")
        #expect(desk.answer() == "RegisterApplication service2")
        #expect(desk.answer() == "RegisterAdvertisement advertisement1")
        #expect(desk.answer() == nil)
        #expect(desk.said == ["published 1 -", "published 2 -", "advertising -"])
    }

    @Test("What is refused is told once and not asked again; what may pass is asked again, later each time")
    func refusals() {
        var desk = Desk()
        for number: UInt32 in 1...2 { desk.machine.publish(Desk.service(number)) }
        #expect(desk.answer("InvalidArguments") == "RegisterApplication service1")
        #expect(desk.answer("DoesNotExist") == "RegisterApplication service2")
        #expect(desk.answer("DoesNotExist") == "RegisterApplication service2")
        #expect(desk.answer("AlreadyExists") == "RegisterApplication service2")
        #expect(desk.answer() == nil)
        #expect(desk.said == ["published 1 InvalidArguments", "pause 250", "pause 500", "published 2 -"])
    }

    @Test("A name that finds no room is left out, under another object")
    func name() {
        var desk = Desk()
        desk.hear(desk.machine.advertise(Desk.strap))
        #expect(desk.machine.advertisement("/org/wakebench/advertisement1")?.localName == "Strap")
        #expect(desk.answer("InvalidLength") == "RegisterAdvertisement advertisement1")
        #expect(desk.machine.advertisement("/org/wakebench/advertisement1") == nil)
        #expect(desk.machine.advertisement("/org/wakebench/advertisement2")?.localName == nil)
        #expect(desk.answer() == "RegisterAdvertisement advertisement2")
        #expect(desk.said == ["advertising -"])
    }

    @Test("An adapter that was off keeps its services and has lost its advertisement; one that went has lost both")
    func adapter() {
        var desk = Desk()
        desk.machine.publish(Desk.service(1))
        desk.hear(desk.machine.advertise(Desk.strap))
        while desk.answer() != nil {}
        desk.machine.adapterOff()
        #expect(desk.answer() == "UnregisterAdvertisement advertisement1")
        #expect(desk.answer() == "RegisterAdvertisement advertisement2")
        #expect(desk.answer() == nil)
        desk.machine.adapterLeft()
        #expect(desk.answer() == "RegisterApplication service1")
        #expect(desk.answer() == "RegisterAdvertisement advertisement3")
        #expect(desk.answer() == nil)
        #expect(desk.said == ["published 1 -", "advertising -"])
    }

    @Test("At the end all is taken back that bluetoothd has, or may have")
    func end() {
        var desk = Desk()
        for number: UInt32 in 1...3 { desk.machine.publish(Desk.service(number)) }
        desk.hear(desk.machine.advertise(Desk.strap))
        _ = desk.answer()
        _ = desk.machine.next()
        let calls = desk.machine.stop()
        #expect(calls.map(\.object) == ["/org/wakebench/service1", "/org/wakebench/service2"])
        #expect(calls.allSatisfy { !$0.registers })
    }
}

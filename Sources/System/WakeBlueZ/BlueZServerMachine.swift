import WakeBus

/// What bluetoothd is to have of this machine's, and how far it is with that: services, and one advertisement for all apps, as a
/// phone has one.
///
/// It decides, and is told what happens; ``BlueZServer`` makes the calls that it returns, one at a time, so that handles are
/// given in the order of publication.
struct BlueZServerMachine {
    /// The object below which everything is exported.
    static let root = "/org/wakebench"

    /// How far bluetoothd is with something.
    enum State {
        /// It does not have it. Valid transitions to: `asked`.
        case waiting
        /// Valid transitions to: `registered`, `waiting`, `refused`.
        case asked
        /// Valid transitions to: `waiting`.
        case registered
        /// bluetoothd does not take it; it is not asked again.
        case refused
    }

    /// A service.
    struct Entry {
        var service: BlueZLocalService
        var state = State.waiting
        /// The handle that bluetoothd gave before; 0 for none.
        var handle: UInt16 = 0
        /// Whether the owner heard what became of it.
        var isTold = false
        /// Whether values that never change are given out.
        var isServing = true

        var path: String { "\(BlueZServerMachine.root)/service\(service.number)" }
    }

    /// The advertisement that is wanted.
    private struct Advertising {
        var wanted: BlueZLocalAdvertisement
        /// Each registration has one of its own.
        var object: String
        var state = State.waiting
        var isTold = false
        /// The name is left out because bluetoothd had no room for it.
        var withoutName = false
    }

    /// Something to be asked of bluetoothd.
    struct Call: Equatable, Sendable {
        enum Kind: Equatable, Sendable { case application, advertisement }

        var kind: Kind
        var registers: Bool
        var object: String
    }

    /// What the owner does next.
    enum Action {
        case say(BlueZServerEvent)
        /// Goes on after so many milliseconds.
        case pause(Int64)
    }

    /// In order of publication.
    private(set) var entries: [Entry] = []
    private var advertising: Advertising?
    /// What nobody wants any more and bluetoothd may still have, as the calls that take it back.
    private var leaving: [Call] = []
    private var asked: Call?
    private var failures = 0
    private var advertisements = 0

    // MARK: What is wanted

    mutating func publish(_ service: BlueZLocalService) {
        precondition(!entries.contains { $0.service.number == service.number }, "service \(service.number) twice")
        entries.append(Entry(service: service))
    }

    /// - Returns: the service, when there was one of the number.
    mutating func unpublish(_ number: UInt32) -> BlueZLocalService? {
        guard let index = entries.firstIndex(where: { $0.service.number == number }) else { return nil }
        let entry = entries.remove(at: index)
        retire(.application, entry.path, entry.state)
        return entry.service
    }

    mutating func change(_ number: UInt32, _ body: (inout Entry) -> Void) {
        if let index = entries.firstIndex(where: { $0.service.number == number }) { body(&entries[index]) }
    }

    mutating func advertise(_ wanted: BlueZLocalAdvertisement?) -> [Action] {
        if let wanted, let advertising, wanted == advertising.wanted, advertising.state == .registered {
            return [.say(.advertising(refusal: nil))]
        }
        if let advertising { retire(.advertisement, advertising.object, advertising.state) }
        advertising = wanted.map { Advertising(wanted: $0, object: nextObject()) }
        return []
    }

    /// What an object says as the advertisement; nil when it is none.
    func advertisement(_ object: String) -> BlueZLocalAdvertisement? {
        guard let advertising, advertising.object == object else { return nil }
        var said = advertising.wanted
        if advertising.withoutName { said.localName = nil }
        return said
    }

    private mutating func nextObject() -> String {
        advertisements += 1
        return "\(Self.root)/advertisement\(advertisements)"
    }

    /// The advertisement is registered anew, under another object.
    private mutating func renewAdvertisement() {
        let object = nextObject()
        advertising?.object = object
        advertising?.state = .waiting
    }

    private mutating func retire(_ kind: Call.Kind, _ object: String, _ state: State) {
        switch state {
        case .asked, .registered: leaving.append(Call(kind: kind, registers: false, object: object))
        case .waiting, .refused: break
        }
    }

    /// Nothing is wanted any more.
    ///
    /// - Returns: the calls that take back what bluetoothd has.
    mutating func stop() -> [Call] {
        for number in entries.map(\.service.number) { _ = unpublish(number) }
        _ = advertise(nil)
        defer { leaving.removeAll() }
        return leaving
    }

    // MARK: What is asked

    /// The next thing that bluetoothd does not have or should not have; nil while it is asked for another, or has all.
    mutating func next() -> Call? {
        guard asked == nil else { return nil }
        if let call = leaving.first(where: { $0.kind == .application }) {
            asked = call
        } else if let index = entries.firstIndex(where: { $0.state == .waiting }) {
            entries[index].state = .asked
            asked = Call(kind: .application, registers: true, object: entries[index].path)
        } else if let call = leaving.first {
            asked = call
        } else if let object = advertising?.object, advertising?.state == .waiting {
            advertising?.state = .asked
            asked = Call(kind: .advertisement, registers: true, object: object)
        }
        return asked
    }

    /// bluetoothd has answered, with an error or none.
    mutating func answered(_ call: Call, _ error: BusError?) -> [Action] {
        if asked == call { asked = nil }
        guard call.registers else {
            // An error says that bluetoothd does not have it, which is what was asked for.
            leaving.removeAll { $0 == call }
            return []
        }
        // What was taken back meanwhile is among what leaves.
        switch call.kind {
        case .application:
            return entries.firstIndex { $0.path == call.object }.map { registered($0, error) } ?? []
        case .advertisement: return advertising?.object == call.object ? advertisementAnswered(error) : []
        }
    }

    private mutating func registered(_ index: Int, _ error: BusError?) -> [Action] {
        // An adapter that was switched off and on again kept its table.
        if let error, error.kind != "AlreadyExists" {
            if error.mayPass {
                entries[index].state = .waiting
                return [pause()]
            }
            if entries[index].handle != 0 {
                // Somebody else's service has the handles now.
                (entries[index].handle, entries[index].state) = (0, .waiting)
                return []
            }
            entries[index].state = .refused
        } else {
            failures = 0
            entries[index].state = .registered
        }
        if entries[index].isTold { return [] }
        entries[index].isTold = true
        let refusal = entries[index].state == .refused ? error : nil
        return [.say(.published(entries[index].service.number, refusal: refusal))]
    }

    private mutating func advertisementAnswered(_ error: BusError?) -> [Action] {
        guard var own = advertising else { return [] }
        defer { advertising = own }
        if let error {
            // Every place is taken, or an advertisement that is going still holds one.
            if error.mayPass || own.isTold || error.kind == "NotReady" || error.kind == "InProgress" {
                (own.object, own.state) = (nextObject(), .waiting)
                return [pause()]
            }
            if own.wanted.localName != nil, !own.withoutName {
                // An advertisement has 31 bytes, and so has the answer to a scan, which the name goes into.
                (own.object, own.state, own.withoutName) = (nextObject(), .waiting, true)
                return []
            }
        }
        own.state = error == nil ? .registered : .refused
        if own.isTold { return [] }
        own.isTold = true
        return [.say(.advertising(refusal: error))]
    }

    /// bluetoothd is asked again a little later, and later each time.
    private mutating func pause() -> Action {
        failures += 1
        return .pause(min(8_000, 125 << Int64(min(failures, 6))))
    }

    // MARK: What bluetoothd and the adapter do

    /// bluetoothd takes the advertisement back, as it may at any time; it is offered again.
    mutating func released(_ object: String) -> [Action] {
        guard advertising?.object == object else { return [] }
        renewAdvertisement()
        return [pause()]
    }

    /// The adapter is off: it keeps its table and loses its advertisement.
    mutating func adapterOff() {
        asked = nil
        for index in entries.indices where entries[index].state == .asked { entries[index].state = .waiting }
        guard let advertising, advertising.state != .refused else { return }
        retire(.advertisement, advertising.object, advertising.state)
        renewAdvertisement()
    }

    /// bluetoothd or the adapter went, and with it everything that was registered.
    mutating func adapterLeft() {
        adapterOff()
        leaving.removeAll()
        for index in entries.indices where entries[index].state != .refused { entries[index].state = .waiting }
    }
}

extension BlueZServerMachine.Call {
    /// The interface of the adapter that hears it, the method, and what it says.
    var interface: String { kind == .application ? BlueZName.gattManager : BlueZName.advertisingManager }
    var member: String {
        (registers ? "Register" : "Unregister") + (kind == .application ? "Application" : "Advertisement")
    }
    var arguments: [BusValue] { registers ? [.objectPath(object), .properties([])] : [.objectPath(object)] }
}

extension BusError {
    /// It says nothing about what was asked for: the same may be taken later.
    fileprivate var mayPass: Bool { isTimeout || isAboutNobody || isAboutSomethingGone }
}

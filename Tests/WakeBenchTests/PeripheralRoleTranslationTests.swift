import Testing
import WakeModel
import WakePorts
import WakeWire

@testable import WakeBench

@Suite("The peripheral role between wire and router")
struct PeripheralRoleTranslationTests {
    private let names: NameTable
    private let translation: WireTranslation
    private let reader: String

    init() {
        names = NameTable()
        let identifiers = PeripheralIdentifiers(names: names)
        translation = WireTranslation(names: names, identifiers: identifiers, profile: .ios17)
        reader = identifiers.identifier(of: names.intern("reader"))
    }

    private let wireService = LocalService(
        number: 2,
        uuid: "1809",
        primary: false,
        characteristics: [
            LocalCharacteristic(
                number: 3,
                uuid: "2A1C",
                properties: 0x22,
                permissions: 1,
                value: [1],
                descriptors: [LocalDescriptor(uuid: "2901", value: [2])]
            )
        ],
        includes: [1]
    )

    @Test("BTP-4: a service comes back from a restoration as the app added it")
    func serviceComesBack() throws {
        guard case .addService(let service) = translation.peripheralManager(.addService(wireService)) else {
            throw CancellationError()
        }
        let state = RestoredPeripheral(
            services: [service],
            subscribed: [.init(characteristic: 3, central: names.intern("reader"))],
            advertised: LocalAdvertisement(localName: "oven", services: [names.intern("1809")])
        )
        #expect(
            translation.restoration(state) { _ in 182 }
                == WirePeripheralRestoration(
                    services: [wireService],
                    subscriptions: [
                        .init(characteristic: 3, central: WireCentral(identifier: reader, maximumUpdateLength: 182))
                    ],
                    advertisement: .init(localName: "oven", services: ["1809"])
                )
        )
    }

    @Test("An update is for all who subscribed, or for the centrals named, and never for strangers")
    func updates() {
        func update(_ centrals: [String]?) -> PeripheralManagerRequest? {
            translation.peripheralManager(.updateValue(id: 1, characteristic: 3, value: [9], centrals: centrals))
        }
        #expect(update(nil) == .updateValue(characteristic: 3, value: [9], centrals: []))
        #expect(update([reader]) == .updateValue(characteristic: 3, value: [9], centrals: [names.intern("reader")]))
        #expect(update(["00000000-0000-0000-0000-000000000000"]) == nil)
    }

    @Test("What a central asks reaches the app with the number of the request")
    func requests() {
        func heard(_ kind: EventKind, _ payload: EventPayload) -> WirePeripheralManagerEvent? {
            let central = names.intern("reader")
            let event = WakeEvent(kind: kind, peripheral: central, local: 3, request: 7)
            let delivery = AppDelivery(event: event, payload: payload, decision: DecisionID(1), manager: 2)
            return translation.peripheralManagerEvent(delivery) { _ in 182 }
        }
        let central = WireCentral(identifier: reader, maximumUpdateLength: 182)
        #expect(
            heard(.readRequested, .readRequest(offset: 4))
                == .readRequest(central, request: 7, characteristic: 3, offset: 4)
        )
        #expect(
            heard(.writeRequested, .writeRequests([LocalWrite(characteristic: 3, offset: 1, value: [5])]))
                == .writeRequests(
                    central,
                    request: 7,
                    [LocalWrite(characteristic: 3, offset: 1, value: [5])]
                )
        )
        #expect(heard(.bluetoothPoweredOff, .none) == .state(.poweredOff))
        #expect(heard(.valueRead, .none) == nil)
    }

    @Test("Updates of one turn share the room in the queue, and the next turn asks anew")
    func room() {
        var asked = AskedInTurn()
        let taken = (0..<4).map { _ in asked.take(AppID(0), 2, of: 3, 1) }
        #expect(taken == [true, true, true, false])
        let ofAnother = asked.take(AppID(1), 2, of: 3, 1)
        #expect(ofAnother)
        let toAPeripheral = asked.take(AppID(0), 2, NameID(7), of: 3, 1)
        #expect(toAPeripheral)
        #expect(asked.room(AppID(0), 2, NameID(7), of: 3, 1) == 2)
        let later = (0..<2).map { _ in asked.take(AppID(0), 2, of: 1, 2) }
        #expect(later == [true, false])
    }
}

import WakeModel

extension SeededGenerator {
    mutating func peripheralManagerRequest() -> PeripheralManagerRequest {
        switch below(11) {
        case 0: .create(restoreIdentifier: name())
        case 1: .release
        case 2: .addService(localService())
        case 3: .removeService(number())
        case 4: .removeAllServices
        case 5: .startAdvertising(localName: optional { $0.text() }, services: names())
        case 6: .stopAdvertising
        case 7: .updateValue(characteristic: number(), value: data(), centrals: names())
        case 8: .respond(request: number(), result: number(), value: optional { $0.data() })
        case 9: .publishChannel(encrypted: flag())
        default: .unpublishChannel(psm: number())
        }
    }

    mutating func localService() -> LocalService {
        LocalService(
            number: number(),
            uuid: text(),
            primary: flag(),
            characteristics: list { random in
                LocalCharacteristic(
                    number: random.number(),
                    uuid: random.text(),
                    properties: random.number(),
                    permissions: random.number(),
                    value: random.optional { $0.data() },
                    descriptors: random.list { LocalDescriptor(uuid: $0.text(), value: $0.data()) }
                )
            },
            includes: list { $0.number() }
        )
    }

    mutating func restoredPeripheral() -> RestoredPeripheral {
        RestoredPeripheral(
            services: list { $0.localService() },
            subscribed: list {
                RestoredPeripheral.Subscriber(characteristic: $0.number(), central: $0.name())
            },
            advertised: optional { random in
                LocalAdvertisement(localName: random.optional { $0.text() }, services: random.names())
            }
        )
    }
}

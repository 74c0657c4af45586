import WakeCaptures
import WakeDevices
import WakeModel
import WakePorts

/// What the radio does as a phone's stack would have logged it: scans, links and attributes.
extension SimulatedBluetooth {
    package func openTrace() throws(SourceFailure) {}

    package func trace(since start: Int64, to write: @escaping (HCIPacket) -> Void) {
        trace = HCITrace(write: write)
        trace?.begin(at: .zero)
    }

    package func endTrace() -> [String] {
        trace = nil
        return []
    }

    /// The MTU that an iPhone offers: more than any device takes.
    static let offeredMTU = 527
    /// What every server has below its first own handle: GAP with a name and an appearance, GATT with Service Changed.
    static let common = [
        AttributeExchange.Entry(handle: 1, end: 5, uuid: "1800"), .init(handle: 6, end: 9, uuid: "1801"),
    ]
    private static let nameHandle: AttributeHandle = 3
    private static let serviceChangedHandle: AttributeHandle = 8
    // Error codes of the Core Specification, volume 1, part F.
    private static let connectionTimeout: UInt8 = 0x08
    private static let remoteTerminated: UInt8 = 0x13
    private static let localTerminated: UInt8 = 0x16

    private func address(_ index: Int) -> [UInt8] { peripherals[index].description.address }

    private func timing(of index: Int) -> HCITrace.Parameters {
        let connection = peripherals[index].description.connection
        return HCITrace.Parameters(
            interval: UInt16(clamping: connection.interval.nanoseconds / 1_250_000),
            latency: UInt16(clamping: connection.latency),
            supervisionTimeout: UInt16(clamping: connection.supervisionTimeout.nanoseconds / 10_000_000)
        )
    }

    func traceScan(at now: Instant) { trace?.scan(poweredOn && !(scans.isEmpty && watched.isEmpty), at: now) }

    func traceSighting(of index: Int, at now: Instant) {
        trace?.sighting(of: address(index), peripherals[index].advertisement, at: now)
    }

    /// A beacon is heard; whoever listens to it connects to none.
    func traceBeacon(_ index: Int, _ strength: Double, at now: Instant) {
        guard trace != nil else { return }
        let heard = Advertisement(
            manufacturerData: beacons[index].signal.manufacturerData,
            connectable: false,
            signalStrength: Int16(strength)
        )
        trace?.sighting(of: beacons[index].description.address, heard, at: now)
    }

    func traceAttempt(at index: Int, isOn: Bool, at now: Instant) {
        if isOn {
            trace?.connecting(to: address(index), timing(of: index), at: now)
        } else {
            trace?.cancelling(address(index), at: now)
        }
    }

    func traceLink(_ index: Int, at now: Instant) {
        guard trace != nil else { return }
        trace?.connected(to: address(index), timing(of: index), at: now)
        let agreed = AttributeExchange.agreeing(client: Self.offeredMTU, server: peripherals[index].description.mtu)
        trace([agreed], with: index, at: now)
    }

    /// The link ends by the other side or for want of packets; nil by the phone's own will.
    func traceEnd(of index: Int, because failure: BluetoothFailure?, at now: Instant) {
        guard trace != nil, peripherals[index].link == .up else { return }
        let reason =
            failure.map { $0 == .connectionTimeout ? Self.connectionTimeout : Self.remoteTerminated }
            ?? Self.localTerminated
        trace?.disconnected(address(index), reason: reason, at: now)
    }

    // MARK: Attributes

    /// What is asked next goes out; the server answers one at a time. What an app let go of before is not asked.
    func traceQuestion(to index: Int, at now: Instant) {
        guard trace != nil, let next = peripherals[index].requests.first, next.client != nil else { return }
        peripherals[index].isAsked = true
        if case .openChannel(let psm) = next.operation {
            trace?.channelRequested(psm, with: address(index), fromPhone: true, at: now)
        } else if next.operation.commandValue == nil,
            let round = rounds(of: next.operation, answered: .none, on: index).first
        {
            trace?.attribute(round.request, with: address(index), fromPhone: true, at: now)
        }
    }

    /// The server wants a more secure link first.
    func traceRefusal(of operation: BluetoothOperation, _ failure: BluetoothFailure, on index: Int, at now: Instant) {
        guard trace != nil, peripherals[index].isAsked else { return }
        peripherals[index].isAsked = false
        if case .openChannel = operation {
            trace?.channelAnswered(.failure(Self.refusal(failure)), with: address(index), at: now)
            return
        }
        let code = UInt8(truncatingIfNeeded: failure.code)
        let refused = AttributeExchange.refused(rounds(of: operation, answered: .none, on: index), with: code)
        guard let response = refused.first?.response else { return }
        trace?.attribute(response, with: address(index), fromPhone: false, at: now)
    }

    private static func refusal(_ failure: BluetoothFailure) -> HCITrace.ChannelRefusal {
        switch failure {
        case .insufficientAuthentication: .insufficientAuthentication
        case .insufficientEncryption: .insufficientEncryption
        default: .unknownNumber
        }
    }

    /// The phone has paired, and asks again.
    func traceSecured(_ index: Int, at now: Instant) {
        guard trace != nil else { return }
        if peripherals[index].security != .none { trace?.encrypted(address(index), at: now) }
        traceQuestion(to: index, at: now)
    }

    /// An app has let go of the link that others hold still: the server answers all the same.
    func traceUnheardAnswer(to operation: BluetoothOperation, on index: Int, at now: Instant) {
        guard trace != nil, peripherals[index].isAsked else { return }
        let attributes = peripherals[index].attributes
        let payload: EventPayload =
            switch operation {
            case .read:
                place(reachedBy: operation, on: index)
                    .map { .value(characteristics[peripherals[index].firstCharacteristic + $0].value) } ?? .none
            case .readDescriptor(let handle):
                attributes.descriptor(at: handle).map { .value(attributes.descriptors[$0].value) } ?? .none
            case .openChannel: .failure(.channelRefused)
            case .readSignalStrength: .signalStrength(peripherals[index].advertisement.signalStrength)
            default: .none
            }
        traceAnswer(to: operation, payload, on: index, at: now)
    }

    /// The answer to what was asked, and what else is asked and answered for it.
    ///
    /// - Parameter channel: the number of the channel that it opens.
    func traceAnswer(
        to operation: BluetoothOperation,
        _ payload: EventPayload,
        channel: UInt32 = 0,
        on index: Int,
        at now: Instant
    ) {
        peripherals[index].isAsked = false
        guard trace != nil else { return }
        if case .openChannel = operation {
            let failure: BluetoothFailure? = if case .failure(let failure) = payload { failure } else { nil }
            let answer = failure.map { .failure(Self.refusal($0)) } ?? Result.success(channel)
            trace?.channelAnswered(answer, with: address(index), at: now)
            return
        }
        if case .signalStrength(let strength) = payload {
            trace?.strength(strength, of: address(index), at: now)
            return
        }
        var rounds = rounds(of: operation, answered: payload, on: index)
        if operation.commandValue != nil {
            // A phone sends no command that is longer than a packet, or that the characteristic does not take.
            if case .failure = payload { return }
            return trace(rounds, with: index, at: now)
        }
        if case .failure(let failure) = payload, failure.domain == .att {
            rounds = AttributeExchange.refused(rounds, with: UInt8(truncatingIfNeeded: failure.code))
        }
        if let response = rounds.first?.response {
            trace?.attribute(response, with: address(index), fromPhone: false, at: now)
        }
        trace(rounds.dropFirst(), with: index, at: now)
    }

    /// A value that the peripheral sends of itself.
    func traceNotification(of number: Int, _ value: [UInt8], at now: Instant) {
        guard trace != nil else { return }
        let index = characteristics[number].peripheral
        let characteristic = peripherals[index].attributes.characteristics[characteristics[number].position]
        let exchange = AttributeExchange(mtu: peripherals[index].description.mtu)
        let handle = characteristic.handle + 1
        let round =
            characteristic.properties.contains(.notify)
            ? exchange.notifying(handle, value: value) : exchange.indicating(handle, value: value)
        trace?.attribute(round.request, with: address(index), fromPhone: false, at: now)
        if let response = round.response {
            trace?.attribute(response, with: address(index), fromPhone: true, at: now)
        }
    }

    private func trace(_ rounds: some Sequence<AttributeExchange.Round>, with index: Int, at now: Instant) {
        for round in rounds {
            trace?.attribute(round.request, with: address(index), fromPhone: true, at: now)
            guard let response = round.response else { continue }
            trace?.attribute(response, with: address(index), fromPhone: false, at: now)
        }
    }

    /// The phone reads the name of a peripheral, after it has connected or been told of another.
    func traceName(_ name: String, of index: Int, at now: Instant) {
        guard trace != nil else { return }
        let exchange = AttributeExchange(mtu: peripherals[index].description.mtu)
        let round = exchange.reading(characteristic: "2A00", at: Self.nameHandle, value: Array(name.utf8))
        trace([round], with: index, at: now)
    }

    /// The peripheral says that attributes between two handles are others.
    func traceServiceChanged(_ handles: ClosedRange<AttributeHandle>, of index: Int, at now: Instant) {
        guard trace != nil else { return }
        let range = [handles.lowerBound, handles.upperBound].flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)]
        }
        let round = AttributeExchange(mtu: AttributeExchange.leastMTU).indicating(
            Self.serviceChangedHandle,
            value: range
        )
        trace?.attribute(round.request, with: address(index), fromPhone: false, at: now)
        if let confirmation = round.response {
            trace?.attribute(confirmation, with: address(index), fromPhone: true, at: now)
        }
    }

    // MARK: Packets of an operation

    /// What goes over the link for an operation; the first request is the same whatever the answer is. What the phone keeps of another
    /// table it looks for nowhere else.
    private func rounds(
        of operation: BluetoothOperation,
        answered payload: EventPayload,
        on index: Int
    ) -> [AttributeExchange.Round] {
        let exchange = AttributeExchange(mtu: peripherals[index].description.mtu)
        let attributes = peripherals[index].table
        if peripherals[index].isStale, operation.isDiscovery { return [] }
        let value: [UInt8] = if case .value(let value) = payload { value } else { [] }
        switch operation {
        case .discoverServices(let wanted):
            let services = attributes.offered.filter(\.primary)
                .map { AttributeExchange.Entry(handle: $0.handle, end: $0.last, uuid: $0.uuid) }
            guard !wanted.isEmpty else { return exchange.discovering(services: Self.common + services) }
            return wanted.map(names.text).flatMap { uuid in
                exchange.discovering(service: uuid, found: (Self.common + services).filter { $0.uuid == uuid })
            }
        case .discoverIncludedServices(let handle, _):
            guard let service = attributes.service(at: handle) else { return [] }
            return exchange.discoveringIncluded(from: handle, to: attributes.services[service].last)
        case .discoverCharacteristics(let handle, _):
            guard let place = attributes.service(at: handle) else { return [] }
            let service = attributes.services[place]
            let found = attributes.characteristics[service.characteristics].map { characteristic in
                AttributeExchange.Entry(
                    handle: characteristic.handle,
                    properties: UInt8(truncatingIfNeeded: characteristic.properties.rawValue),
                    uuid: characteristic.uuid
                )
            }
            return exchange.discovering(characteristics: found, from: handle, to: service.last)
        case .discoverDescriptors(let handle):
            guard let place = attributes.characteristic(at: handle) else { return [] }
            let descriptors = attributes.descriptors[attributes.characteristics[place].descriptors]
                .map { AttributeExchange.Entry(handle: $0.handle, uuid: $0.uuid) }
            let end = descriptors.last?.handle ?? handle + 1
            return exchange.discovering(descriptors: descriptors, from: handle + 2, to: end)
        case .read(let handle): return exchange.reading(handle + 1, value: value)
        case .readDescriptor(let handle): return exchange.reading(handle, value: value)
        case .write(let handle, let value, let withResponse):
            return withResponse
                ? exchange.writing(handle + 1, value: value) : [exchange.commanding(handle + 1, value: value)]
        case .writeDescriptor(let handle, let value): return exchange.writing(handle, value: value)
        case .setNotify(let handle, let isOn): return configuration(of: handle, isOn, on: index, exchange)
        case .openChannel, .readSignalStrength: return []
        }
    }

    private func configuration(
        of handle: AttributeHandle,
        _ isOn: Bool,
        on index: Int,
        _ exchange: AttributeExchange
    ) -> [AttributeExchange.Round] {
        let attributes = peripherals[index].table
        guard let place = attributes.characteristic(at: handle),
            let descriptor = attributes.descriptors[attributes.characteristics[place].descriptors]
                .first(where: \.isConfiguration)
        else { return [] }
        let bit: UInt8 = attributes.characteristics[place].properties.contains(.notify) ? 1 : 2
        return exchange.writing(descriptor.handle, value: [isOn ? bit : 0, 0])
    }
}

import WakeModel
import WakeWire

/// Bounds what one app may bring into the table of names, which keeps each of them to the end of the run.
struct NameGate {
    /// Why names of an app are not taken.
    enum Refusal: Hashable, Sendable, CustomStringConvertible {
        case tooLong(bytes: Int)
        case tooMany

        /// One line for the app's log and the errors that it is told.
        var description: String {
            switch self {
            case .tooLong(let bytes): "a name of \(bytes) bytes; at most \(NameGate.longest) are allowed"
            case .tooMany: "more than \(NameBound.ofApp) different names in one run"
            }
        }
    }

    /// The longest name, in bytes: the wire's bound for the identifier of a region.
    static let longest = WireLimits.regionIdentifierBytes
    private var bounds: [AppID: NameBound] = [:]

    /// Why an app may not bring these names, or nil, and then those that are new are counted.
    mutating func refusal(of words: [String], from app: AppID, into names: NameTable) -> Refusal? {
        if words.isEmpty { return nil }
        if let long = words.first(where: { $0.utf8.count > Self.longest }) { return .tooLong(bytes: long.utf8.count) }
        return bounds[app, default: NameBound(most: NameBound.ofApp)].admits(words, into: names) ? nil : .tooMany
    }
}

extension WireTranslation {
    /// The names that a message brings, each of which the router gets a number for.
    static func names(in message: AppMessage) -> [String] {
        switch message {
        case .central(_, let request): names(in: request)
        case .peripheral(_, _, .discoverServices(let services)): services ?? []
        case .peripheral(_, _, .discoverIncludedServices(let services, _)): services ?? []
        case .peripheral(_, _, .discoverCharacteristics(let characteristics, _)): characteristics ?? []
        case .peripheralManager(_, .create(_, let identifier, _)): [identifier ?? ""]
        case .peripheralManager(_, .addService(let service)): [service.uuid] + service.characteristics.map(\.uuid)
        case .peripheralManager(_, .startAdvertising(_, let services)): services
        case .location(_, .monitor(let region)), .location(_, .range(let region)): names(in: region)
        case .location(_, .requestState(let region)): [region]
        case .accessory(_, .open(_, _, let protocolName)): [protocolName]
        case .hello, .launched, .acknowledge, .timeRemaining, .signpost, .done, .beginTask, .endTask, .peripheral,
            .peripheralManager, .location, .accessory, .voip, .audio:
            []
        }
    }

    private static func names(in request: CentralRequest) -> [String] {
        switch request {
        case .create(_, let identifier, _): [identifier ?? ""]
        case .scan(let services, _, _): services
        case .registerForConnectionEvents(let services, _): services ?? []
        case .retrieveConnected(_, let services): services
        case .stopScan, .connect, .cancel, .release, .retrieve: []
        }
    }

    private static func names(in region: WireRegion) -> [String] {
        guard case .beacons(let uuid, _, _) = region.shape else { return [region.identifier] }
        return [region.identifier, uuid]
    }
}

extension ProcessAppHost {
    /// Whether a message brings names that the app may not bring. It is told so where the frameworks have a word for it:
    /// a region is not monitored, a service not added, a session not opened, and a manager is of no use.
    func refusesNames(of message: AppMessage, from app: AppID) -> Bool {
        let words = WireTranslation.names(in: message)
        guard let refusal = gate.refusal(of: words, from: app, into: translation.names) else { return false }
        fault("brings \(refusal)", app)
        let text = "The app brings \(refusal)."
        switch message {
        case .central(let manager, .create(let id, _, _)):
            reply(id, WireReply(), to: app)
            tell(.centralState(.unsupported), manager, "centralManagerDidUpdateState", app)
        case .central(_, .retrieveConnected(let id, _)): reply(id, WireReply(peripherals: []), to: app)
        case .peripheralManager(let manager, .create(let id, _, _)):
            noteManager(manager, of: app)
            reply(id, WireReply(), to: app)
            tell(.peripheralManager(.state(.unsupported)), manager, "peripheralManagerDidUpdateState", app)
        case .peripheralManager(let manager, .addService(let service)):
            let failure = WireFailure(domain: "CBErrorDomain", code: 1, message: text)
            let event = WireDeliveryBody.peripheralManager(.serviceAdded(service: service.number, failure: failure))
            tell(event, manager, "didAddService", app)
        case .location(let manager, .monitor(let region)):
            let failure = WireTranslation.locationFailure(LocationFailureCode.regionMonitoringFailure, text)
            tell(.location(.monitoringFailed(region.identifier, failure)), manager, "monitoringDidFailFor", app)
        case .location(let manager, .requestState(let region)):
            let failure = WireTranslation.locationFailure(LocationFailureCode.regionMonitoringFailure, text)
            tell(.location(.monitoringFailed(region, failure)), manager, "monitoringDidFailFor", app)
        case .location(let manager, .range(let region)):
            let failure = WireTranslation.locationFailure(LocationFailureCode.rangingUnavailable, text)
            tell(.location(.rangingFailed(region.identifier, failure)), manager, "didFailRangingFor", app)
        case .accessory(_, .open(let session, _, _)):
            let failure = WireFailure(domain: "NSPOSIXErrorDomain", code: 28, message: text)
            tell(.accessory(.sessionOpened(failure: failure)), session, "sessionOpened", app)
        default: break
        }
        return true
    }

    private func tell(_ body: WireDeliveryBody, _ manager: ManagerNumber, _ name: String, _ app: AppID) {
        send(to: app, owing: .nothing(.none), named: name, decision: .none) { number in
            .deliver(WireDelivery(delivery: number, manager: manager, body: body))
        }
    }
}

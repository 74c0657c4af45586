import Foundation
import WakeClient
import WakeWire

/// How fast a connection should be.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
    /// Fast, at the cost of power.
    case low = 0
    /// In between.
    case medium = 1
    /// Slow, for the sake of power.
    case high = 2
}

/// Whether the app may share data as a peripheral in the background; the word of iOS before 13.
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
    /// The user was not asked yet.
    case notDetermined = 0
    /// A policy forbids it.
    case restricted = 1
    /// The user refused.
    case denied = 2
    /// Allowed.
    case authorized = 3
}

/// Publishes services, advertises them, and answers the centrals that use them.
open class CBPeripheralManager: CBManager {
    /// Who is told what happens.
    open weak var delegate: (any CBPeripheralManagerDelegate)?

    private let queue: DispatchQueue
    var storedIsAdvertising = false
    var services: [UInt32: CBMutableService] = [:]
    var characteristics: [UInt32: CBMutableCharacteristic] = [:]
    var centrals: [UUID: Weak<CBCentral>] = [:]
    /// The requests of centrals that wait for an answer.
    var unanswered: Set<UInt32> = []

    /// A manager without a delegate, on the main queue.
    public convenience override init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// A manager whose delegate is called on the queue; nil means the main queue.
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// A manager whose delegate is called on the queue; nil means the main queue.
    ///
    /// With a restore identifier among the options the system keeps what the manager published and advertised when the
    /// app ends, and gives it back to a manager made with the same identifier after the app was launched for it.
    public init(
        delegate: (any CBPeripheralManagerDelegate)?,
        queue: DispatchQueue?,
        options: [String: Any]? = nil
    ) {
        self.queue = queue ?? .main
        super.init()
        self.delegate = delegate
        let client = BenchClient.shared
        let manager = Weak(self)
        client.runWithoutApplication()
        number = client.register(queue: self.queue) { body, descriptor in
            if case .peripheralManager(let event) = body { manager.object?.receive(event, descriptor) }
        }
        if options?[CBPeripheralManagerOptionRestoreIdentifierKey] == nil {
            reportUselessRestoration("peripheralManager", delegate)
        }
        send(
            .create(
                id: client.mintNumber(),
                restoreIdentifier: options?[CBPeripheralManagerOptionRestoreIdentifierKey] as? String,
                showPowerAlert: flag(CBPeripheralManagerOptionShowPowerAlertKey, in: options)
            )
        )
    }

    deinit {
        BenchClient.shared.unregister(manager: number)
        BenchClient.shared.send(.peripheralManager(manager: number, .release))
    }

    /// Whether the app may share data as a peripheral.
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        CBPeripheralManagerAuthorizationStatus(rawValue: authorization.rawValue) ?? .notDetermined
    }

    /// Whether the manager advertises.
    open var isAdvertising: Bool {
        lock.withLock { storedIsAdvertising }
    }

    /// The number, for people.
    open override var description: String {
        "<CBPeripheralManager: \(number)>"
    }

    // MARK: Advertising

    /// Advertises; of the data only the local name and the service UUIDs may be given.
    ///
    /// The delegate is told the outcome. In the background the name is left out, and the services are found only by
    /// those who look for them.
    open func startAdvertising(_ advertisementData: [String: Any]?) {
        guard isPoweredOn() else {
            return
        }
        let known = [CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey]
        for key in (advertisementData ?? [:]).keys.sorted() where !known.contains(key) {
            reportMisuse("\(self) advertisement key '\(key)' is not allowed, ignored")
        }
        let services = advertisementData?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        send(
            .startAdvertising(
                localName: advertisementData?[CBAdvertisementDataLocalNameKey] as? String,
                services: services.map(\.uuidString)
            )
        )
    }

    /// Ends the advertising.
    open func stopAdvertising() {
        guard isPoweredOn() else {
            return
        }
        lock.withLock { storedIsAdvertising = false }
        send(.stopAdvertising)
    }

    /// Asks for another speed of the connection; the emulated phone keeps the one it has.
    open func setDesiredConnectionLatency(
        _ latency: CBPeripheralManagerConnectionLatency,
        for central: CBCentral
    ) {}

    // MARK: Services

    /// Publishes a service; from then on it cannot be changed.
    open func add(_ service: CBMutableService) {
        guard isPoweredOn() else {
            return
        }
        if let fault = service.fault {
            reportMisuse("\(self) \(fault)")
            return tellRefused(service)
        }
        let published = service.wire()
        lock.withLock {
            services[service.number] = service
            for characteristic in service.ownCharacteristics {
                characteristics[characteristic.number] = characteristic
            }
        }
        send(.addService(published))
    }

    private func tellRefused(_ service: CBMutableService) {
        let manager = Unchecked(value: self)
        let service = Unchecked(value: service)
        queue.async {
            let error = CBError(.invalidParameters)
            manager.value.delegate?.peripheralManager(manager.value, didAdd: service.value, error: error)
        }
    }

    /// Takes a service back.
    open func remove(_ service: CBMutableService) {
        guard isPoweredOn() else {
            return
        }
        let number = service.number
        guard lock.withLock({ services[number] === service }) else {
            return reportMisuse("\(self) Services must be added before they are removed")
        }
        forget(service)
        send(.removeService(number))
    }

    /// Takes every service back.
    open func removeAllServices() {
        guard isPoweredOn() else {
            return
        }
        forgetServices()
        send(.removeAllServices)
    }

    func forgetServices() {
        for service in lock.withLock({ Array(services.values) }) {
            forget(service)
        }
    }

    func forget(_ service: CBMutableService) {
        let own = service.ownCharacteristics
        lock.withLock {
            services[service.number] = nil
            for characteristic in own {
                characteristics[characteristic.number] = nil
            }
        }
        service.number = 0
        for characteristic in own {
            characteristic.number = 0
            characteristic.forgetCentrals()
        }
    }

    // MARK: Values

    /// Answers a central.
    ///
    /// To a read, put what is read from the request's offset on into its value first. Of the requests of one write only
    /// the first is answered.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
        guard isPoweredOn() else {
            return
        }
        guard lock.withLock({ unanswered.remove(request.number) }) != nil else {
            return reportMisuse("\(self) Request \(request.number) is not waiting for a response")
        }
        guard request.value?.count ?? 0 <= WireLimits.valueBytes else {
            reportMisuse(
                "\(self) a value of \(request.value?.count ?? 0) bytes is longer than \(WireLimits.valueBytes)"
            )
            return refuse(request.number)
        }
        send(
            .respond(
                request: request.number,
                result: UInt8(truncatingIfNeeded: result.rawValue),
                value: result == .success && request.isRead ? request.value.map { Array($0) } : nil
            )
        )
    }

    /// Notifies or indicates a value to the centrals that are subscribed, or to some of them.
    ///
    /// False when the phone's queue is full: the value is not sent, and
    /// ``CBPeripheralManagerDelegate/peripheralManagerIsReady(toUpdateSubscribers:)`` says when to try again. A value
    /// longer than a central takes is cut off for it.
    open func updateValue(
        _ value: Data,
        for characteristic: CBMutableCharacteristic,
        onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        guard isPoweredOn() else {
            return false
        }
        let target = characteristic.number
        guard lock.withLock({ characteristics[target] === characteristic }) else {
            reportMisuse("\(self) The characteristic \(characteristic.uuid) is not published")
            return false
        }
        if centrals?.isEmpty == true {
            return true
        }
        let bytes = Array(value.prefix(WireLimits.valueBytes))
        let reply = BenchClient.shared.request {
            .peripheralManager(
                manager: number,
                .updateValue(
                    id: $0,
                    characteristic: target,
                    value: bytes,
                    centrals: centrals?.map(\.identifier.uuidString)
                )
            )
        }
        return reply.taken ?? (reply.failure == nil)
    }

    /// Answers a request that the app never sees.
    func refuse(_ request: UInt32) {
        let result = UInt8(CBATTError.Code.unlikelyError.rawValue)
        send(.respond(request: request, result: result, value: nil))
    }

    // MARK: Channels

    /// Asks for a PSM that centrals can open channels to; the delegate is told which.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        if isPoweredOn() {
            send(.publishChannel(encrypted: encryptionRequired))
        }
    }

    /// Takes a PSM back; channels that are open stay open.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
        if isPoweredOn() {
            send(.unpublishChannel(psm: PSM))
        }
    }

    private func send(_ request: WirePeripheralManagerRequest) {
        BenchClient.shared.send(.peripheralManager(manager: number, request))
    }
}

/// Carries an object of the app to the app's own queue.
private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
}

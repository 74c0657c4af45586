import Foundation
import WakeClient
import WakeModel
import WakeWire

/// Finds peripherals, connects to them, and tells its delegate what happens.
open class CBCentralManager: CBManager {
    /// What a phone may be able to do.
    public struct Feature: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// A set from its bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Scanning and connecting on the coded PHY.
        public static let extendedScanAndConnect = Feature(rawValue: 1)
    }

    /// Who is told what happens.
    open weak var delegate: (any CBCentralManagerDelegate)?

    private var storedIsScanning = false
    private var allowsDuplicates = false
    private var reported: Set<UUID> = []
    private var peripherals: [UUID: Weak<CBPeripheral>] = [:]
    /// The identifier that a delivery named last, and the object for it.
    private var named = ""
    private weak var namedPeripheral: CBPeripheral?
    /// The delegate that was told of the disconnect at hand in the shorter form, and does not implement it.
    private var lackingShortForm: ObjectIdentifier?

    /// A manager without a delegate, on the main queue.
    public convenience override init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// A manager whose delegate is called on the queue; nil means the main queue.
    public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// A manager whose delegate is called on the queue; nil means the main queue.
    ///
    /// With a restore identifier among the options the system keeps what the manager was doing when the app ends, and
    /// gives it back to a manager made with the same identifier after the app was launched for it.
    public init(
        delegate: (any CBCentralManagerDelegate)?,
        queue: DispatchQueue?,
        options: [String: Any]? = nil
    ) {
        super.init()
        self.delegate = delegate
        let client = BenchClient.shared
        let manager = Weak(self)
        client.runWithoutApplication()
        number = client.register(queue: queue ?? .main) { manager.object?.receive($0, $1) }
        if options?[CBCentralManagerOptionRestoreIdentifierKey] == nil {
            reportUselessRestoration("centralManager", delegate)
        }
        let create = CentralRequest.create(
            id: client.mintNumber(),
            restoreIdentifier: options?[CBCentralManagerOptionRestoreIdentifierKey] as? String,
            showPowerAlert: flag(CBCentralManagerOptionShowPowerAlertKey, in: options)
        )
        client.send(.central(manager: number, create))
    }

    deinit {
        BenchClient.shared.unregister(manager: number)
        BenchClient.shared.send(.central(manager: number, .release))
    }

    /// The number, for people.
    open override var description: String {
        "<CBCentralManager: \(number)>"
    }

    /// Whether this phone can do all that; the emulated one has no coded PHY.
    open class func supports(_ features: CBCentralManager.Feature) -> Bool {
        features.isEmpty
    }

    /// Whether a scan runs.
    open var isScanning: Bool {
        lock.withLock { storedIsScanning }
    }

    /// Peripherals that the system knows, in the order of the identifiers; those it does not know are left out.
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        guard isPoweredOn() else {
            return []
        }
        let reply = BenchClient.shared.request {
            .central(manager: number, .retrieve(id: $0, identifiers: identifiers.map(\.uuidString)))
        }
        let found = retrieved(reply)
        return identifiers.compactMap { identifier in found.first { $0.identifier == identifier } }
    }

    /// Peripherals that are connected to the phone, by whatever app, and have one of the services.
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
        guard isPoweredOn() else {
            return []
        }
        let reply = BenchClient.shared.request {
            .central(
                manager: number,
                .retrieveConnected(id: $0, services: serviceUUIDs.map(\.uuidString))
            )
        }
        return retrieved(reply)
    }

    private func retrieved(_ reply: WireReply) -> [CBPeripheral] {
        (reply.peripherals ?? []).compactMap { peripheral($0.identifier, name: $0.name) }
    }

    /// Looks for peripherals that advertise one of the services; nil and an empty list mean any.
    ///
    /// Each peripheral is reported once in a scan, or each advertisement with
    /// ``CBCentralManagerScanOptionAllowDuplicatesKey``.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        guard isPoweredOn() else {
            return
        }
        let duplicates = flag(CBCentralManagerScanOptionAllowDuplicatesKey, in: options)
        let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID] ?? []
        lock.withLock {
            storedIsScanning = true
            allowsDuplicates = duplicates
            reported = []
        }
        send(
            .scan(
                services: (serviceUUIDs ?? []).map(\.uuidString),
                allowDuplicates: duplicates,
                solicitedServices: solicited.map(\.uuidString)
            )
        )
    }

    /// Ends the scan.
    open func stopScan() {
        guard isPoweredOn() else {
            return
        }
        lock.withLock { storedIsScanning = false }
        send(.stopScan)
    }

    /// Connects now, or whenever the peripheral is next in range; without time limit.
    ///
    /// The peripheral of another manager is not connected to: a line on stderr says so, and nothing is told.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
        guard isPoweredOn(), owns(peripheral) else {
            return
        }
        if peripheral.state != .connected {
            peripheral.state = .connecting
        }
        let delay = options?[CBConnectPeripheralOptionStartDelayKey]
        var asked: ConnectOptions = []
        for (key, option) in Self.connectOptions where flag(key, in: options) { asked.insert(option) }
        let seconds = (delay as? NSNumber)?.doubleValue
        send(.connect(peripheral: peripheral.identifier.uuidString, asked, startDelay: seconds))
    }

    private static let connectOptions: [(key: String, option: ConnectOptions)] = [
        (CBConnectPeripheralOptionNotifyOnConnectionKey, .alertsOnConnection),
        (CBConnectPeripheralOptionNotifyOnDisconnectionKey, .alertsOnDisconnection),
        (CBConnectPeripheralOptionNotifyOnNotificationKey, .alertsOnNotification),
        (CBConnectPeripheralOptionEnableAutoReconnect, .reconnects),
    ]

    /// Ends a connection or a pending connect; the delegate is told in both cases.
    ///
    /// The connection of another manager's peripheral stays: a line on stderr says so, and nothing is told.
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
        guard isPoweredOn(), owns(peripheral) else {
            return
        }
        if peripheral.state != .disconnected {
            peripheral.state = .disconnecting
        }
        send(.cancel(peripheral: peripheral.identifier.uuidString))
    }

    /// Tells the delegate of connections of the phone, made by whatever app, that match; nil ends it.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        guard isPoweredOn() else {
            return
        }
        let services = options?[.serviceUUIDs] as? [CBUUID]
        let peripherals = options?[.peripheralUUIDs] as? [UUID]
        send(
            .registerForConnectionEvents(
                services: services?.map(\.uuidString),
                peripherals: peripherals?.map(\.uuidString)
            )
        )
    }

    private func send(_ request: CentralRequest) {
        BenchClient.shared.send(.central(manager: number, request))
    }

    // MARK: Peripherals

    /// Whether a peripheral is one of this manager's; says so where it is not.
    private func owns(_ peripheral: CBPeripheral) -> Bool {
        if peripheral.isOf(self) { return true }
        reportMisuse("\(self) \(peripheral) is the peripheral of another manager, ignored")
        return false
    }

    /// The object for an identifier: the one the app still holds, or a new one.
    private func peripheral(_ text: String, name: String? = nil) -> CBPeripheral? {
        guard let identifier = UUID(uuidString: text) else {
            return nil
        }
        let object = lock.withLock {
            if let object = peripherals[identifier]?.object {
                return object
            }
            let object = CBPeripheral(identifier: identifier, name: name, manager: self, number: number)
            peripherals[identifier] = Weak(object)
            return object
        }
        object.setName(name)
        return object
    }

    /// The object that the app holds for an identifier.
    private func held(_ text: String) -> CBPeripheral? {
        lock.withLock {
            if named == text, let namedPeripheral {
                return namedPeripheral
            }
            let object = UUID(uuidString: text).flatMap { peripherals[$0]?.object }
            named = text
            namedPeripheral = object
            return object
        }
    }

    func forget(_ identifier: UUID) {
        lock.withLock {
            if let entry = peripherals[identifier], entry.object == nil {
                peripherals[identifier] = nil
            }
        }
    }

    // MARK: What the bench delivers

    fileprivate func receive(_ body: WireDeliveryBody, _ descriptor: ReceivedDescriptor?) {
        switch body {
        case .central(let event): receive(event)
        case .peripheral(let identifier, let event): held(identifier)?.receive(event, descriptor)
        // All else is for managers of other kinds.
        default: break
        }
    }

    private func receive(_ event: WireCentralEvent) {
        switch event {
        case .state(let state):
            receive(CBManagerState(state))
        case .willRestore(let restoration):
            receive(restoration)
        case .discovered(let discovery):
            receive(discovery)
        case .connected(let identifier, let name):
            if let peripheral = peripheral(identifier, name: name) {
                peripheral.state = .connected
                delegate?.centralManager(self, didConnect: peripheral)
            }
        case .failedToConnect(let identifier, let failure):
            if let peripheral = peripheral(identifier) {
                peripheral.state = .disconnected
                delegate?.centralManager(self, didFailToConnect: peripheral, error: appError(failure))
            }
        case .disconnected(let identifier, let failure, let timestamp, let isReconnecting):
            receiveDisconnect(identifier, failure, timestamp, isReconnecting)
        case .connectionEvent(let identifier, let name, let isConnected):
            if let peripheral = peripheral(identifier, name: name) {
                delegate?.centralManager(
                    self,
                    connectionEventDidOccur: isConnected ? .peerConnected : .peerDisconnected,
                    for: peripheral
                )
            }
        }
    }

    private func receive(_ state: CBManagerState) {
        setState(state)
        if state != .poweredOn {
            let all = lock.withLock {
                storedIsScanning = false
                return peripherals.values.compactMap(\.object)
            }
            for peripheral in all where peripheral.state != .disconnected {
                peripheral.endLink(becoming: .disconnected)
            }
        }
        delegate?.centralManagerDidUpdateState(self)
    }

    private func receive(_ restoration: WireRestoration) {
        var restored: [String: Any] = [:]
        let all = restoration.peripherals.compactMap { entry in
            let object = peripheral(entry.identifier, name: entry.name)
            object?.restore(entry)
            return object
        }
        if !all.isEmpty {
            restored[CBCentralManagerRestoredStatePeripheralsKey] = all
        }
        if let services = restoration.scanServices {
            let duplicates = restoration.scanAllowsDuplicates ?? false
            lock.withLock {
                storedIsScanning = true
                allowsDuplicates = duplicates
            }
            restored[CBCentralManagerRestoredStateScanServicesKey] = services.map { CBUUID(string: $0) }
            restored[CBCentralManagerRestoredStateScanOptionsKey] = [
                CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: duplicates)
            ]
        }
        delegate?.centralManager(self, willRestoreState: restored)
    }

    private func receive(_ discovery: WireDiscovery) {
        guard let peripheral = peripheral(discovery.identifier, name: discovery.name) else {
            return
        }
        let isWanted = lock.withLock {
            storedIsScanning && (reported.insert(peripheral.identifier).inserted || allowsDuplicates)
        }
        if isWanted {
            delegate?.centralManager(
                self,
                didDiscover: peripheral,
                advertisementData: discovery.advertisementData,
                rssi: NSNumber(value: Int(discovery.advertisement.signalStrength))
            )
        }
    }

    private func receiveDisconnect(
        _ identifier: String,
        _ failure: WireFailure?,
        _ timestamp: Double,
        _ isReconnecting: Bool
    ) {
        guard let peripheral = peripheral(identifier) else {
            return
        }
        peripheral.endLink(becoming: isReconnecting ? .connecting : .disconnected)
        guard let delegate else {
            return
        }
        let error = appError(failure)
        lock.withLock { lackingShortForm = nil }
        delegate.centralManager(self, didDisconnectPeripheral: peripheral, error: error)
        guard lock.withLock({ lackingShortForm }) == ObjectIdentifier(delegate) else {
            return
        }
        delegate.centralManager(
            self,
            didDisconnectPeripheral: peripheral,
            timestamp: timestamp - Date.timeIntervalBetween1970AndReferenceDate,
            isReconnecting: isReconnecting,
            error: error
        )
    }

    /// The shorter form of a disconnect has reached a delegate that does not implement it.
    func noteLackOfShortForm(in delegate: any CBCentralManagerDelegate) {
        lock.withLock { lackingShortForm = ObjectIdentifier(delegate) }
    }
}

import Foundation
import WakeClient
import WakeWire

/// Tells its delegate where the phone is, what regions it enters and leaves, and what beacons are near.
///
/// The delegate is called on the main queue.
open class CLLocationManager: NSObject {
    /// Who is told what happens.
    open weak var delegate: (any CLLocationManagerDelegate)?

    let lock = NSLock()
    var isUpdating = false
    var awaitsOne = false
    var isSignificant = false
    var isVisiting = false
    var isDeferring = false
    var ranged: [String: Ranged] = [:]
    /// The position before those that the delegate is being told.
    var locationBeforeUpdate: CLLocation?
    /// Regions that are no places, until the delegate has been told.
    var impossibleRegions: [CLRegion] = []
    private var number: UInt32 = 0
    private var options = Options()

    private struct Options {
        var distanceFilter = kCLDistanceFilterNone
        var desiredAccuracy = kCLLocationAccuracyBest
        var allowsBackground = false
        var pausesAutomatically = true
    }

    /// What the app asked to have ranged, in one of two ways.
    enum Ranged {
        case region(CLBeaconRegion)
        case constraint(CLBeaconIdentityConstraint)
    }

    /// Whether it is a monitor's: the regions of monitors are seen by those alone.
    let isOfMonitor: Bool

    /// A manager without a delegate; the delegate hears of the authorization soon after it is set.
    public override init() {
        isOfMonitor = false
        super.init()
        begin()
    }

    init(forMonitor: Void) {
        isOfMonitor = true
        super.init()
        begin()
    }

    private func begin() {
        let client = BenchClient.shared
        let manager = Weak(self)
        client.runWithoutApplication()
        number = client.register(queue: .main, hearsOfAll: true) { body, _ in
            if case .location(let event) = body { manager.object?.receive(event) }
        }
        let reply = client.request { .location(manager: number, .create(id: $0)) }
        if let status = reply.location { LocationServices.shared.learn(status) }
    }

    deinit {
        BenchClient.shared.unregister(manager: number)
        BenchClient.shared.send(.location(manager: number, .release))
    }

    // MARK: What the phone can do

    /// Whether location services are on; in the emulated phone they always are, and without a bench never.
    open class func locationServicesEnabled() -> Bool { BenchClient.shared.hasBench }
    /// Whether the phone has a compass; the emulated one has none.
    open class func headingAvailable() -> Bool { false }
    /// Whether significant changes can be told.
    open class func significantLocationChangeMonitoringAvailable() -> Bool { BenchClient.shared.hasBench }
    /// Whether regions of a class can be monitored: circles and beacons.
    open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
        BenchClient.shared.hasBench && (regionClass == CLCircularRegion.self || regionClass == CLBeaconRegion.self)
    }
    /// Whether beacons can be ranged.
    open class func isRangingAvailable() -> Bool { BenchClient.shared.hasBench }
    /// Whether updates can be held back: not on this phone, as on any since iOS 13.
    open class func deferredLocationUpdatesAvailable() -> Bool { false }

    // MARK: What the app may know

    /// What the app may know; the form before iOS 14.
    open class func authorizationStatus() -> CLAuthorizationStatus {
        // Without a manager nobody has asked the bench yet.
        if !LocationServices.shared.isKnown { _ = CLLocationManager() }
        return LocationServices.shared.authorization
    }

    /// What the app may know.
    open var authorizationStatus: CLAuthorizationStatus { LocationServices.shared.authorization }
    /// Whether the app may know positions precisely.
    open var accuracyAuthorization: CLAccuracyAuthorization { LocationServices.shared.accuracy }
    /// Whether the app's widgets may know what the app knows; there are none.
    open var isAuthorizedForWidgetUpdates: Bool { false }

    /// Asks the user to let the app know positions while it is in use.
    open func requestWhenInUseAuthorization() {
        if authorizationStatus == .notDetermined { send(.requestAuthorization(always: false)) }
    }

    /// Asks the user to let the app know positions at any time.
    open func requestAlwaysAuthorization() {
        switch authorizationStatus {
        case .notDetermined, .authorizedWhenInUse: send(.requestAuthorization(always: true))
        case .restricted, .denied, .authorizedAlways: break
        }
    }

    /// Asks the user to let the app know positions precisely for a while; the emulated user does not.
    ///
    /// The handler is called on the main queue, after this has returned.
    open func requestTemporaryFullAccuracyAuthorization(
        withPurposeKey purposeKey: String,
        completion: (((any Error)?) -> Void)? = nil
    ) {
        guard let completion else { return }
        let answer = Answered(handler: completion, error: refusalOfFullAccuracy)
        DispatchQueue.main.async { answer.handler(answer.error) }
    }

    /// Asks the user to let the app know positions precisely for a while; the emulated user does not.
    ///
    /// - Throws: ``CLError`` with the code `promptDeclined` where the app may know them to some kilometres only.
    nonisolated(nonsending) open func requestTemporaryFullAccuracyAuthorization(
        withPurposeKey purposeKey: String
    ) async throws {
        if let error = refusalOfFullAccuracy { throw error }
    }

    private var refusalOfFullAccuracy: CLError? {
        accuracyAuthorization == .fullAccuracy ? nil : CLError(.promptDeclined)
    }

    // MARK: How updates are wanted

    /// The least way between two standard updates, in metres.
    open var distanceFilter: CLLocationDistance {
        get { lock.withLock { options.distanceFilter } }
        set { change { $0.distanceFilter = newValue } }
    }

    /// How exact positions should be, in metres; a wish that filters nothing.
    open var desiredAccuracy: CLLocationAccuracy {
        get { lock.withLock { options.desiredAccuracy } }
        set { change { $0.desiredAccuracy = newValue } }
    }

    /// Whether standard updates go on in the background; true without `location` among the background modes ends the app
    /// here (LOC-6).
    open var allowsBackgroundLocationUpdates: Bool {
        get { lock.withLock { options.allowsBackground } }
        set {
            if newValue { _ = BenchClient.shared.request { .location(manager: number, .allowBackground(id: $0)) } }
            change { $0.allowsBackground = newValue }
        }
    }

    /// Whether standard updates pause while the phone rests.
    open var pausesLocationUpdatesAutomatically: Bool {
        get { lock.withLock { options.pausesAutomatically } }
        set { change { $0.pausesAutomatically = newValue } }
    }

    /// What the user does; noted, nothing else.
    open var activityType = CLActivityType.other

    /// Whether the status bar shows that the app follows positions in the background; noted, nothing else.
    open var showsBackgroundLocationIndicator = false

    /// The least turn between two headings, in degrees; noted, nothing else.
    open var headingFilter: CLLocationDegrees = 1

    /// How the phone is held; noted, nothing else.
    open var headingOrientation = CLDeviceOrientation.portrait

    private func change(_ body: (inout Options) -> Void) {
        let again = lock.withLock { () -> Bool in
            body(&options)
            return isUpdating
        }
        if again { send(.startUpdating(wireOptions())) }
    }

    private func wireOptions() -> WireLocationOptions {
        let options = lock.withLock { self.options }
        return WireLocationOptions(
            distanceFilter: max(0, finite(options.distanceFilter)),
            desiredAccuracy: max(-2, finite(options.desiredAccuracy)),
            allowsBackground: options.allowsBackground,
            pausesAutomatically: options.pausesAutomatically
        )
    }

    // MARK: Positions

    /// The last position that any manager of the app was told.
    open var location: CLLocation? { LocationServices.shared.location }
    /// Where the top of the phone points; never known.
    open var heading: CLHeading? { nil }

    /// Begins to tell of each position.
    open func startUpdatingLocation() {
        lock.withLock { isUpdating = true }
        send(.startUpdating(wireOptions()))
    }

    /// Tells of positions no more.
    open func stopUpdatingLocation() {
        let wasDeferring = lock.withLock {
            isUpdating = false
            return exchange(&isDeferring, with: false)
        }
        send(.stopUpdating)
        if wasDeferring { finishDeferred(CLError(.deferredNotUpdatingLocation)) }
    }

    /// Tells of one position, or that none could be had.
    open func requestLocation() {
        lock.withLock { awaitsOne = true }
        send(.requestLocation)
    }

    /// Begins to tell of moves of some hundred metres; such a move also starts an app that was ended.
    ///
    /// The app that was started calls this again, and is told of the move then.
    open func startMonitoringSignificantLocationChanges() {
        lock.withLock { isSignificant = true }
        send(.startSignificant)
    }

    /// Tells of significant changes no more.
    open func stopMonitoringSignificantLocationChanges() {
        lock.withLock { isSignificant = false }
        send(.stopSignificant)
    }

    /// Begins to tell of stays at places; one also starts an app that was ended.
    ///
    /// The app that was started calls this again, and is told of the stay then.
    open func startMonitoringVisits() {
        lock.withLock { isVisiting = true }
        send(.startVisits)
    }

    /// Tells of visits no more.
    open func stopMonitoringVisits() {
        lock.withLock { isVisiting = false }
        send(.stopVisits)
    }

    /// Does nothing: the emulated phone has no compass.
    open func startUpdatingHeading() {}
    /// Does nothing: the emulated phone has no compass.
    open func stopUpdatingHeading() {}
    /// Does nothing: the emulated phone has no compass.
    open func dismissHeadingCalibrationDisplay() {}

    /// Asks to hold updates back until the phone went so far or so much time has gone by.
    ///
    /// Only an app that updates at the best accuracy without a distance filter may ask.
    open func allowDeferredLocationUpdates(untilTraveled distance: CLLocationDistance, timeout: TimeInterval) {
        if let fault = faultOfDeferring() {
            finishDeferred(CLError(fault))
            return
        }
        lock.withLock { isDeferring = true }
        send(
            .deferUpdates(
                distance: distance < WireLimits.largestDistance ? max(0, distance) : nil,
                timeout: timeout < WireLimits.largestDistance ? max(0, timeout) : nil
            )
        )
    }

    private func faultOfDeferring() -> CLError.Code? {
        lock.withLock { () -> CLError.Code? in
            if !isUpdating { return .deferredNotUpdatingLocation }
            if options.desiredAccuracy > kCLLocationAccuracyBest { return .deferredAccuracyTooLow }
            return options.distanceFilter == kCLDistanceFilterNone ? nil : .deferredDistanceFiltered
        }
    }

    /// Holds updates back no more.
    open func disallowDeferredLocationUpdates() {
        guard lock.withLock({ exchange(&isDeferring, with: false) }) else { return }
        send(.disallowDeferred)
        finishDeferred(CLError(.deferredCanceled))
    }

    /// Tells the delegate soon, not from within its own call.
    private func finishDeferred(_ error: CLError) {
        let manager = Weak(self)
        DispatchQueue.main.async { manager.object?.tellDeferredFinished(error) }
    }

    // MARK: Regions

    /// The largest radius of a region, in metres.
    open var maximumRegionMonitoringDistance: CLLocationDistance { LocationServices.shared.largestRadius }

    /// The regions that the app monitors, through whichever manager and in whichever of its processes it began.
    open var monitoredRegions: Set<CLRegion> {
        Set(LocationServices.shared.monitored.filter { sees($0.identifier) }.map { CLRegion.made(of: $0) })
    }

    /// Whether a region is one for this manager.
    func sees(_ identifier: String) -> Bool { identifier.hasPrefix(MonitorWatcher.prefix) == isOfMonitor }

    /// Begins to tell when the phone enters or leaves a region; that also starts an app that was ended.
    ///
    /// A region of the same identifier is replaced.
    open func startMonitoring(for region: CLRegion) {
        guard let wire = region.wire, wire.identifier.utf8.count <= WireLimits.regionIdentifierBytes else {
            lock.withLock { impossibleRegions.append(region) }
            let manager = Weak(self)
            DispatchQueue.main.async { manager.object?.refuseImpossibleRegions() }
            return
        }
        LocationServices.shared.ask(for: wire)
        send(.monitor(wire))
    }

    /// Tells of a region no more.
    open func stopMonitoring(for region: CLRegion) {
        LocationServices.shared.forget(region.identifier)
        send(.stopMonitoring(region: region.identifier))
    }

    /// Asks whether the phone is inside of a region; the delegate is told.
    open func requestState(for region: CLRegion) { send(.requestState(region: region.identifier)) }

    // MARK: Beacons

    /// The regions whose beacons are ranged; the form before iOS 13.
    open var rangedRegions: Set<CLRegion> {
        let all = lock.withLock { Array(ranged.values) }
        return Set(all.compactMap { if case .region(let region) = $0 { region } else { nil } })
    }

    /// Whose beacons are ranged.
    open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> {
        let all = lock.withLock { Array(ranged.values) }
        return Set(all.compactMap { if case .constraint(let constraint) = $0 { constraint } else { nil } })
    }

    /// Begins to tell about once a second how far beacons are.
    open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
        let identifier = Self.identifier(of: constraint)
        lock.withLock { ranged[identifier] = .constraint(constraint) }
        send(.range(WireRegion(identifier: identifier, shape: constraint.shape)))
    }

    /// Tells of these beacons no more.
    open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
        stopRanging(Self.identifier(of: constraint))
    }

    /// Begins to tell about once a second how far the beacons of a region are; the form before iOS 13.
    open func startRangingBeacons(in region: CLBeaconRegion) {
        guard let wire = region.wire else { return }
        lock.withLock { ranged[region.identifier] = .region(region) }
        send(.range(wire))
    }

    /// Tells of the beacons of a region no more; the form before iOS 13.
    open func stopRangingBeacons(in region: CLBeaconRegion) { stopRanging(region.identifier) }

    private func stopRanging(_ identifier: String) {
        lock.withLock { ranged[identifier] = nil }
        send(.stopRanging(region: identifier))
    }

    /// A constraint has no name of its own.
    private static func identifier(of constraint: CLBeaconIdentityConstraint) -> String {
        let numbers = [constraint.major, constraint.minor].map { $0.map(String.init) ?? "any" }
        return "beacons \(constraint.uuid.uuidString) \(numbers[0]) \(numbers[1])"
    }

    func send(_ request: WireLocationRequest) {
        BenchClient.shared.send(.location(manager: number, request))
    }
}

/// The number as the wire can say it.
private func finite(_ value: Double) -> Double {
    value.isNaN ? 0 : min(max(value, -WireLimits.largestDistance), WireLimits.largestDistance)
}

/// A handler on its way to the main queue, and what it is to be told.
private struct Answered: @unchecked Sendable {
    let handler: ((any Error)?) -> Void
    let error: CLError?
}

import Foundation
import WakeWire

/// What an app asks to be run for; its subclasses say how.
open class BGTaskRequest: NSObject, NSCopying, @unchecked Sendable {
    private let lock = NSLock()
    private var heldDate: Date?

    /// The name of the task: one of BGTaskSchedulerPermittedIdentifiers in Info.plist.
    public let identifier: String

    /// When it may run at the earliest; nil for as soon as there is a good moment (BGT-5). It is no promise.
    open var earliestBeginDate: Date? {
        get { lock.withLock { heldDate } }
        set { lock.withLock { heldDate = newValue } }
    }

    fileprivate init(named identifier: String) {
        self.identifier = identifier
        super.init()
    }

    /// Another request that asks for the same.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = BGTaskRequest(named: identifier)
        copy.earliestBeginDate = earliestBeginDate
        return copy
    }

    /// What the phone is told; nil for a request of neither kind.
    func wire() -> WireTaskSubmission? { nil }

    /// The date as the wire has it.
    fileprivate var wireDate: Double? {
        earliestBeginDate.map { min(max(0, $0.timeIntervalSince1970), WireLimits.latestDate) }
    }
}

/// Asks for a short time in the background, to refresh what the app shows (BGT-6).
open class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// A request for the task of that name.
    public init(identifier: String) {
        super.init(named: identifier)
    }

    /// Another request that asks for the same.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = BGAppRefreshTaskRequest(identifier: identifier)
        copy.earliestBeginDate = earliestBeginDate
        return copy
    }

    override func wire() -> WireTaskSubmission? {
        WireTaskSubmission(identifier: identifier, kind: .refresh, earliestBegin: wireDate)
    }
}

/// Asks for minutes in the background while nobody uses the phone (BGT-7).
open class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    private let lock = NSLock()
    private var needsNetwork = false
    private var needsPower = false

    /// Whether the task needs a network; false by itself.
    open var requiresNetworkConnectivity: Bool {
        get { lock.withLock { needsNetwork } }
        set { lock.withLock { needsNetwork = newValue } }
    }

    /// Whether the task runs only at the charger, where it may take all the processor time that it wants; false by itself.
    open var requiresExternalPower: Bool {
        get { lock.withLock { needsPower } }
        set { lock.withLock { needsPower = newValue } }
    }

    /// A request for the task of that name.
    public init(identifier: String) {
        super.init(named: identifier)
    }

    /// Another request that asks for the same.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = BGProcessingTaskRequest(identifier: identifier)
        copy.earliestBeginDate = earliestBeginDate
        copy.requiresNetworkConnectivity = requiresNetworkConnectivity
        copy.requiresExternalPower = requiresExternalPower
        return copy
    }

    override func wire() -> WireTaskSubmission? {
        WireTaskSubmission(
            identifier: identifier,
            kind: .processing,
            earliestBegin: wireDate,
            requiresExternalPower: requiresExternalPower,
            requiresNetworkConnectivity: requiresNetworkConnectivity
        )
    }
}

extension WireTaskSubmission {
    /// The request that an app sees.
    var request: BGTaskRequest {
        let date = earliestBegin.map { Date(timeIntervalSince1970: $0) }
        switch kind {
        case .refresh:
            let request = BGAppRefreshTaskRequest(identifier: identifier)
            request.earliestBeginDate = date
            return request
        case .processing:
            let request = BGProcessingTaskRequest(identifier: identifier)
            request.earliestBeginDate = date
            request.requiresNetworkConnectivity = requiresNetworkConnectivity
            request.requiresExternalPower = requiresExternalPower
            return request
        }
    }
}

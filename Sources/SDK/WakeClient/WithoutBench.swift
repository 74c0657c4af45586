import Foundation
import Synchronization
import WakeWire

/// What a process hears that no bench started, such as a unit test: there is a phone, and it can do nothing.
struct WithoutBench {
    /// What is told to a manager next; nil when nothing is.
    typealias Event = (manager: UInt32, body: WireDeliveryBody)

    private static let isNeeded = Mutex(false)

    /// From now on no process goes on without a bench.
    static func need() { isNeeded.withLock { $0 = true } }

    /// Ends the process where it needs a bench, by what it does or by its environment.
    static func checkAllowed() {
        if isNeeded.withLock({ $0 }) { end() }
        if let wish = ProcessInfo.processInfo.environment["WAKEBENCH_REQUIRED"], !wish.isEmpty, wish != "0" {
            end()
        }
        complain(
            "no bench started this process, so its managers are unsupported; WAKEBENCH_REQUIRED=1 makes that an error"
        )
    }

    /// Says that a bench is needed, and ends the process.
    static func end() -> Never {
        complain("no bench started this app; run it with `wakebench run SCENARIO.yaml`")
        exit(2)
    }

    /// What a message brings about.
    static func event(after message: AppMessage) -> Event? {
        switch message {
        case .central(let manager, .create): (manager, .central(.state(.unsupported)))
        case .peripheralManager(let manager, .create): (manager, .peripheralManager(.state(.unsupported)))
        case .location(let manager, let request): location(request).map { (manager, .location($0)) }
        case .audio(let manager, .permission): (manager, .audio(.permissionAnswered(granted: false)))
        default: nil
        }
    }

    private static func location(_ request: WireLocationRequest) -> WireLocationEvent? {
        switch request {
        case .create: .authorization(.restricted, precise: true)
        case .startUpdating, .requestLocation, .startSignificant, .startVisits: .failed(failure(1))
        case .monitor(let region): .monitoringFailed(region.identifier, failure(4))
        case .range(let region): .rangingFailed(region.identifier, failure(16))
        default: nil
        }
    }

    /// With one of the codes of CLError.
    private static func failure(_ code: Int) -> WireFailure {
        WireFailure(domain: "kCLErrorDomain", code: code, message: "No bench started this process.")
    }

    /// The answer to a request.
    static func reply(to message: AppMessage) -> WireReply {
        switch message {
        case .location(_, .create):
            WireReply(location: WireLocationStatus(authorization: .restricted, largestRadius: 0))
        case .beginTask: WireReply(granted: true)
        case .backgroundTask(.register), .backgroundTask(.refreshStatus): WireReply(granted: false)
        case .timeRemaining, .accessory, .audio(_, .status): WireReply()
        default:
            WireReply(
                failure: WireFailure(domain: "WakebenchErrorDomain", code: 2, message: "No bench started this process.")
            )
        }
    }
}

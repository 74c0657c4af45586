import Foundation
import Synchronization
import WakeClient
import WakeWire

/// Takes the app's VoIP pushes, which launch it at once (PUSH-6).
///
/// The app makes it in each launch, before the launch is over, and keeps it. Of several the latest takes the pushes.
open class PKPushRegistry: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private weak var heldDelegate: (any PKPushRegistryDelegate)?
    private var heldTypes: Set<PKPushType>?
    private var token: Data?
    private var number: UInt32 = 0

    /// A registry.
    ///
    /// - Parameter queue: On which the delegate is called; nil for the main queue.
    public init(queue: DispatchQueue?) {
        super.init()
        BenchClient.shared.runWithoutApplication()
        number = BenchClient.shared.register(queue: queue ?? .main, hearsOfCalls: true) { [weak self] body, _ in
            self?.receive(body)
        }
    }

    deinit {
        BenchClient.shared.unregister(manager: number)
    }

    /// Who hears of tokens and pushes; to be set before ``desiredPushTypes``.
    open weak var delegate: (any PKPushRegistryDelegate)? {
        get { lock.withLock { heldDelegate } }
        set { lock.withLock { heldDelegate = newValue } }
    }

    /// The types of push that the app wants; each time that they are set, its delegate is told the tokens.
    ///
    /// Of the types only ``PKPushType/voIP`` comes.
    open var desiredPushTypes: Set<PKPushType>? {
        get { lock.withLock { heldTypes } }
        set {
            let old = lock.withLock { () -> Set<PKPushType>? in
                defer { heldTypes = newValue }
                return heldTypes
            }
            let types = newValue ?? []
            for type in types.subtracting([.voIP]).sorted(by: { $0.rawValue < $1.rawValue }) {
                notDecided("PKPushRegistry: pushes of the type \(type.rawValue) never come")
            }
            if types.contains(.voIP) {
                BenchClient.shared.send(.push(.registerCalls))
            } else if old?.contains(.voIP) == true {
                lock.withLock { token = nil }
                BenchClient.shared.send(.push(.unregisterCalls))
            }
        }
    }

    /// The token for a type of push; nil before the delegate was told one.
    open func pushToken(for type: PKPushType) -> Data? { type == .voIP ? lock.withLock { token } : nil }

    // MARK: Hearing

    private func receive(_ body: WireDeliveryBody) {
        guard case .push(let event) = body else { return }
        switch event {
        case .registered(let bytes, _):
            let credentials = PKPushCredentials(type: .voIP, token: Data(bytes))
            lock.withLock { token = credentials.token }
            delegate?.pushRegistry(self, didUpdate: credentials, for: .voIP)
        case .failed:
            lock.withLock { token = nil }
            delegate?.pushRegistry(self, didInvalidatePushTokenFor: .voIP)
        case .called(let number, let payload): take(number, UserInfo.values(payload) ?? [:])
        case .received, .extend, .extensionExpires: break
        }
    }

    private func take(_ number: UInt32, _ payload: [AnyHashable: Any]) {
        let push = HandledPush(number)
        let before = PushHandlers.reportedCalls
        delegate?.pushRegistry(
            self,
            didReceiveIncomingPushWith: PKPushPayload(type: .voIP, dictionaryPayload: payload),
            for: .voIP
        ) { push.completed() }
        push.returned(reported: PushHandlers.reportedCalls > before)
    }
}

/// A VoIP push that the app was given. The phone is told that it is handled once its callback has returned and its completion
/// handler was called; of one without a report it is told at the return (PUSH-7).
private final class HandledPush: Sendable {
    private struct Steps {
        var isCompleted = false
        var hasReturned = false
        var isTold = false
    }

    private let number: UInt32
    private let steps = Mutex(Steps())

    init(_ number: UInt32) { self.number = number }

    func completed() {
        tell {
            $0.isCompleted = true
            return $0.hasReturned
        }
    }

    func returned(reported: Bool) {
        tell {
            $0.hasReturned = true
            return $0.isCompleted || !reported
        }
    }

    /// Tells the phone, once, when a step makes it so.
    private func tell(_ step: (inout Steps) -> Bool) {
        let isToBeTold = steps.withLock { steps in
            guard step(&steps), !steps.isTold else { return false }
            steps.isTold = true
            return true
        }
        if isToBeTold { BenchClient.shared.send(.push(.callHandled(number: number))) }
    }
}

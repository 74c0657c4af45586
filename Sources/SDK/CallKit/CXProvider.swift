import Foundation
import WakeClient

/// Why a call has ended.
public enum CXCallEndedReason: Int, Sendable {
    /// Something went wrong.
    case failed = 1
    /// The other end has ended it.
    case remoteEnded = 2
    /// Nobody answered.
    case unanswered = 3
    /// It was answered on another device.
    case answeredElsewhere = 4
    /// It was declined on another device.
    case declinedElsewhere = 5
}

/// Reports the app's calls to the phone, and carries out what is asked of them.
///
/// The user of this phone never touches a call; what the app asks for by ``CXCallController`` is carried out.
open class CXProvider: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private var heldConfiguration: CXProviderConfiguration
    private weak var delegate: (any CXProviderDelegate)?
    private var queue = DispatchQueue.main

    /// A provider; the configuration is copied.
    public init(configuration: CXProviderConfiguration) {
        heldConfiguration = configuration.copy() as? CXProviderConfiguration ?? configuration
        super.init()
    }

    /// What calls are like.
    open var configuration: CXProviderConfiguration {
        get { lock.withLock { heldConfiguration } }
        set { lock.withLock { heldConfiguration = newValue } }
    }

    /// Says who carries out what is asked, and on which queue it is called; nil for the main queue.
    open func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {
        lock.withLock {
            self.delegate = delegate
            self.queue = queue ?? .main
        }
        later { $0.providerDidBegin($1) }
    }

    /// Does something with the delegate, if there is one, on its queue.
    func later(_ tell: @escaping @Sendable (any CXProviderDelegate, CXProvider) -> Void) {
        lock.withLock { queue }.async { [self] in
            if let delegate = lock.withLock({ delegate }) { tell(delegate, self) }
        }
    }

    // MARK: Reporting

    /// Reports a call that comes in; what the app owes for each VoIP push (PUSH-7).
    ///
    /// The handler gets a ``CXErrorCodeIncomingCallError`` when there is such a call. It is called on the delegate's queue.
    open func reportNewIncomingCall(
        with UUID: UUID,
        update: CXCallUpdate,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let error = report(UUID, update)
        lock.withLock { queue }.async { completion(error) }
    }

    /// Reports a call that comes in; what the app owes for each VoIP push (PUSH-7).
    ///
    /// - Throws: ``CXErrorCodeIncomingCallError`` when there is such a call.
    open func reportNewIncomingCall(with UUID: UUID, update: CXCallUpdate) async throws {
        if let error = report(UUID, update) { throw error }
    }

    private func report(_ call: UUID, _ update: CXCallUpdate) -> CXErrorCodeIncomingCallError? {
        PushHandlers.reportCall()
        return Calls.add(call, update, of: self) ? nil : CXErrorCodeIncomingCallError(.callUUIDAlreadyExists)
    }

    /// Reports what has become known of a call.
    open func reportCall(with UUID: UUID, updated update: CXCallUpdate) { Calls.update(UUID, update) }

    /// Reports that a call has ended otherwise than by an action.
    open func reportCall(with UUID: UUID, endedAt dateEnded: Date?, reason endedReason: CXCallEndedReason) {
        Calls.end(UUID)
    }

    /// Ends all calls of the provider; it hears of nothing any more.
    open func invalidate() {
        Calls.endAll(of: self)
        lock.withLock { delegate = nil }
    }
}

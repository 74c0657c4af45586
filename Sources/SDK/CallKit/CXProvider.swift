import AVFAudio
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
    /// Seconds that an action may take.
    package var patience = CXAction.patience
    /// Tones that are being played, and those that wait for them.
    private var tones: [CXPlayDTMFCallAction] = []
    /// Transactions that are not complete yet, and such as have been completed since another was asked for.
    private var transactions: [CXTransaction] = []
    /// The phone has made the audio session active.
    private var hasSound = false

    /// A provider; the configuration is copied.
    public init(configuration: CXProviderConfiguration) {
        heldConfiguration = configuration.copy() as? CXProviderConfiguration ?? configuration
        super.init()
        Calls.add(self)
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
    private func later(_ tell: @escaping @Sendable (any CXProviderDelegate, CXProvider) -> Void) {
        lock.withLock { queue }.async { [self] in
            if let delegate = lock.withLock({ delegate }) { tell(delegate, self) }
        }
    }

    // MARK: Reporting

    /// Reports a call that comes in; what the app owes for each VoIP push (PUSH-7).
    ///
    /// The handler gets a ``CXErrorCodeIncomingCallError`` when there is such a call. It is called on the delegate's queue.
    @preconcurrency
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
        if Calls.add(call, update, of: self) { return nil }
        // The report was of a call that goes on already.
        PushHandlers.callEnded()
        return CXErrorCodeIncomingCallError(.callUUIDAlreadyExists)
    }

    /// Reports what has become known of a call.
    open func reportCall(with UUID: UUID, updated update: CXCallUpdate) { Calls.update(UUID, update) }

    /// Reports that a call has ended otherwise than by an action.
    open func reportCall(with UUID: UUID, endedAt dateEnded: Date?, reason endedReason: CXCallEndedReason) {
        Calls.end(UUID)
    }

    /// Reports that a call that was made here is being connected; noted, nothing else.
    open func reportOutgoingCall(with UUID: UUID, startedConnectingAt dateStartedConnecting: Date?) {}

    /// Reports that both ends of a call that was made here can speak with each other.
    open func reportOutgoingCall(with UUID: UUID, connectedAt dateConnected: Date?) { Calls.connect(UUID) }

    /// The transactions that are not complete, in the order in which they were asked for.
    open var pendingTransactions: [CXTransaction] { lock.withLock { transactions.filter { !$0.isComplete } } }

    /// The actions of a class, such as `CXAnswerCallAction.self`, that are not complete, and are about a call.
    open func pendingCallActions(of callActionClass: AnyClass, withCall callUUID: UUID) -> [CXCallAction] {
        pendingTransactions.flatMap(\.actions).compactMap { $0 as? CXCallAction }.filter {
            !$0.isComplete && $0.callUUID == callUUID && $0.isKind(of: callActionClass)
        }
    }

    /// Ends all calls of the provider; it hears of nothing any more.
    open func invalidate() {
        lock.withLock { delegate = nil }
        Calls.remove(self)
    }
}

// MARK: Carrying out

extension CXProvider {
    /// Has the delegate carry out actions, in their order.
    func perform(_ transaction: CXTransaction) {
        lock.withLock {
            transactions.removeAll(where: \.isComplete)
            transactions.append(transaction)
        }
        later { delegate, provider in
            if delegate.provider(provider, execute: transaction) {
                for action in transaction.actions { provider.begin(action) }
            } else {
                for action in transaction.actions { provider.perform(action, by: delegate) }
            }
        }
    }

    private func perform(_ action: CXAction, by delegate: any CXProviderDelegate) {
        switch action {
        case let action as CXStartCallAction: delegate.provider(self, perform: action)
        case let action as CXAnswerCallAction: delegate.provider(self, perform: action)
        case let action as CXEndCallAction: delegate.provider(self, perform: action)
        case let action as CXSetHeldCallAction: delegate.provider(self, perform: action)
        case let action as CXSetMutedCallAction: delegate.provider(self, perform: action)
        case let action as CXSetGroupCallAction: delegate.provider(self, perform: action)
        case let action as CXPlayDTMFCallAction:
            let isFirst = lock.withLock { () -> Bool in
                tones.append(action)
                return tones.count == 1
            }
            if isFirst { play(action, by: delegate) }
            return
        default: action.fail()
        }
        begin(action)
    }

    /// Tones wait until those before them are played.
    private func play(_ action: CXPlayDTMFCallAction, by delegate: any CXProviderDelegate) {
        action.whenEnded { [weak self] in self?.playNext() }
        delegate.provider(self, perform: action)
        begin(action)
    }

    private func playNext() {
        let next = lock.withLock { () -> CXPlayDTMFCallAction? in
            tones.removeFirst()
            return tones.first
        }
        if let next { later { delegate, provider in provider.play(next, by: delegate) } }
    }

    /// The delegate has been asked for an action: its time runs.
    private func begin(_ action: CXAction) {
        action.begin(for: patience, on: lock.withLock { queue }) { [weak self] in
            guard let self else { return }
            lock.withLock { delegate }?.provider(self, timedOutPerforming: action)
        }
    }

    /// The phone makes the audio session active as long as a call has sound.
    func settleSound() {
        lock.withLock { queue }.async { [self] in
            let hasSound = Calls.haveSound(of: self)
            guard hasSound != lock.withLock({ self.hasSound }) else { return }
            let session = AVAudioSession.sharedInstance()
            do {
                try session.setActive(hasSound, options: hasSound ? [] : .notifyOthersOnDeactivation)
            } catch {
                return notDecided("CXProvider: a call has no sound: \(error.localizedDescription)")
            }
            lock.withLock { self.hasSound = hasSound }
            guard let delegate = lock.withLock({ delegate }) else { return }
            if hasSound {
                delegate.provider(self, didActivate: session)
            } else {
                delegate.provider(self, didDeactivate: session)
            }
        }
    }
}

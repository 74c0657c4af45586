import CallKit
import Foundation
import PushKit
import Testing
import UserNotifications

@testable import WakeClient

/// Carries out what is asked of calls, and remembers it with how calls changed.
private final class Telephone: NSObject, CXProviderDelegate, CXCallObserverDelegate, @unchecked Sendable {
    let asked = DispatchQueue(label: "calls")
    let late: AsyncStream<CXAction>
    private let isLate: AsyncStream<CXAction>.Continuation
    var performed: [String] = []
    var changes: [String] = []
    var fails = false
    /// What it is asked for is neither fulfilled nor failed, but for ends.
    var waits = false
    /// It carries transactions out by itself.
    var handles = false

    override init() {
        (late, isLate) = AsyncStream.makeStream(of: CXAction.self)
        super.init()
    }

    private func take(_ word: String, _ action: CXAction) {
        performed.append(word)
        if waits { return }
        if fails { action.fail() } else { action.fulfill() }
    }

    func providerDidReset(_ provider: CXProvider) {}

    func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool {
        guard handles else { return false }
        for action in transaction.actions { take("\(type(of: action))", action) }
        return true
    }

    func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        take("start \(action.handle.value)", action)
    }

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { take("answer", action) }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        performed.append("end")
        action.fulfill()
    }

    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        take("held \(action.isOnHold)", action)
    }

    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
        take("muted \(action.isMuted)", action)
    }

    func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) {
        take("grouped \(action.callUUIDToGroupWith != nil)", action)
    }

    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        take("tones \(action.digits)", action)
    }

    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) { isLate.yield(action) }

    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
        let words = [
            call.isOutgoing ? "out" : "in", call.hasConnected ? "connected" : nil, call.isOnHold ? "held" : nil,
            call.hasEnded ? "ended" : nil,
        ]
        changes.append(words.compactMap { $0 }.joined(separator: " "))
    }
}

/// A call that is made is of the provider that was made last: no two tests at a time.
@Suite("Calls without a bench", .serialized)
struct CallTests {
    private let telephone = Telephone()
    private let provider: CXProvider
    private let controller = CXCallController(queue: DispatchQueue(label: "controller"))

    init() {
        provider = CXProvider(configuration: CXProviderConfiguration())
        provider.setDelegate(telephone, queue: telephone.asked)
    }

    private func code(of error: any Error) -> Int { (error as NSError).code }

    private func request(_ actions: CXAction...) async -> CXErrorCodeRequestTransactionError? {
        do {
            try await controller.request(CXTransaction(actions: actions))
            // What it asks for is done on the delegate's queue, and what comes of that after it.
            for _ in 0..<2 { telephone.asked.sync {} }
            return nil
        } catch { return error as? CXErrorCodeRequestTransactionError }
    }

    @Test("PUSH-7: a reported call counts as one, and a second one of its UUID is refused")
    func report() async throws {
        let before = PushHandlers.reportedCalls
        let call = UUID()
        try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
        #expect(PushHandlers.reportedCalls > before)
        await #expect(throws: CXErrorCodeIncomingCallError(.callUUIDAlreadyExists)) {
            try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
        }
    }

    @Test("What the app asks of its call the delegate carries out, in order")
    func actions() async throws {
        let call = UUID()
        try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
        let answer = CXAnswerCallAction(call: call)
        #expect(await request(answer) == nil)
        #expect(answer.isComplete)
        #expect(await request(CXAnswerCallAction(call: call)) == .init(.invalidAction))
        #expect(await request(CXEndCallAction(call: call)) == nil)
        #expect(telephone.performed == ["answer", "end"])
        #expect(await request(CXEndCallAction(call: call)) == .init(.unknownCallUUID))
    }

    @Test("A call that is answered in vain can be answered again")
    func failedAction() async throws {
        let call = UUID()
        try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
        telephone.fails = true
        #expect(await request(CXAnswerCallAction(call: call)) == nil)
        telephone.fails = false
        #expect(await request(CXAnswerCallAction(call: call)) == nil)
    }

    @Test("Nothing, and a call that was reported as ended, cannot be asked for")
    func refused() async throws {
        let call = UUID()
        try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
        provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
        #expect(await request(CXAnswerCallAction(call: call)) == .init(.unknownCallUUID))
        #expect(await request() == .init(.emptyTransaction))
        #expect(await request(CXAction()) == .init(.invalidAction))
        #expect(telephone.performed.isEmpty)
    }

    @Test("After invalidate there are no calls of the provider")
    func invalidated() async throws {
        let call = UUID()
        try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
        provider.invalidate()
        #expect(await request(CXEndCallAction(call: call)) == .init(.unknownCallUUID))
    }

    // MARK: Calls that are made

    private func start(_ call: UUID) -> CXStartCallAction {
        CXStartCallAction(call: call, handle: CXHandle(type: .generic, value: "Ada"))
    }

    /// A call that came in and was answered.
    private func answered(holds: Bool = true) async throws -> UUID {
        let call = UUID()
        let update = CXCallUpdate()
        update.supportsHolding = holds
        try await provider.reportNewIncomingCall(with: call, update: update)
        #expect(await request(CXAnswerCallAction(call: call)) == nil)
        return call
    }

    @Test("A call that the app makes is one once it is asked for, and has connected when that is reported")
    func outgoing() async throws {
        controller.callObserver.setDelegate(telephone, queue: telephone.asked)
        let call = UUID()
        #expect(await request(start(call)) == nil)
        #expect(await request(start(call)) == .init(.callUUIDAlreadyExists))
        #expect(await request(CXAnswerCallAction(call: call)) == .init(.invalidAction))
        provider.reportOutgoingCall(with: call, startedConnectingAt: nil)
        provider.reportOutgoingCall(with: call, connectedAt: Date())
        let known = try #require(controller.callObserver.calls.first { $0.uuid == call })
        #expect(known.isOutgoing && known.hasConnected && !known.isOnHold && !known.hasEnded)
        #expect(await request(CXEndCallAction(call: call)) == nil)
        #expect(telephone.performed == ["start Ada", "end"])
        #expect(telephone.changes == ["out", "out connected", "out connected ended"])
        #expect(!controller.callObserver.calls.contains { $0.uuid == call })
    }

    @Test("A call whose start fails is over")
    func failedStart() async throws {
        let call = UUID()
        telephone.fails = true
        #expect(await request(start(call)) == nil)
        #expect(await request(CXEndCallAction(call: call)) == .init(.unknownCallUUID))
    }

    @Test("One of two actions that cannot be done keeps the other from being done, and the call from being made")
    func wholeTransactions() async throws {
        let call = UUID()
        #expect(await request(start(call), CXEndCallAction(call: UUID())) == .init(.unknownCallUUID))
        #expect(telephone.performed.isEmpty)
        #expect(await request(start(call), CXSetMutedCallAction(call: call, muted: true)) == nil)
        #expect(telephone.performed == ["start Ada", "muted true"])
    }

    @Test("There are no more groups of calls than the provider has room for")
    func groups() async throws {
        for _ in 0..<2 { #expect(await request(start(UUID())) == nil) }
        #expect(await request(start(UUID())) == .init(.maximumCallGroupsReached))
        #expect(telephone.performed == ["start Ada", "held true", "start Ada"])
    }

    // MARK: Calls that are held

    @Test("A call that has sound is held while another is answered, and again when that one goes on")
    func held() async throws {
        let first = try await answered()
        controller.callObserver.setDelegate(telephone, queue: telephone.asked)
        let second = try await answered()
        #expect(telephone.performed == ["answer", "held true", "answer"])
        #expect(telephone.changes == ["in", "in connected held", "in connected"])
        telephone.performed.removeAll()
        #expect(await request(CXSetHeldCallAction(call: first, onHold: false)) == nil)
        #expect(await request(CXEndCallAction(call: first)) == nil)
        #expect(await request(CXSetHeldCallAction(call: second, onHold: false)) == nil)
        #expect(telephone.performed == ["held true", "held false", "end", "held false"])
    }

    @Test("An app that holds the call itself is not asked to hold it again")
    func heldByApp() async throws {
        let first = try await answered()
        let second = UUID()
        try await provider.reportNewIncomingCall(with: second, update: CXCallUpdate())
        let actions = (CXSetHeldCallAction(call: first, onHold: true), CXAnswerCallAction(call: second))
        #expect(await request(actions.0, actions.1) == nil)
        #expect(telephone.performed == ["answer", "held true", "answer"])
        #expect(actions.0.isComplete && actions.1.isComplete)
    }

    @Test("A call that cannot be held, also by what an update leaves out, is ended in place of that")
    func unheld() async throws {
        let first = try await answered(holds: false)
        let update = CXCallUpdate()
        update.hasVideo = true
        provider.reportCall(with: first, updated: update)
        #expect(await request(CXSetHeldCallAction(call: first, onHold: true)) == .init(.invalidAction))
        _ = try await answered()
        #expect(telephone.performed == ["answer", "end", "answer"])
        #expect(await request(CXEndCallAction(call: first)) == .init(.unknownCallUUID))
    }

    @Test("With room for one group the call that has sound is ended when another is answered")
    func oneGroup() async throws {
        let configuration = CXProviderConfiguration()
        configuration.maximumCallGroups = 1
        provider.configuration = configuration
        for _ in 0..<2 { _ = try await answered() }
        #expect(telephone.performed == ["answer", "end", "answer"])
    }

    @Test("Calls can be put together and parted again, as many as the provider allows")
    func grouped() async throws {
        let first = try await answered()
        let second = try await answered()
        let unknown = CXSetGroupCallAction(call: first, callUUIDToGroupWith: UUID())
        #expect(await request(unknown) == .init(.unknownCallUUID))
        #expect(await request(CXSetGroupCallAction(call: first, callUUIDToGroupWith: second)) == nil)
        // They have sound together.
        #expect(await request(CXSetHeldCallAction(call: first, onHold: false)) == nil)
        #expect(await request(CXSetGroupCallAction(call: first, callUUIDToGroupWith: nil)) == nil)
        #expect(telephone.performed.suffix(3) == ["grouped true", "held false", "grouped false"])
        let configuration = CXProviderConfiguration()
        configuration.maximumCallsPerCallGroup = 1
        provider.configuration = configuration
        #expect(
            await request(CXSetGroupCallAction(call: first, callUUIDToGroupWith: second)) == .init(.invalidAction)
        )
    }

    @Test("Tones wait until those before them are played, and a call without tones takes none")
    func tones() async throws {
        let call = try await answered()
        telephone.waits = true
        let first = CXPlayDTMFCallAction(call: call, digits: "1", type: .singleTone)
        #expect(await request(first) == nil)
        #expect(await request(CXPlayDTMFCallAction(call: call, digits: "2,3", type: .softPause)) == nil)
        #expect(telephone.performed == ["answer", "tones 1"])
        first.fulfill()
        telephone.asked.sync {}
        #expect(telephone.performed == ["answer", "tones 1", "tones 2,3"])
        let update = CXCallUpdate()
        update.supportsDTMF = false
        provider.reportCall(with: call, updated: update)
        let last = CXPlayDTMFCallAction(call: call, digits: "4", type: .hardPause)
        #expect(await request(last) == .init(.invalidAction))
    }

    // MARK: Carrying out

    @Test("An action that is out of time is complete, its delegate is told, and the call is ended")
    func outOfTime() async throws {
        let call = UUID()
        try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
        provider.patience = 0.01
        telephone.waits = true
        let answer = CXAnswerCallAction(call: call)
        #expect(await request(answer) == nil)
        for await action in telephone.late {
            #expect(action === answer && action.isComplete && action.timeoutDate <= Date())
            break
        }
        telephone.asked.sync {}
        #expect(telephone.performed == ["answer", "end"])
        answer.fulfill()
        #expect(await request(CXEndCallAction(call: call)) == .init(.unknownCallUUID))
    }

    @Test("A delegate may carry out a transaction as a whole")
    func handled() async throws {
        telephone.handles = true
        let call = UUID()
        let transaction = CXTransaction(action: start(call))
        transaction.addAction(CXSetMutedCallAction(call: call, muted: true))
        try await controller.request(transaction)
        telephone.asked.sync {}
        #expect(telephone.performed == ["CXStartCallAction", "CXSetMutedCallAction"])
        #expect(transaction.isComplete)
    }

    @Test("There are no call directory extensions, which is an error of their domain")
    func directory() async throws {
        let manager = CXCallDirectoryManager.sharedInstance
        await #expect(throws: CXErrorCodeCallDirectoryManagerError(.noExtensionFound)) {
            try await manager.reloadExtension(withIdentifier: "com.example.blocker")
        }
        let domain = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            manager.getEnabledStatusForExtension(withIdentifier: "com.example.blocker") { status, error in
                #expect(status == .unknown)
                continuation.resume(returning: error.map { ($0 as NSError).domain })
            }
        }
        #expect(domain == CXErrorDomainCallDirectoryManager)
    }

    @Test("A refusal is found by pattern, by cast, and as an NSError with its domain, number and text")
    func patterns() async {
        do {
            try await controller.request(CXTransaction(action: CXEndCallAction(call: UUID())))
            Issue.record("there is no such call")
        } catch CXErrorCodeRequestTransactionError.unknownCallUUID {} catch { Issue.record("\(error)") }
        let error: any Error = CXErrorCodeNotificationServiceExtensionError(.missingNotificationFilteringEntitlement)
        let bridged = error as NSError
        #expect(bridged.domain == "com.apple.CallKit.error.notificationserviceextension")
        #expect(bridged.code == 2)
        #expect(bridged.localizedDescription == "The extension may not filter notifications.")
        let other = NSError(domain: UNErrorDomain, code: 7)
        #expect(UNError(_nsError: other).errorCode == 7)
        #expect(UNError(.badgeInputInvalid, userInfo: [NSLocalizedDescriptionKey: "no"]).localizedDescription == "no")
        let unscheduled: any Error = UNError(.notificationInvalidNoDate)
        if case UNError.notificationInvalidNoDate = unscheduled {} else { Issue.record("no pattern") }
    }

    @Test("What was asked for and is not complete is pending, with its actions by class and call")
    func pending() async throws {
        let (call, other) = (UUID(), UUID())
        for call in [call, other] { try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate()) }
        #expect(provider.pendingTransactions == [])
        telephone.waits = true
        let answer = CXAnswerCallAction(call: call)
        #expect(await request(answer, CXSetMutedCallAction(call: call, muted: true)) == nil)
        #expect(provider.pendingTransactions.map(\.actions.count) == [2])
        #expect(provider.pendingCallActions(of: CXAnswerCallAction.self, withCall: call) == [answer])
        #expect(provider.pendingCallActions(of: CXCallAction.self, withCall: call).count == 2)
        #expect(provider.pendingCallActions(of: CXAnswerCallAction.self, withCall: other) == [])
        answer.fulfill()
        #expect(provider.pendingCallActions(of: CXAnswerCallAction.self, withCall: call) == [])
        for action in provider.pendingCallActions(of: CXCallAction.self, withCall: call) { action.fail() }
        #expect(provider.pendingTransactions == [])
    }

    @Test("The newer reasons for which a call is not shown have Apple's numbers")
    func newerCodes() {
        let codes: [CXErrorCodeIncomingCallError.Code] = [
            .filteredDuringRestrictedSharingMode, .callIsProtected, .filteredBySensitiveParticipants,
        ]
        #expect(codes.map(\.rawValue) == [5, 6, 7])
        let configuration = CXProviderConfiguration()
        configuration.supportsAudioTranslation = true
        #expect((configuration.copy() as? CXProviderConfiguration)?.supportsAudioTranslation == true)
    }

    @Test("A registry knows no token before it is told one")
    func token() {
        let registry = PKPushRegistry(queue: DispatchQueue(label: "registry"))
        registry.desiredPushTypes = [.voIP]
        #expect(registry.desiredPushTypes == [.voIP])
        #expect(registry.pushToken(for: .voIP) == nil)
    }
}

import CallKit
import Foundation
import PushKit
import Testing
import UserNotifications

@testable import WakeClient

/// Carries out what is asked of calls, and remembers it.
private final class Telephone: NSObject, CXProviderDelegate, @unchecked Sendable {
    let asked = DispatchQueue(label: "calls")
    var performed: [String] = []
    var fails = false

    func providerDidReset(_ provider: CXProvider) {}

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        performed.append("answer")
        if fails { action.fail() } else { action.fulfill() }
    }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        performed.append("end")
        action.fulfill()
    }
}

@Suite("Calls without a bench")
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
            // What it asks for is done on the delegate's queue.
            telephone.asked.sync {}
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

    @Test("A registry knows no token before it is told one")
    func token() {
        let registry = PKPushRegistry(queue: DispatchQueue(label: "registry"))
        registry.desiredPushTypes = [.voIP]
        #expect(registry.desiredPushTypes == [.voIP])
        #expect(registry.pushToken(for: .voIP) == nil)
    }
}

import CallKit
import Foundation
import PushKit

/// The calls: each push of one is reported to the phone, and ended five seconds later.
final class Calls: NSObject, PKPushRegistryDelegate, CXProviderDelegate, @unchecked Sendable {
    private let registry = PKPushRegistry(queue: nil)
    private let provider = CXProvider(configuration: CXProviderConfiguration())
    private let controller = CXCallController()

    func begin() {
        provider.setDelegate(self, queue: nil)
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
    }

    func pushRegistry(
        _ registry: PKPushRegistry,
        didUpdate pushCredentials: PKPushCredentials,
        for type: PKPushType
    ) {
        let token = pushCredentials.token.map { String(format: "%02x", $0) }.joined()
        log("didUpdate \(token.prefix(8))")
    }

    func pushRegistry(
        _ registry: PKPushRegistry,
        didReceiveIncomingPushWith payload: PKPushPayload,
        for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        let caller = payload.dictionaryPayload["caller"] as? String ?? "somebody"
        log("didReceiveIncomingPush \(caller)")
        let completion = Handed(completion)
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .generic, value: caller)
        let call = UUID()
        provider.reportNewIncomingCall(with: call, update: update) { error in
            log("reportNewIncomingCall \(error.map { $0.localizedDescription } ?? "shown")")
        }
        DispatchQueue.main.asyncAfter(deadline: .now() + 5) { [self] in
            end(call)
            completion.value()
        }
    }

    private func end(_ call: UUID) {
        controller.request(CXTransaction(action: CXEndCallAction(call: call))) { error in
            log("request \(error.map { $0.localizedDescription } ?? "granted")")
        }
    }

    func providerDidReset(_ provider: CXProvider) {}

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        log("perform CXEndCallAction")
        action.fulfill()
    }
}

/// A handler on its way to another.
private struct Handed: @unchecked Sendable {
    let value: () -> Void

    init(_ value: @escaping () -> Void) { self.value = value }
}

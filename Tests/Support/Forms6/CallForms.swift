import AVFoundation
import CallKit
import CallKit.CXCallObserver
import CallKit.CXStartCallAction
import UIKit

/// Makes calls, and holds, mutes and joins them.
final class Dialer: NSObject, CXProviderDelegate, CXCallObserverDelegate {
    private let provider = CXProvider(configuration: Dialer.configuration)
    private let controller = CXCallController()
    private var active: [CXCall] = []

    private static var configuration: CXProviderConfiguration {
        let configuration = CXProviderConfiguration()
        configuration.iconTemplateImageData = UIImage(named: "call")?.pngData()
        configuration.supportsAudioTranslation = true
        return configuration
    }

    override init() {
        super.init()
        provider.setDelegate(self, queue: nil)
        controller.callObserver.setDelegate(self, queue: nil)
    }

    func dial(_ number: String) {
        let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: .phoneNumber, value: number))
        action.isVideo = false
        let transaction = CXTransaction()
        transaction.addAction(action)
        controller.request(transaction) { error in
            guard let error = error as? CXErrorCodeRequestTransactionError else { return }
            switch error.code {
            case .maximumCallGroupsReached, .unknownCallProvider: print("busy")
            default: print(error)
            }
        }
    }

    func change(_ call: UUID, _ other: UUID) async throws {
        let hold = CXSetHeldCallAction(call: call, onHold: true)
        let mute = CXSetMutedCallAction(call: call, muted: true)
        try await controller.request(CXTransaction(actions: [hold, mute]))
        try await controller.requestTransaction(with: CXSetGroupCallAction(call: call, callUUIDToGroupWith: other))
        try await controller.requestTransaction(with: [CXSetGroupCallAction(call: call, callUUIDToGroupWith: nil)])
        try await controller.request(
            CXTransaction(action: CXPlayDTMFCallAction(call: call, digits: "1", type: .singleTone))
        )
    }

    func providerDidReset(_ provider: CXProvider) { active.removeAll() }

    func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        let update = CXCallUpdate()
        update.remoteHandle = action.handle
        provider.reportCall(with: action.callUUID, updated: update)
        provider.reportOutgoingCall(with: action.callUUID, startedConnectingAt: nil)
        action.fulfill(withDateStarted: Date())
        provider.reportOutgoingCall(with: action.callUUID, connectedAt: Date())
    }

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        action.fulfill(withDateConnected: Date())
    }
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) { action.fulfill(withDateEnded: Date()) }
    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        if action.isOnHold { action.fulfill() } else { action.fail() }
    }
    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
        print(action.isMuted, action.timeoutDate)
        action.fulfill()
    }
    func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) { action.fulfill() }
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        if action.type == .singleTone, !action.digits.isEmpty { action.fulfill() }
    }
    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {}
    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {}
    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {}

    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
        active = callObserver.calls.filter { $0.hasConnected && !$0.hasEnded && !$0.isOnHold && $0.isOutgoing }
    }
}

/// Answers what waits of a call, and ends it.
func settle(_ call: UUID, _ provider: CXProvider, _ controller: CXCallController) async {
    for action in provider.pendingCallActions(of: CXAnswerCallAction.self, withCall: call) { action.fulfill() }
    guard provider.pendingTransactions.isEmpty else { return }
    do {
        try await controller.request(CXTransaction(action: CXEndCallAction(call: call)))
    } catch CXErrorCodeRequestTransactionError.unknownCallUUID {
        print("over")
    } catch let error as CXErrorCodeNotificationServiceExtensionError {
        print(error.code == .invalidClientProcess, CXErrorDomainNotificationServiceExtension)
    } catch {
        print(CXErrorCodeIncomingCallError(.unknown, userInfo: [NSLocalizedDescriptionKey: "other"]))
    }
}

/// Why a call is not shown, in the app's own words.
func word(for error: Error) -> String {
    guard let error = error as? CXErrorCodeIncomingCallError else { return "other" }
    switch error.code {
    case .filteredDuringRestrictedSharingMode, .callIsProtected, .filteredBySensitiveParticipants: return "protected"
    case .filteredByDoNotDisturb, .filteredByBlockList: return "filtered"
    case .unknown, .unentitled, .callUUIDAlreadyExists: return "refused"
    @unknown default: return "other"
    }
}

func blockers() {
    CXCallDirectoryManager.sharedInstance.reloadExtension(withIdentifier: "com.example.outside.blocker")
    CXCallDirectoryManager.sharedInstance.getEnabledStatusForExtension(withIdentifier: "com.example.outside.blocker") {
        status,
        error in
        if status == .enabled, error == nil { print("enabled") }
    }
}

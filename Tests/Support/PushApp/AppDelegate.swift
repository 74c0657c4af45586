import AVFoundation
import CallKit
import PushKit
import UIKit

/// An app without UserNotifications, with the older call for pushes, and a registry with a queue of its own. Its arguments say
/// what it does with VoIP pushes: `report` them, `answer` such a call and end it once it has sound, `later` for done with them
/// once the next push comes.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let receiver = Receiver()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        log("isRegistered \(application.isRegisteredForRemoteNotifications)")
        application.registerForRemoteNotifications(matching: [.alert, .newsstandContentAvailability])
        receiver.begin()
        return true
    }

    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
        log("didReceiveRemoteNotification \(userInfo["thread"] ?? "none")")
    }

    func application(
        _ application: UIApplication,
        didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        log("didFailToRegister \(error.localizedDescription)")
        application.unregisterForRemoteNotifications()
        log("isRegistered \(application.isRegisteredForRemoteNotifications)")
    }
}

/// Takes VoIP pushes on its own queue.
final class Receiver: NSObject, PKPushRegistryDelegate, @unchecked Sendable {
    private static let label = "pushes"
    private let registry = PKPushRegistry(queue: DispatchQueue(label: Receiver.label))
    private let provider = CXProvider(configuration: CXProviderConfiguration())
    private let controller = CXCallController()
    private var call = UUID()
    private var completions: [() -> Void] = []

    func begin() {
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
    }

    func pushRegistry(
        _ registry: PKPushRegistry,
        didUpdate pushCredentials: PKPushCredentials,
        for type: PKPushType
    ) {
        log("didUpdate \(registry.pushToken(for: type) == pushCredentials.token)")
    }

    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {
        log("didInvalidate \(registry.pushToken(for: type) == nil)")
        registry.desiredPushTypes = []
    }

    func pushRegistry(
        _ registry: PKPushRegistry,
        didReceiveIncomingPushWith payload: PKPushPayload,
        for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        dispatchPrecondition(condition: .notOnQueue(.main))
        for completion in completions { completion() }
        completions.removeAll()
        if CommandLine.arguments.contains("report") {
            call = UUID()
            provider.reportNewIncomingCall(with: call, update: CXCallUpdate()) { _ in }
        }
        if CommandLine.arguments.contains("answer") {
            provider.setDelegate(self, queue: nil)
            controller.request(CXTransaction(action: CXAnswerCallAction(call: call))) { _ in }
        }
        if CommandLine.arguments.contains("later") { completions.append(completion) } else { completion() }
    }
}

extension Receiver: CXProviderDelegate {
    func providerDidReset(_ provider: CXProvider) {}

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        log("answer")
        action.fulfill()
    }

    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
        log("didActivate")
        controller.request(CXTransaction(action: CXEndCallAction(call: call))) { _ in }
    }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        log("end")
        action.fulfill()
    }

    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { log("didDeactivate") }
}

/// Prints a line at once, so that nothing is lost when the process ends.
func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

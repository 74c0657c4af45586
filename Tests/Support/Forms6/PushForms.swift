import CallKit
import CallKit.CXProvider
import PushKit
import PushKit.PKPushRegistry
import UIKit
import UserNotifications
import UserNotifications.UNNotificationServiceExtension

final class PushedDelegate: UIResponder, UIApplicationDelegate {
    func ask(_ application: UIApplication) {
        if !application.isRegisteredForRemoteNotifications { application.registerForRemoteNotifications() }
        application.registerForRemoteNotifications(matching: [.alert, .badge, .newsstandContentAvailability])
        application.unregisterForRemoteNotifications()
    }

    func application(
        _ application: UIApplication,
        didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        print(deviceToken.map { String(format: "%02.2hhx", $0) }.joined())
    }

    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: Error) {}

    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        guard let aps = userInfo["aps"] as? [String: AnyObject] else { return completionHandler(.failed) }
        completionHandler(aps["content-available"] as? Int == 1 ? .newData : .noData)
    }
}

final class AwaitingDelegate: UIResponder, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult { .noData }
}

final class OlderDelegate: UIResponder, UIApplicationDelegate {
    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {}
}

final class CallReceiver: NSObject, PKPushRegistryDelegate, CXProviderDelegate {
    private let registry = PKPushRegistry(queue: DispatchQueue.main)
    private let provider = CXProvider(configuration: CallReceiver.configuration)
    private let controller = CXCallController()

    private static var configuration: CXProviderConfiguration {
        let configuration = CXProviderConfiguration(localizedName: "Calls")
        configuration.supportsVideo = true
        configuration.maximumCallsPerCallGroup = 1
        configuration.supportedHandleTypes = [.phoneNumber, .generic]
        return configuration
    }

    override init() {
        super.init()
        registry.delegate = self
        registry.desiredPushTypes = [PKPushType.voIP]
        provider.setDelegate(self, queue: nil)
    }

    func pushRegistry(_ registry: PKPushRegistry, didUpdate credentials: PKPushCredentials, for type: PKPushType) {
        print(credentials.token.count, registry.pushToken(for: .voIP) == credentials.token)
    }

    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {}

    func pushRegistry(
        _ registry: PKPushRegistry,
        didReceiveIncomingPushWith payload: PKPushPayload,
        for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        guard type == .voIP, let handle = payload.dictionaryPayload["handle"] as? String else { return }
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .phoneNumber, value: handle)
        update.hasVideo = false
        let uuid = UUID()
        provider.reportNewIncomingCall(with: uuid, update: update) { error in
            if let error = error as NSError?, error.domain == CXErrorDomainIncomingCall { print(error.code) }
        }
        provider.reportCall(with: uuid, updated: update)
        provider.reportCall(with: uuid, endedAt: Date(), reason: .remoteEnded)
        controller.request(CXTransaction(action: CXEndCallAction(call: uuid))) { _ in }
        completion()
    }

    func providerDidReset(_ provider: CXProvider) {}

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { action.fulfill() }
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) { action.fail() }
}

final class OlderReceiver: NSObject, PKPushRegistryDelegate {
    func pushRegistry(
        _ registry: PKPushRegistry,
        didUpdate pushCredentials: PKPushCredentials,
        for type: PKPushType
    ) {}

    func pushRegistry(
        _ registry: PKPushRegistry,
        didReceiveIncomingPushWith payload: PKPushPayload,
        for type: PKPushType
    ) {}
}

class ReadingService: UNNotificationServiceExtension {
    var contentHandler: ((UNNotificationContent) -> Void)?
    var bestAttemptContent: UNMutableNotificationContent?

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        self.contentHandler = contentHandler
        bestAttemptContent = (request.content.mutableCopy() as? UNMutableNotificationContent)
        if let bestAttemptContent {
            bestAttemptContent.title = "\(bestAttemptContent.title) [modified]"
            contentHandler(bestAttemptContent)
        }
    }

    override func serviceExtensionTimeWillExpire() {
        if let contentHandler, let bestAttemptContent { contentHandler(bestAttemptContent) }
    }
}

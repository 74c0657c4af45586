import Foundation
import Synchronization
import WakeClient
import WakeWire

/// Changes a remote notification with `mutable-content` before the user sees it (PUSH-9).
///
/// It is the principal class of an extension, a program of its own in `PlugIns/Name.appex` of the app's bundle, which the phone starts
/// for each such push, whether the app runs or not. It has 30 s and 24 MB; then the user sees the notification as it came.
open class UNNotificationServiceExtension: NSObject {
    /// An extension; the phone makes it.
    public override init() { super.init() }

    /// A notification came: the handler is to be called with what the user is to see of it. On the main queue.
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        contentHandler(request.content)
    }

    /// The time is nearly over: the last moment to call the handler. On the main queue.
    open func serviceExtensionTimeWillExpire() {}
}

/// Runs the program of an app extension, and does not return. A phone starts such programs with this function instead of `main`; here
/// their `main.swift` calls it.
///
/// Info.plist beside the program names the class, as NSExtensionPrincipalClass in NSExtension: one of
/// ``UNNotificationServiceExtension``.
@MainActor
@discardableResult
public func NSExtensionMain(_ argc: Int32, _ argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    let members = AppList.read()["NSExtension"] as? [String: Any]
    let name = members?["NSExtensionPrincipalClass"] as? String ?? ""
    guard let type = NSClassFromString(name) as? UNNotificationServiceExtension.Type,
        let service = type.makeForBench() as? UNNotificationServiceExtension
    else {
        fatalError(
            "NSExtensionMain: NSExtensionPrincipalClass is '\(name)', no subclass of UNNotificationServiceExtension"
        )
    }
    _ = BenchClient.runApplication { _, _ in }
    PushHandlers.set { event in
        switch event {
        case .extend(let number, let wire):
            let request = wire.request
            let answer = ExtensionAnswer(number, wire)
            service.didReceive(request) { answer.give($0) }
        case .extensionExpires: service.serviceExtensionTimeWillExpire()
        case .registered, .failed, .received, .called: break
        }
    }
    BenchClient.shared.send(.launched)
    BenchClient.shared.runMainLoop()
}

/// The content handler of a notification: what it is called with first counts.
private final class ExtensionAnswer: Sendable {
    private let number: UInt32
    private let original: WireNotification
    private let isGiven = Mutex(false)

    init(_ number: UInt32, _ original: WireNotification) {
        self.number = number
        self.original = original
    }

    func give(_ content: UNNotificationContent) {
        guard !isGiven.withLock({ exchange(&$0, with: true) }) else { return }
        let request = UNNotificationRequest(identifier: original.identifier, content: content, trigger: nil)
        let changed = WireNotification(request)
        if changed == nil {
            notDecided(
                "the content handler was given more than the phone takes: the user sees the notification as it came"
            )
        }
        BenchClient.shared.send(.push(.extended(number: number, changed ?? original)))
    }
}

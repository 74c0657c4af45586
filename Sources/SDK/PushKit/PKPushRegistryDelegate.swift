import Foundation

/// Hears of the app's tokens and pushes, on the queue of its registry.
public protocol PKPushRegistryDelegate: NSObjectProtocol {
    /// The app has a token for a type of push.
    func pushRegistry(
        _ registry: PKPushRegistry,
        didUpdate pushCredentials: PKPushCredentials,
        for type: PKPushType
    )

    /// A push came. From iOS 13 on the app must report a call to CallKit before this returns, or it is ended (PUSH-7).
    ///
    /// - Parameter completion: To be called when the app is done with the push.
    func pushRegistry(
        _ registry: PKPushRegistry,
        didReceiveIncomingPushWith payload: PKPushPayload,
        for type: PKPushType,
        completion: @escaping () -> Void
    )

    /// A push came; the form from before iOS 11.
    func pushRegistry(
        _ registry: PKPushRegistry,
        didReceiveIncomingPushWith payload: PKPushPayload,
        for type: PKPushType
    )

    /// The app has no token for a type of push.
    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
}

/// What a delegate that does not implement a method does.
extension PKPushRegistryDelegate {
    /// Calls the older form.
    public func pushRegistry(
        _ registry: PKPushRegistry,
        didReceiveIncomingPushWith payload: PKPushPayload,
        for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        pushRegistry(registry, didReceiveIncomingPushWith: payload, for: type)
        completion()
    }

    /// Does nothing.
    public func pushRegistry(
        _ registry: PKPushRegistry,
        didReceiveIncomingPushWith payload: PKPushPayload,
        for type: PKPushType
    ) {}

    /// Does nothing.
    public func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {}
}

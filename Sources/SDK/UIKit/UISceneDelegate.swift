import Foundation

/// What an app does at the turns of a scene's life.
@preconcurrency
@MainActor
public protocol UISceneDelegate: NSObjectProtocol {
    /// The scene is about to be connected to the app.
    func scene(
        _ scene: UIScene,
        willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    )
    /// The scene was let go; never on this phone.
    func sceneDidDisconnect(_ scene: UIScene)
    /// The scene became active.
    func sceneDidBecomeActive(_ scene: UIScene)
    /// The scene is about to stop being active.
    func sceneWillResignActive(_ scene: UIScene)
    /// The scene is about to enter the foreground.
    func sceneWillEnterForeground(_ scene: UIScene)
    /// The scene entered the background.
    func sceneDidEnterBackground(_ scene: UIScene)
    /// URLs are to be opened; never on this phone.
    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>)
    /// What the app was doing, to be given back later; never asked for on this phone.
    func stateRestorationActivity(for scene: UIScene) -> NSUserActivity?
    /// An activity is on its way; never on this phone.
    func scene(_ scene: UIScene, willContinueUserActivityWithType userActivityType: String)
    /// An activity of another device is to be continued; never on this phone.
    func scene(_ scene: UIScene, continue userActivity: NSUserActivity)
    /// An activity did not come; never on this phone.
    func scene(
        _ scene: UIScene,
        didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    )
}

/// What a delegate that does not implement a method does.
extension UISceneDelegate {
    /// Does nothing.
    public func scene(
        _ scene: UIScene,
        willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    ) {}
    /// Does nothing.
    public func sceneDidDisconnect(_ scene: UIScene) {}
    /// Does nothing.
    public func sceneDidBecomeActive(_ scene: UIScene) {}
    /// Does nothing.
    public func sceneWillResignActive(_ scene: UIScene) {}
    /// Does nothing.
    public func sceneWillEnterForeground(_ scene: UIScene) {}
    /// Does nothing.
    public func sceneDidEnterBackground(_ scene: UIScene) {}
    /// Does nothing.
    public func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) {}
    /// Nothing.
    public func stateRestorationActivity(for scene: UIScene) -> NSUserActivity? { nil }
    /// Does nothing.
    public func scene(_ scene: UIScene, willContinueUserActivityWithType userActivityType: String) {}
    /// Does nothing.
    public func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {}
    /// Does nothing.
    public func scene(
        _ scene: UIScene,
        didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    ) {}
}

/// The delegate of a scene with windows.
@preconcurrency
@MainActor
public protocol UIWindowSceneDelegate: UISceneDelegate {
    /// The scene's window; nothing is drawn in it.
    var window: UIWindow? { get set }
}

/// What a delegate that does not implement a method does.
extension UIWindowSceneDelegate {
    /// No window.
    public var window: UIWindow? {
        get { nil }
        set { _ = newValue }
    }
}

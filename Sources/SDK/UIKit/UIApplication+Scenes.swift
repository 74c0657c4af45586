import Foundation
import WakeClient
import WakeWire

/// The app's one scene.
extension UIApplication {
    /// The scenes that are connected: one, once the app was in the foreground, in an app with a scene manifest.
    public var connectedScenes: Set<UIScene> { scene.map { [$0] } ?? [] }

    /// The sessions of the app's scenes.
    public var openSessions: Set<UISceneSession> { scene.map { [$0.session] } ?? [] }

    /// Whether the app may have more than one scene: not on a phone.
    public var supportsMultipleScenes: Bool { false }

    /// Asks for a further scene, which a phone has not; the handler is told so.
    public func requestSceneSessionActivation(
        _ sceneSession: UISceneSession?,
        userActivity: NSUserActivity?,
        options: UIScene.ActivationRequestOptions?,
        errorHandler: ((any Error) -> Void)? = nil
    ) {
        notDecided("UIApplication.requestSceneSessionActivation: a phone has one scene, none is added")
        errorHandler?(NSError(domain: "UISceneErrorDomain", code: 0))
    }

    /// Tells the scene's delegate what the app's would hear without scenes; says whether there is a scene to tell.
    func tellScene(_ callback: WireCallback) -> Bool {
        guard let manifest = SceneManifest.ofApp else { return false }
        switch callback {
        case .willEnterForeground:
            let scene = scene ?? connect(manifest)
            scene.activationState = .foregroundInactive
            scene.delegate?.sceneWillEnterForeground(scene)
            post(UIScene.willEnterForegroundNotification, scene)
        case .didBecomeActive:
            let scene = scene ?? connect(manifest)
            // A launch by the user has no callback of its own for the way to the foreground.
            if scene.activationState != .foregroundInactive {
                scene.activationState = .foregroundInactive
                scene.delegate?.sceneWillEnterForeground(scene)
                post(UIScene.willEnterForegroundNotification, scene)
            }
            scene.activationState = .foregroundActive
            scene.delegate?.sceneDidBecomeActive(scene)
            post(UIScene.didActivateNotification, scene)
        case .willResignActive:
            guard let scene else { return true }
            scene.delegate?.sceneWillResignActive(scene)
            scene.activationState = .foregroundInactive
            post(UIScene.willDeactivateNotification, scene)
        case .didEnterBackground:
            guard let scene else { return true }
            scene.activationState = .background
            scene.delegate?.sceneDidEnterBackground(scene)
            post(UIScene.didEnterBackgroundNotification, scene)
        case .willTerminate, .didReceiveMemoryWarning, .taskExpiration: return false
        }
        return true
    }

    /// Makes the scene: the app's delegate is asked for its configuration, the scene's is made and told.
    private func connect(_ manifest: SceneManifest) -> UIScene {
        let options = UIScene.ConnectionOptions()
        let entry = manifest.configuration(nil, .windowApplication)
        let session = UISceneSession(
            configuration: UISceneConfiguration(name: entry?.name, sessionRole: .windowApplication)
        )
        if let chosen = delegate?.application(self, configurationForConnecting: session, options: options) {
            session.configuration = chosen
        }
        let kind = session.configuration.sceneClass as? UIScene.Type ?? UIWindowScene.self
        let scene = kind.init(session: session, connectionOptions: options)
        self.scene = scene
        if let type = session.configuration.delegateClass as? NSObject.Type {
            guard let delegate = type.makeForBench() as? any UISceneDelegate else {
                fatalError("UIApplicationMain: \(type) does not conform to UISceneDelegate")
            }
            scene.delegate = delegate
        } else if let name = entry?.delegateClass, session.configuration.delegateClass == nil {
            notDecided("Info.plist names the scene delegate '\(name)', and there is no such class")
        }
        post(UIScene.willConnectNotification, scene)
        scene.delegate?.scene(scene, willConnectTo: session, options: options)
        return scene
    }

    private func post(_ name: Notification.Name, _ scene: UIScene) {
        NotificationCenter.default.post(name: name, object: scene)
    }
}

extension UIScene {
    /// How a further scene is wanted.
    @preconcurrency
    @MainActor
    open class ActivationRequestOptions: NSObject {
        /// The scene that asks.
        open var requestingScene: UIScene?
    }
}

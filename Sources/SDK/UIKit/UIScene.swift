import Foundation
import WakeClient

/// One of the app's user interfaces; on this phone there is one, without anything drawn in it.
///
/// An app takes part when its Info.plist has `UIApplicationSceneManifest`. The scene is made when the app first comes to the
/// foreground, and from then on its delegate hears of the foreground and the background in the place of the app's.
@preconcurrency
@MainActor
open class UIScene: UIResponder {
    /// Where a scene stands.
    public enum ActivationState: Int, Sendable {
        /// Not connected to the app.
        case unattached = -1
        /// In the foreground and receiving events.
        case foregroundActive = 0
        /// In the foreground without events.
        case foregroundInactive = 1
        /// In the background.
        case background = 2
    }

    /// The session that the scene belongs to.
    public let session: UISceneSession
    /// Who is told of the turns of the scene's life; kept for the life of the scene.
    open var delegate: (any UISceneDelegate)?
    /// Where the scene stands now.
    open internal(set) var activationState: ActivationState = .unattached
    /// A name for people; shown nowhere.
    open var title: String! = ""
    /// What the user does in the scene; noted, nothing else.
    open var userActivity: NSUserActivity?

    /// The scene of a session.
    public required init(session: UISceneSession, connectionOptions: UIScene.ConnectionOptions) {
        self.session = session
        super.init()
        session.scene = self
    }

    /// Opens nothing: there is no other app to open a URL with, which is said once on stderr.
    @preconcurrency
    open func open(
        _ url: URL,
        options: UIScene.OpenExternalURLOptions?,
        completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {
        UIApplication.shared.open(url, options: [:], completionHandler: completion)
    }

    /// How a URL is to be opened outside of the app.
    @preconcurrency
    @MainActor
    open class OpenExternalURLOptions: NSObject {
        /// Whether only an app that the user installed for such links may open it.
        open var universalLinksOnly = false
    }

    /// How a URL was opened.
    @preconcurrency
    @MainActor
    open class OpenURLOptions: NSObject {
        /// The app that asked; none here.
        open var sourceApplication: String? { nil }
        /// What it gave along; nothing here.
        open var annotation: Any? { nil }
        /// Whether the document is to be used where it is.
        open var openInPlace: Bool { false }
    }

    /// Why a scene is connected: nothing but the user does so on this phone, so that all of it is empty.
    @preconcurrency
    @MainActor
    open class ConnectionOptions: NSObject {
        /// URLs to open.
        open var urlContexts: Set<UIOpenURLContext> { [] }
        /// The app that asked.
        open var sourceApplication: String? { nil }
        /// Activities to go on with.
        open var userActivities: Set<NSUserActivity> { [] }
        /// The kind of activity that is on its way.
        open var handoffUserActivityType: String? { nil }
    }

    /// A scene is about to be connected.
    nonisolated public static let willConnectNotification = Notification.Name("UISceneWillConnectNotification")
    /// A scene was let go; never on this phone.
    nonisolated public static let didDisconnectNotification = Notification.Name("UISceneDidDisconnectNotification")
    /// A scene became active.
    nonisolated public static let didActivateNotification = Notification.Name("UISceneDidActivateNotification")
    /// A scene is about to stop being active.
    nonisolated public static let willDeactivateNotification = Notification.Name("UISceneWillDeactivateNotification")
    /// A scene is about to enter the foreground.
    nonisolated public static let willEnterForegroundNotification = Notification.Name(
        "UISceneWillEnterForegroundNotification"
    )
    /// A scene entered the background.
    nonisolated public static let didEnterBackgroundNotification = Notification.Name(
        "UISceneDidEnterBackgroundNotification"
    )
}

/// A scene with windows.
@preconcurrency
@MainActor
open class UIWindowScene: UIScene {
    /// The windows that were made for it.
    open internal(set) var windows: [UIWindow] = []
    /// The window that was made key last.
    open var keyWindow: UIWindow? { windows.last { $0.isKeyWindow } }
}

/// A URL that the app is to open, and how.
@preconcurrency
@MainActor
open class UIOpenURLContext: NSObject {
    /// The URL.
    public let url: URL
    /// How it was opened.
    public let options: UIScene.OpenURLOptions

    init(url: URL) {
        self.url = url
        options = UIScene.OpenURLOptions()
        super.init()
    }
}

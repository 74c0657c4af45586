import Foundation

/// What a scene is made from.
@preconcurrency
@MainActor
open class UISceneConfiguration: NSObject {
    /// The name that Info.plist has for it.
    public let name: String?
    /// What the scene is for.
    public let role: UISceneSession.Role
    /// The class of the scene; ``UIWindowScene`` where none is named.
    open var sceneClass: AnyClass?
    /// The class of the scene's delegate.
    open var delegateClass: AnyClass?

    /// The configuration of a name; classes that Info.plist has for the name are taken from there.
    public init(name: String?, sessionRole: UISceneSession.Role) {
        self.name = name
        role = sessionRole
        super.init()
        if let entry = SceneManifest.ofApp?.configuration(name, sessionRole) {
            sceneClass = entry.sceneClass.flatMap { NSClassFromString($0) }
            delegateClass = entry.delegateClass.flatMap { NSClassFromString($0) }
        }
    }
}

/// What stays of a scene while the app is not running.
@preconcurrency
@MainActor
open class UISceneSession: NSObject {
    /// What a scene is for.
    public struct Role: RawRepresentable, Hashable, Sendable {
        /// The text behind the role.
        public let rawValue: String

        /// A role from its text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The app's windows on the phone.
        public static let windowApplication = Role(rawValue: "UIWindowSceneSessionRoleApplication")
    }

    /// What the scene is for.
    public let role: Role
    /// What the scene is made from.
    open internal(set) var configuration: UISceneConfiguration
    /// A name of its own, new with each process.
    public let persistentIdentifier = UUID().uuidString
    /// The scene, once it is connected.
    open internal(set) weak var scene: UIScene?
    /// What the app keeps with it; not kept beyond the process.
    open var userInfo: [String: Any]?
    /// What the app was doing; noted, nothing else.
    open var stateRestorationActivity: NSUserActivity?

    init(configuration: UISceneConfiguration) {
        self.configuration = configuration
        role = configuration.role
        super.init()
    }
}

/// What an app's Info.plist says of its scenes.
struct SceneManifest: Sendable {
    struct Entry: Sendable {
        let name: String?
        let sceneClass: String?
        let delegateClass: String?
    }

    /// By the text of their role.
    let entries: [String: [Entry]]

    /// The manifest of the running app; nil when its delegate alone hears of its life.
    static let ofApp: SceneManifest? = {
        guard let executable = AppList.executable else { return nil }
        return SceneManifest(AppList.read(), module: executable.lastPathComponent)
    }()

    /// The manifest in a property list; nil when there is none.
    ///
    /// - Parameter module: What stands for `$(PRODUCT_MODULE_NAME)`, which Xcode would have put in.
    init?(_ list: [String: Any], module: String) {
        guard let manifest = list["UIApplicationSceneManifest"] as? [String: Any] else { return nil }
        let roles = manifest["UISceneConfigurations"] as? [String: Any] ?? [:]
        entries = roles.mapValues { role in
            (role as? [[String: Any]] ?? []).map { entry in
                func name(_ key: String) -> String? {
                    (entry[key] as? String)?.replacingOccurrences(of: "$(PRODUCT_MODULE_NAME)", with: module)
                }
                return Entry(
                    name: name("UISceneConfigurationName"),
                    sceneClass: name("UISceneClassName"),
                    delegateClass: name("UISceneDelegateClassName")
                )
            }
        }
    }

    /// The entry of a name, or the first of the role.
    func configuration(_ name: String?, _ role: UISceneSession.Role) -> Entry? {
        let all = entries[role.rawValue] ?? []
        return name.map { name in all.first { $0.name == name } } ?? all.first
    }
}

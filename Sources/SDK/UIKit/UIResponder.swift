import Foundation

/// An object that takes part in the life of an app; here a place in the class tree for app delegates.
@preconcurrency
@MainActor
open class UIResponder: NSObject {
    /// Makes a responder.
    public override init() {
        super.init()
    }
}

/// A window; it has a place in the code of app delegates, and nothing is drawn in it.
@preconcurrency
@MainActor
open class UIWindow: UIResponder {
    /// The frame given at the start.
    open var frame: CGRect
    /// Whether the window was made key.
    open private(set) var isKeyWindow = false

    /// The scene that the window was made for.
    open weak var windowScene: UIWindowScene?

    /// Makes a window of a scene.
    public convenience init(windowScene: UIWindowScene) {
        self.init(frame: .zero)
        self.windowScene = windowScene
        windowScene.windows.append(self)
    }

    /// Makes a window with a frame of no size.
    public convenience override init() {
        self.init(frame: .zero)
    }

    /// Makes a window.
    public init(frame: CGRect) {
        self.frame = frame
        super.init()
    }

    /// Notes that the window is key; shows nothing.
    open func makeKeyAndVisible() {
        isKeyWindow = true
    }
}

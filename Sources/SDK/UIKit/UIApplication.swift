import Foundation
import Synchronization
import WakeClient
import WakeWire

/// The running app.
@preconcurrency
@MainActor
open class UIApplication: UIResponder {
    private static var running: UIApplication?

    /// The one application object of this process.
    open class var shared: UIApplication {
        if let running {
            return running
        }
        let application = UIApplication()
        running = application
        return application
    }

    /// Who is told of the turns of the app's life; kept for the life of the app.
    open var delegate: (any UIApplicationDelegate)?

    /// The app's scene, once it is connected.
    var scene: UIScene?

    /// Where the app stands now.
    open private(set) var applicationState: State = .inactive

    /// Whether the phone stays lit; noted, nothing else.
    open var isIdleTimerDisabled = false

    /// Whether the app may refresh itself in the background (PWR-3).
    open var backgroundRefreshStatus: UIBackgroundRefreshStatus {
        asksForRefreshStatus
    }

    /// Whether files under data protection can be read.
    open var isProtectedDataAvailable: Bool {
        true
    }

    /// How long the app may still run in the background, in seconds; the largest number in the foreground.
    open var backgroundTimeRemaining: TimeInterval {
        let reply = BenchClient.shared.request { .timeRemaining(id: $0) }
        if reply.failure != nil {
            return 0
        }
        return reply.seconds ?? .greatestFiniteMagnitude
    }

    /// Asks for time to finish something after the app leaves the foreground.
    ///
    /// The handler is called on the main queue shortly before the time ends; it must end the task. In Swift 5 mode a protocol may
    /// ask for it as `(() -> Void)?`.
    @preconcurrency
    nonisolated open func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        beginBackgroundTask(withName: nil, expirationHandler: handler)
    }

    /// Asks for time to finish something, under a name that reports show.
    ///
    /// The handler is called on the main queue shortly before the time ends; it must end the task.
    @preconcurrency
    nonisolated open func beginBackgroundTask(
        withName taskName: String?,
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        let token = BenchClient.shared.mintNumber()
        expirations.withLock { $0[token] = handler ?? {} }
        BenchClient.shared.send(.beginTask(token: token, name: taskName))
        return UIBackgroundTaskIdentifier(rawValue: Int(token))
    }

    /// Ends a task; a name that was ended before, or never given, does nothing.
    nonisolated open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
        guard identifier.rawValue > 0 else {
            return
        }
        let token = UInt64(identifier.rawValue)
        if expirations.withLock({ $0.removeValue(forKey: token) }) != nil {
            BenchClient.shared.send(.endTask(token: token))
        }
    }

    /// What the tasks that are not ended want to hear, by their tokens.
    private let expirations = Mutex<[UInt64: @MainActor @Sendable () -> Void]>([:])
}

// MARK: The way of an app

extension UIApplication {
    static func run(principal: NSObject.Type, delegate type: NSObject.Type?) -> Never {
        let welcome = BenchClient.runApplication { callback, state in
            MainActor.assumeIsolated {
                UIApplication.shared.receive(callback, state: State(state))
            }
        }
        let application = makeApplication(principal)
        application.applicationState = State(welcome.state)
        application.hearOfLocalNotifications()
        application.hearOfPushes()
        application.hearOfBackgroundFetch()
        TransferHandlers.setApplication { session, handler in
            let application = UIApplication.shared
            guard let delegate = application.delegate else { return handler() }
            delegate.application(
                application,
                handleEventsForBackgroundURLSession: session,
                completionHandler: handler
            )
        }
        application.launch(delegate: type, options: launchOptions(welcome))
        DispatchQueue.main.async {
            BenchClient.shared.send(.launched)
        }
        BenchClient.shared.runMainLoop()
    }

    private static func makeApplication(_ principal: NSObject.Type) -> UIApplication {
        guard let application = principal.makeForBench() as? UIApplication else {
            fatalError("UIApplicationMain: \(principal) is not a subclass of UIApplication")
        }
        running = application
        return application
    }

    /// What the delegate is told of why the process was started; nothing in an app with scenes, whatever started it (SCN-1).
    private static func launchOptions(_ welcome: Welcome) -> [LaunchOptionsKey: Any]? {
        guard SceneManifest.ofApp == nil else { return nil }
        let told = welcome.options
        var options: [LaunchOptionsKey: Any] = [:]
        if !told.bluetoothCentrals.isEmpty { options[.bluetoothCentrals] = told.bluetoothCentrals }
        if !told.bluetoothPeripherals.isEmpty { options[.bluetoothPeripherals] = told.bluetoothPeripherals }
        if told.isForLocation { options[.location] = NSNumber(value: true) }
        if let payload = UserInfo.values(told.remoteNotification) { options[.remoteNotification] = payload }
        return options.isEmpty ? nil : options
    }

    private func launch(delegate type: NSObject.Type?, options: [LaunchOptionsKey: Any]?) {
        AppList.tellNotDecided()
        if let type {
            guard let delegate = type.makeForBench() as? any UIApplicationDelegate else {
                fatalError("UIApplicationMain: \(type) does not conform to UIApplicationDelegate")
            }
            self.delegate = delegate
        }
        _ = delegate?.application(self, willFinishLaunchingWithOptions: options)
        _ = delegate?.application(self, didFinishLaunchingWithOptions: options)
        post(UIApplication.didFinishLaunchingNotification)
    }

    private func receive(_ callback: WireCallback, state: State) {
        switch callback {
        case .willResignActive:
            if !tellScene(callback) { delegate?.applicationWillResignActive(self) }
            post(UIApplication.willResignActiveNotification)
        case .didEnterBackground:
            applicationState = state
            if !tellScene(callback) { delegate?.applicationDidEnterBackground(self) }
            post(UIApplication.didEnterBackgroundNotification)
        case .willEnterForeground:
            if !tellScene(callback) { delegate?.applicationWillEnterForeground(self) }
            post(UIApplication.willEnterForegroundNotification)
        case .didBecomeActive:
            applicationState = state
            if !tellScene(callback) { delegate?.applicationDidBecomeActive(self) }
            post(UIApplication.didBecomeActiveNotification)
        case .willTerminate:
            delegate?.applicationWillTerminate(self)
            post(UIApplication.willTerminateNotification)
        case .didReceiveMemoryWarning:
            delegate?.applicationDidReceiveMemoryWarning(self)
            post(UIApplication.didReceiveMemoryWarningNotification)
        case .taskExpiration(let tokens):
            expire(tokens)
        }
        applicationState = state
    }

    private func expire(_ tokens: [UInt64]) {
        for token in tokens {
            if let handler = expirations.withLock({ $0[token] }) {
                handler()
            } else {
                ExpiringActivities.expire(token)
            }
        }
    }

    private func post(_ name: Notification.Name) {
        NotificationCenter.default.post(name: name, object: self)
    }
}

extension UIApplication.State {
    fileprivate init(_ state: WireAppState) {
        switch state {
        case .inactive: self = .inactive
        case .background: self = .background
        case .active: self = .active
        }
    }
}

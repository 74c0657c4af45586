/// Anything the router can hear.
package enum Input: Hashable, Codable, Sendable {
    /// A deadline may have passed.
    case timeReached
    case phone(PhoneChange)
    /// The phone's clock is set, or the phone is in another time zone: how it stands from now on.
    case clock(PhoneClock)
    case install(AppID, AppManifest)
    case uninstall(AppID)
    /// The user installs another version over an app: its process ends for the update, and the new manifest counts.
    case update(AppID, AppManifest)
    /// The bundle that was to be installed over an app cannot be: what is wrong in it is the key of its Info.plist, or its file
    /// (MODE-3).
    case refuseUpdate(AppID, key: NameID)
    case user(AppID, UserAction)
    /// The user sets up a peripheral for an app in AccessorySetupKit's picker; nothing, where the app does not declare that
    /// (BTC-8).
    case setUp(AppID, peripheral: NameID)
    /// The system ends the app, for a cause that is not the user's.
    case terminate(AppID, ExitCause, MemoryPressure = .normal)
    case request(AppID, AppRequest)
    case process(AppID, ProcessReport)
    case event(WakeEvent)
    /// An event that the inbox had no room for: nobody hears of it.
    case overflowed(WakeEvent)
    /// A delivery that the app had not acknowledged when the bench died is decided again against the dead app.
    case redeliver(AppID, WakeEvent, supersedes: DecisionID)
    /// The bench came back after it died: every process is gone. Connections that were up end by events of their own.
    case benchRestarted
}

/// How badly the system wants memory when it ends an app for it (LIFE-6).
package enum MemoryPressure: UInt8, Worded, Codable, Sendable {
    case normal
    /// At once: there is no time to ask the app.
    case critical
}

/// What the user does with an app.
package enum UserAction: UInt8, CaseIterable, Codable, Sendable {
    /// Taps the icon: launches the app, or brings it forward.
    case launch
    /// Presses the home button.
    case home
    /// Swipes it away in the app switcher.
    case forceQuit
    /// Something covers the app for a while, such as a call banner: it becomes inactive.
    case interrupt
    /// The cover goes: it is active again.
    case resumeActive
    /// From now on lets the app know the position always, when asked at its first event in the background (LOC-10).
    case allowAlways
    /// From now on keeps When In Use, when asked then.
    case keepWhenInUse
    /// Turns on Background App Refresh for the app (PWR-3).
    case allowRefresh
    /// Turns it off.
    case refuseRefresh
    /// Attaches a debugger, which changes nothing (SYS-5).
    case attachDebugger
    /// Attaches one that exempts the app from limits of time until it is detached (SYS-5).
    case attachExemptingDebugger
    case detachDebugger
    /// Lets the app know the precise position (LOC-11).
    case allowPrecise
    /// Lets it know the position to some kilometres only.
    case refusePrecise
    /// From now on allows the position once, each time when asked; until then nothing is decided (LOC-12).
    case allowOnce
    /// Lets the app show notifications (NOTE-7).
    case allowNotifications
    /// Lets it show none.
    case refuseNotifications
}

/// What the process host says of an app's process.
package enum ProcessReport: Hashable, Codable, Sendable {
    /// didFinishLaunching has returned.
    case launched
    /// A lifecycle callback has returned.
    case returned(LifecycleCallback)
    /// The process is frozen, and nothing it said forbids it.
    case suspended
    /// The process cannot be frozen, or spoke while it was: it runs on.
    case suspensionRefused
    /// The process ended by itself or by a signal that the bench did not send; a code, or a negated signal number.
    case exited(Int64)
    /// The executable could not be started; the errno.
    case launchFailed(Int32)
    /// The process has taken an event that the system keeps until then; see `Router.keepsUntilTaken(_:for:)`.
    case took(EventID)
}

/// The lifecycle callbacks of an app delegate.
package enum LifecycleCallback: UInt8, Worded, Codable, Sendable {
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    case didBecomeActive
    case willTerminate
    /// Background tasks are about to expire (TASK-3).
    case taskExpiration
    /// Memory is short (RESP-6).
    case didReceiveMemoryWarning

    /// The name on the wire.
    package var word: String { "\(self)" }
}

import WakeModel

extension RunLog {
    /// A force quit after which the user has not launched the app.
    struct ForceQuit {
        var at: Instant
        /// Whether the run's profile bars the app for it (LAUNCH-2).
        var bars: Bool
        /// Whether a reboot lifts the bar in the run's profile (LAUNCH-4).
        var rebootLifts: Bool
        /// When a reboot or a shutdown lifted it, and which; nil when none has.
        var lifted: (at: Instant, by: String)?
    }

    /// Why the phone launches nothing at the end of the logs (SYS-1, LAUNCH-5), and since when; nil where nothing of it is known to
    /// stand in the way.
    var unready: (reason: Reason, since: Instant)? {
        let told = changes.filter { $0.app == nil }
        let words = [Self.shutDownWord, Self.bootWord, Self.rebootWord]
        guard let place = told.lastIndex(where: { words.contains($0.word) }) else { return nil }
        let start = told[place]
        if start.word == Self.shutDownWord { return (reason: Reason.phoneIsOff, since: start.at) }
        // A phone that was locked all the time since it started was not unlocked.
        let isLocked = told[place...].allSatisfy { $0.locked == true }
        guard isLocked, isOn("firstUnlockGates") else { return nil }
        return (reason: Reason.beforeFirstUnlock, since: start.at)
    }

    /// When the user uninstalled the app; nil where it is installed, as far as the logs have it.
    func uninstalled(_ app: String) -> Instant? {
        let last = changes.last { $0.app == app && [Self.uninstallWord, Act.installed].contains($0.word) }
        return last.flatMap { $0.word == Self.uninstallWord ? $0.at : nil }
    }

    /// The app's last force quit, whether a process ended or not; nil when the user has launched or uninstalled the app since, or
    /// there was none.
    func forceQuit(of app: String) -> ForceQuit? {
        let changes = self.changes
        let place = changes.lastIndex { $0.app == app && $0.word == Self.forceQuitWord }
        // A log of an older version has no acts.
        let exit = acts.isEmpty ? exits.last { $0.app == app && $0.cause == .userForceQuit } : nil
        guard let at = place.map({ changes[$0].at }) ?? exit?.at else { return nil }
        let later = place.map { changes[($0 + 1)...] } ?? changes.drop { $0.at <= at }
        let lifting = [Self.launchWord, Self.uninstallWord]
        if later.contains(where: { $0.app == app && lifting.contains($0.word) }) { return nil }
        // The user may have come to it by a notification.
        if moves.contains(where: { $0.app == app && $0.to == .active && $0.at > at }) { return nil }
        let rebootLifts = rebootLiftsForceQuit
        let restart = later.first { [Self.rebootWord, Self.shutDownWord].contains($0.word) }
        let lifted = restart.map { (at: $0.at, by: $0.word == Self.rebootWord ? "reboot" : "shutdown") }
        return ForceQuit(
            at: at,
            bars: isOn("forceQuitBars"),
            rebootLifts: rebootLifts,
            lifted: rebootLifts ? lifted : nil
        )
    }

    /// Since when Background App Refresh is off for an app (PWR-3); nil where it is on, or was off before the run.
    func refreshOff(for app: String) -> Instant? {
        let told = changes.filter { Self.refreshOff.contains($0.word) || Self.refreshOn.contains($0.word) }
        let last = [told.last { $0.app == nil }, told.last { $0.app == app }].compactMap(\.self)
        return last.first { Self.refreshOff.contains($0.word) }?.at
    }

    /// What turns it off, and on again, for all apps and for one.
    private static let refreshOff = ["backgroundRefreshOff", "refuseRefresh"].compactMap { Act.words[$0] }
    private static let refreshOn = ["backgroundRefreshOn", "allowRefresh"].compactMap { Act.words[$0] }

    /// What is said of an event that a registration is for where the app was force-quit and its events wake it all the same; nil
    /// where they do not.
    func lifting(_ via: Registration) -> Reason? {
        guard let (reason, setting) = via.liftingForceQuit else { return nil }
        return setting.map(isOn) ?? true ? reason : nil
    }

    /// Whether a reboot lifts the bar of a force quit (LAUNCH-4).
    var rebootLiftsForceQuit: Bool { isOn("rebootLiftsForceQuit") }

    private static let forceQuitWord = Act.word(.user(.none, .forceQuit))?.word
    private static let launchWord = Act.word(.user(.none, .launch))?.word
    private static let uninstallWord = Act.word(.uninstall(.none))?.word
    private static let rebootWord = Act.word(.phone(.reboot))?.word
    private static let shutDownWord = Act.word(.phone(.shutDown))?.word
    private static let bootWord = Act.word(.phone(.boot))?.word

    /// A switch of the profile, as the run set it.
    private func isOn(_ name: String) -> Bool {
        if let word = header.settings[name] { return word == "on" }
        return ProfileSetting.named(name)?.value(Profile.named(header.profile) ?? .ios17) == .flag(true)
    }
}

import WakeModel

/// Something that an app waits for, as the system keeps it.
package struct KeptRegistration: Hashable, Sendable {
    package var via: Registration
    /// The peripheral, the region, the accessory or the peer; ``NameID/none`` for none.
    package var subject: NameID
    package var since: Instant
}

/// What apps are registered for: a look for those who explain a silence. Nothing is decided by it.
extension Router {
    /// All that an app is registered for, in the order of the areas; nothing for an app that was never installed.
    package func registrations(of app: AppID) -> [KeptRegistration] {
        guard Int(app.number) < apps.count, apps[app].installed else { return [] }
        var kept: [KeptRegistration] = []
        askAreas { kept += $0.registrations(of: app, self) }
        return kept
    }
}

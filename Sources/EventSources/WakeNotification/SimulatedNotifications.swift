import WakeModel
import WakePorts

/// A screen in memory: it knows what it would show, and takes the taps of a scenario.
package final class SimulatedNotifications: NotificationPort {
    package let backend = "simulated"
    package var report: ((SourceReport) -> Void)?

    private let names: NameTable
    /// What is on the screen, oldest first.
    private var shown: [Shown] = []

    private struct Shown: Codable {
        var app: AppID
        var notification: ShownNotification
    }

    package init(names: NameTable) { self.names = names }

    package func start(at now: Instant) throws(SourceFailure) {}
    package func stop() {}

    package func perform(_ command: NotificationCommand, at now: Instant) {
        switch command {
        case .show(let app, let notification):
            remove(notification.identifier, of: app)
            shown.append(Shown(app: app, notification: notification))
        case .withdraw(let app, let identifier): remove(identifier, of: app)
        }
    }

    private func remove(_ identifier: NameID, of app: AppID) {
        shown.removeAll { $0.app == app && $0.notification.identifier == identifier }
    }

    /// What is on the screen of an app, oldest first.
    package func shown(of app: AppID) -> [ShownNotification] {
        shown.filter { $0.app == app }.map(\.notification)
    }

    /// The user taps a notification.
    ///
    /// - Parameters:
    ///   - name: what the scenario calls the app.
    /// - Throws: ``SourceFailure`` of kind wrongState when it is not shown.
    package func tap(_ identifier: String, of app: AppID, called name: String, _ origin: NameID) throws(SourceFailure) {
        let seen = shown(of: app)
        guard let subject = names.known(identifier), let tapped = seen.first(where: { $0.identifier == subject }) else {
            let others =
                seen.isEmpty ? "none" : seen.prefix(8).map { names.text($0.identifier) }.joined(separator: ", ")
            throw SourceFailure(
                .wrongState,
                "the user sees no notification '\(identifier)' of \(name); the screen shows of it: \(others)"
            )
        }
        report?(
            SourceReport(
                WakeEvent(kind: .notificationTapped, subject: subject, app: app, origin: origin),
                .notification(tapped.content)
            )
        )
    }

    /// Its part of a snapshot.
    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) { try coder.code(&shown) }
}

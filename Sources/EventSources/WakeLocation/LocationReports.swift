import WakeDevices
import WakeModel
import WakePorts

/// How places become reports, the same for every backend.
struct LocationReports {
    /// What records call the subject of a fix.
    static let subject = "position"
    /// The accuracy in metres of a receiver that says none of its own.
    static let usualAccuracy = 10.0

    let origin: NameID
    private let subject: NameID

    init(names: NameTable, origin: String) {
        self.origin = names.intern(origin)
        subject = names.intern(Self.subject)
    }

    /// A fix.
    ///
    /// - Parameters:
    ///   - accuracy: in metres, when the point says none.
    ///   - now: seconds since 1970, when the point says no time.
    func fixed(_ point: TrackPoint, accuracy: Double, now: Double, origin: NameID? = nil) -> SourceReport {
        SourceReport(
            WakeEvent(
                kind: .positionFixed,
                subject: subject,
                fix: point.fix(accuracy: accuracy),
                origin: origin ?? self.origin
            ),
            .position(point.position(accuracy: accuracy, timestamp: now))
        )
    }

    /// The position is not known any more: Core Location's kCLErrorLocationUnknown.
    func lost(_ message: String, origin: NameID? = nil) -> SourceReport {
        SourceReport(
            WakeEvent(kind: .locationFailed, subject: subject, failed: true, origin: origin ?? self.origin),
            .locationFailure(code: LocationFailureCode.locationUnknown, message: message)
        )
    }
}

import WakeDevices
import WakeModel

/// The faults that are armed, and until when.
struct TrackFaults {
    private var lostUntil = Instant.zero
    private var frozen: (point: TrackPoint?, until: Instant) = (nil, .zero)
    private var jump: (metres: Double, bearing: Double, until: Instant) = (0, 0, .zero)
    private var poor: (metres: Double, until: Instant) = (0, .zero)

    /// - Parameter position: where the receiver says it is at the moment.
    mutating func arm(_ effect: LocationTrack.Effect, at now: Instant, position: TrackPoint?) {
        switch effect {
        case .lostFix(let span): lostUntil = now.advanced(by: span)
        case .frozen(let span): frozen = (position, now.advanced(by: span))
        case .jump(let metres, let bearing, let span): jump = (metres, bearing, now.advanced(by: span))
        case .poorAccuracy(let metres, let span): poor = (metres, now.advanced(by: span))
        }
    }

    /// What the receiver makes of the truth; nil when it does not know where it is.
    func apply(to truth: TrackPoint, at now: Instant) -> TrackPoint? {
        if now < lostUntil { return nil }
        var point = truth
        if now < frozen.until, let held = frozen.point {
            point = held
            point.timestamp = truth.timestamp
        }
        if now < jump.until {
            point.place = Geometry.destination(from: point.place, bearing: jump.bearing, metres: jump.metres)
        }
        if now < poor.until { point.horizontalAccuracy = poor.metres }
        return point
    }
}

extension TrackFaults: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&lostUntil)
        try coder.code(&frozen.point)
        try coder.code(&frozen.until)
        try coder.code(&jump.metres)
        try coder.code(&jump.bearing)
        try coder.code(&jump.until)
        try coder.code(&poor.metres)
        try coder.code(&poor.until)
    }
}

import WakeModel

extension TrackPoint {
    /// What the router reads of it; `accuracy` in metres stands for one that is not known.
    package func fix(accuracy: Double) -> Fix {
        Fix(
            direction: Geometry.direction(of: place),
            accuracyChord: Geometry.chord(metres: horizontalAccuracy ?? accuracy),
            speed: Float(speed ?? -1)
        )
    }

    /// What the app reads of it: -1 is Core Location's word for not known.
    ///
    /// - Parameters:
    ///   - accuracy: the horizontal one in metres, when it is not known.
    ///   - timestamp: seconds since 1970, when the point has none.
    package func position(accuracy: Double, timestamp now: Double) -> Position {
        Position(
            latitude: place.latitude,
            longitude: place.longitude,
            altitude: altitude ?? 0,
            horizontalAccuracy: horizontalAccuracy ?? accuracy,
            verticalAccuracy: altitude == nil ? -1 : verticalAccuracy ?? accuracy * 2,
            course: course ?? -1,
            speed: speed ?? -1,
            timestamp: timestamp ?? now
        )
    }
}

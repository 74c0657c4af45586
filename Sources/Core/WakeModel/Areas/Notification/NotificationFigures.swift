/// What a profile has of notifications.
package struct NotificationFigures: Hashable, Codable, Sendable {
    /// How many notifications of an app may wait to be due (NOTE-2).
    package var limit: UInt32 = 64
    /// The longest sound of a notification (NOTE-5).
    package var soundLimit = Instant.Span.seconds(30)

    static let settings: [ProfileSetting] = [
        .init(
            "notification.limit",
            \.areas.notification.limit,
            1...10_000,
            "notifications",
            .note2,
            "notifications of an app that wait to be due"
        ),
        .init(
            "notification.soundLimit",
            \.areas.notification.soundLimit,
            .note5,
            "longest sound of a notification, beyond which the default one is played"
        ),
    ]
}

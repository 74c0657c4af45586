/// What a profile has of External Accessory.
package struct AccessoryFigures: Hashable, Codable, Sendable {
    /// The window of an accessory's wake (EA-2).
    package var window = Instant.Span.seconds(10)

    static let settings: [ProfileSetting] = [
        .init("accessoryWindow", \.areas.accessory.window, .ea2, "window of an accessory's wake")
    ]
}

/// What a profile has of sound.
package struct AudioFigures: Hashable, Codable, Sendable {
    /// The window of a wake by the end of an interruption (AUD-6); assumed.
    package var window = Instant.Span.seconds(10)
    /// How long a run of silence in the background may be; nil for ever (AUD-4).
    package var silenceLimit: Instant.Span?
    /// Whether sound relaunches a terminated app, as the guide of 2014 has it (AUD-12).
    package var relaunches = false

    static let settings: [ProfileSetting] = [
        .init(
            "silenceLimit",
            \.areas.audio.silenceLimit,
            .aud4,
            "how long a run of silence in the background may be; assumed where it is set"
        ),
        .init("audioWindow", \.areas.audio.window, .aud6, "window of a wake by the end of an interruption; assumed"),
        .init("audioRelaunches", \.areas.audio.relaunches, .aud12, "sound relaunches a terminated app"),
    ]
}

import WakeModel

/// Which backend a source uses.
package struct BackendChoice: Hashable, Sendable {
    package var source: Source
    /// A word of ``words(for:)``.
    package var word: String
    package var line: Int

    package init(source: Source, word: String, line: Int = 0) {
        self.source = source
        self.word = word
        self.line = line
    }

    /// The backends that a source can have, the simulated one first.
    package static func words(for source: Source) -> [String] {
        switch source {
        case .bluetooth: ["simulated", "bluez"]
        case .location: ["simulated", "gpsd", "nmea"]
        case .accessory: ["simulated", "udev", "rfcomm"]
        case .voip: ["simulated", "socket"]
        case .audio: ["simulated", "alsa"]
        case .push, .transfer, .task, .system: ["simulated"]
        }
    }
}

/// How the phone is when the run begins.
package struct PhoneStart: Hashable, Sendable {
    package var passcode = true
    package var unlocked = true
    package var bluetooth = true

    package init() {}
}

/// What a scenario sets of the rules of sound; nil for what the profile has.
package struct AudioSettings: Hashable, Sendable {
    /// AUD-4; nil within for no limit.
    package var silenceLimit: Instant.Span??
    /// AUD-12.
    package var relaunches: Bool?

    package init() {}

    /// A profile with these settings.
    package func applied(to profile: Profile) -> Profile {
        var profile = profile
        if let silenceLimit { profile.audioSilenceLimit = silenceLimit }
        if let relaunches { profile.audioRelaunches = relaunches }
        return profile
    }
}

/// What a scenario changes of the profile's rules of VoIP; nil leaves what the profile has.
package struct VoIPSettings: Hashable, Sendable {
    /// Whether sockets marked for VoIP are watched (VOIP-1).
    package var legacySockets: Bool?
    /// False lifts the limit of VOIP-6.
    package var wakeLimit: Bool?
    /// How long a suspended app without calls keeps its connections (RESP-3).
    package var connectionsLast: Instant.Span?

    package init() {}

    /// A profile with these settings.
    package func applied(to profile: Profile) -> Profile {
        var profile = profile
        if legacySockets == false { profile.legacyVoIP = false }
        if wakeLimit == false { profile.voipWakeLimit = nil }
        if let connectionsLast { profile.connectionsLast = connectionsLast }
        return profile
    }
}

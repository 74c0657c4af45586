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
    /// The date for its apps in virtual time; nil for the usual one.
    package var date: RunDate?

    package init() {}
}

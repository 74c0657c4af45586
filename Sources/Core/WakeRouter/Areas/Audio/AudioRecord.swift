import WakeModel

/// What the router keeps of one app's sound: its session and its engine.
///
/// The slot 0 of an interest stands for the session, of which a process has one.
struct AudioRecord: Equatable, Codable {
    /// An active session, as it was when it became so.
    struct Activation: Equatable, Codable {
        var since: Instant
        /// It plays together with others (AUD-5).
        var mixes: Bool
        /// It lowers the others (AUD-5).
        var ducks: Bool
    }

    /// What the app's engine does when it may.
    struct Engine: Equatable, Codable {
        var plays: Bool
        var records: Bool
    }

    /// A start that is not decided yet.
    struct Start: Equatable, Codable {
        var request: UInt32
        var engine: Engine
    }

    /// Why the session is inactive though the app did not say so (AUD-6).
    enum Interruption: Equatable, Codable {
        case none
        case call
        case app(AppID)
        /// Nobody says when it ends: by a session that ended silently, or by suspension.
        case endless
    }

    /// Since when a process has used sound; kept when it ends, to say why nothing brings it back (AUD-12).
    var since: Instant?
    /// The present process uses sound.
    var attached = false
    var category = AudioCategory.soloAmbient
    var options: AudioOptions = []
    var activation: Activation?
    var engine: Engine?
    var start: Start?
    var interruption = Interruption.none
    /// The buffer that the app would like; zero for no wish (AUD-9).
    var preferred = Instant.Span.zero
    /// The user's word, which outlives the process (AUD-10).
    var permission = MicrophonePermission.undetermined
    /// The source heard nothing but silence for longer than the limit, or than ``AudioRules/silenceNotice`` (AUD-4).
    var silent = false
    /// Since when silence alone keeps the app running in the background.
    var silentSince: Instant?
    /// How long it did before, in all processes.
    var silence = Instant.Span.zero
    /// What the source was told last; nil while the app's engine is off.
    var stream: AudioStream?
    /// Until when an app whose sound stopped in the background may still end its session, before it is suspended.
    var lingersUntil: Instant?
    /// Buffers that came late, in all processes (AUD-11).
    var underruns: UInt64 = 0

    /// Whether the app plays or records now.
    var isSounding: Bool { stream?.runs == true }

    /// The session is inactive from now on, and there is nothing of it to end any more.
    mutating func endActivation() {
        activation = nil
        lingersUntil = nil
    }

    /// Forgets a lingering that is over.
    mutating func lapse(at now: Instant) {
        if let until = lingersUntil, until <= now { lingersUntil = nil }
    }

    /// Whether the session plays together with others.
    var mixes: Bool { options.mixes(in: category) }

    /// The frames of a buffer for the engine (AUD-9).
    func frames(for engine: Engine?, locked: Bool) -> UInt32 {
        if preferred > .zero {
            let capped = min(preferred.nanoseconds, 1_000_000_000)
            let frames = UInt32(capped * Int64(AudioFormat.rate) / 1_000_000_000)
            return min(max(frames, AudioFormat.grantedFrames.lowerBound), AudioFormat.grantedFrames.upperBound)
        }
        let outputOnly = engine.map { $0.plays && !$0.records } ?? false
        return locked && outputOnly ? AudioFormat.lockedFrames : AudioFormat.usualFrames
    }
}

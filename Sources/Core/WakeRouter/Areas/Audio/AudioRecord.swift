import WakeModel

/// What the router keeps of one app's sound: its session and its engine.
///
/// The slot 0 of an interest stands for the session, of which a process has one.
struct AudioRecord: Equatable {
    /// An active session, as it was when it became so.
    struct Activation: Equatable {
        var since: Instant
        /// It plays together with others (AUD-5).
        var mixes: Bool
        /// It lowers the others (AUD-5).
        var ducks: Bool
    }

    /// What the app's engine does when it may.
    struct Engine: Equatable {
        var plays: Bool
        var records: Bool
    }

    /// A start that is not decided yet.
    struct Start: Equatable {
        var request: UInt32
        var engine: Engine
    }

    /// Why the session is inactive though the app did not say so (AUD-6).
    enum Interruption: Equatable {
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

extension AudioRecord: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(optional: since)
        writer.write(attached)
        writer.write(category)
        writer.write(options)
        writer.write(optional: activation)
        writer.write(optional: engine)
        writer.write(optional: start)
        writer.write(interruption)
        writer.write(preferred)
        writer.write(permission)
        writer.write(silent)
        writer.write(optional: silentSince)
        writer.write(silence)
        writer.write(optional: stream)
        writer.write(optional: lingersUntil)
        writer.write(underruns)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init()
        since = try reader.readOptional()
        attached = try reader.readBool()
        category = try reader.read()
        options = try reader.read()
        activation = try reader.readOptional()
        engine = try reader.readOptional()
        start = try reader.readOptional()
        interruption = try reader.read()
        preferred = try reader.read()
        permission = try reader.read()
        silent = try reader.readBool()
        silentSince = try reader.readOptional()
        silence = try reader.read()
        stream = try reader.readOptional()
        lingersUntil = try reader.readOptional()
        underruns = try reader.readUInt64()
    }
}

extension AudioRecord.Activation: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(since)
        writer.write(mixes)
        writer.write(ducks)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(since: try reader.read(), mixes: try reader.readBool(), ducks: try reader.readBool())
    }
}

extension AudioRecord.Engine: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(plays)
        writer.write(records)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(plays: try reader.readBool(), records: try reader.readBool())
    }
}

extension AudioRecord.Start: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(request)
        writer.write(engine)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(request: try reader.readUInt32(), engine: try reader.read())
    }
}

extension AudioRecord.Interruption: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        switch self {
        case .none: writer.write(byte: 0)
        case .call: writer.write(byte: 1)
        case .app(let app):
            writer.write(byte: 2)
            writer.write(app)
        case .endless: writer.write(byte: 3)
        }
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .none
        case 1: self = .call
        case 2: self = .app(try reader.read())
        case 3: self = .endless
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

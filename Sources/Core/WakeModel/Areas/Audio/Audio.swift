/// How an app uses sound: Apple's AVAudioSession.Category (AUD-7).
package enum AudioCategory: UInt8, Worded, Codable, Sendable {
    case ambient
    case soloAmbient
    case playback
    case record
    case playAndRecord
    case multiRoute

    /// Whether its sound goes on in the background (AUD-7).
    package var goesOnInBackground: Bool {
        switch self {
        case .ambient, .soloAmbient: false
        case .playback, .record, .playAndRecord, .multiRoute: true
        }
    }

    package var plays: Bool { self != .record }

    package var records: Bool {
        switch self {
        case .record, .playAndRecord, .multiRoute: true
        case .ambient, .soloAmbient, .playback: false
        }
    }
}

/// The options of a category, in the numbers of Apple's AVAudioSession.CategoryOptions.
package struct AudioOptions: OptionSet, Hashable, Codable, Sendable {
    package var rawValue: UInt16

    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let mixWithOthers = AudioOptions(rawValue: 0x1)
    /// The others are lowered, not stopped; implies mixing.
    package static let duckOthers = AudioOptions(rawValue: 0x2)
    package static let allowBluetooth = AudioOptions(rawValue: 0x4)
    package static let defaultToSpeaker = AudioOptions(rawValue: 0x8)
    package static let interruptSpokenAudio = AudioOptions(rawValue: 0x10)
    package static let allowBluetoothA2DP = AudioOptions(rawValue: 0x20)
    package static let allowAirPlay = AudioOptions(rawValue: 0x40)

    /// What is known of a number from outside; unknown options have no effect.
    package init(known rawValue: UInt16) { self.init(rawValue: rawValue & 0x7f) }

    /// Whether the session plays together with others (AUD-5).
    package func mixes(in category: AudioCategory) -> Bool {
        if category == .ambient { return true }
        if category == .soloAmbient || category == .multiRoute { return false }
        return !isDisjoint(with: [.mixWithOthers, .duckOthers, .interruptSpokenAudio])
    }
}

/// Whether the user lets an app hear the microphone (AUD-10).
package enum MicrophonePermission: UInt8, Worded, Codable, Sendable {
    case undetermined
    case denied
    case granted
}

/// What an app asks of its audio session and engine. Requests with a number are answered by ``AudioAnswer``.
package enum AudioRequest: Hashable, Codable, Sendable {
    case setCategory(AudioCategory, AudioOptions)
    case activate(request: UInt32)
    case deactivate(notifiesOthers: Bool)
    /// The engine renders, with the session made active where it was not; a second start replaces the first.
    case start(request: UInt32, plays: Bool, records: Bool)
    /// The engine renders no more; the session stays active.
    case stop
    /// The length of a buffer that the app would like; zero takes the wish back (AUD-9).
    case preferBuffer(Instant.Span)
    /// Asks the user, who allows it unless a scenario said otherwise.
    case requestPermission
}

/// What the system says to a numbered request.
package enum AudioAnswer: Hashable, Sendable {
    /// Done. Of a start: the frames of one buffer.
    case granted(frames: UInt32)
    /// In the codes of ``AudioErrorCode``.
    case refused(Int32)
}

/// The codes of Apple's AVAudioSession.ErrorCode.
package enum AudioErrorCode {
    /// '!int'
    package static let cannotInterruptOthers: Int32 = 560_557_684
    /// '!pri'
    package static let insufficientPriority: Int32 = 561_017_449
    /// '!pla'
    package static let cannotStartPlaying: Int32 = 561_015_905
    /// '!cat'
    package static let incompatibleCategory: Int32 = 560_161_140
    /// '!res'
    package static let resourceNotAvailable: Int32 = 561_145_203
}

/// The form of sound between an app and the bench.
package enum AudioFormat {
    /// The rate of the phone's sound hardware, in frames a second.
    package static let rate: UInt32 = 48_000
    /// Output is stereo, interleaved Float32.
    package static let outputChannels = 2
    /// The microphone is mono, Float32.
    package static let inputChannels = 1
    /// The frames of a buffer as they are (AUD-9).
    package static let usualFrames: UInt32 = 1_024
    /// With the screen locked, output alone and no wish of the app's (AUD-9).
    package static let lockedFrames: UInt32 = 4_096
    /// 5 ms and 4 096 frames: what a wish is cut to (AUD-9).
    package static let grantedFrames: ClosedRange<UInt32> = 240...4_096
    /// The gain of what is lowered for another, in thousandths; assumed, since Apple publishes none.
    package static let duckedGain: UInt16 = 200
    package static let fullGain: UInt16 = 1_000
}

/// What one app's engine is to do: the router says so to the source, anew with each change.
package struct AudioStream: Hashable, Codable, Sendable {
    package var plays: Bool
    package var records: Bool
    /// False while the app may not sound, such as in the background without the mode: nothing is asked of it, and its
    /// memory stays (AUD-3).
    package var runs: Bool
    /// The frames of one buffer (AUD-9).
    package var frames: UInt32
    /// In thousandths: 1 000 as it is, less when ducked (AUD-5).
    package var gain: UInt16
    /// Whether the microphone gives sound; silence otherwise (AUD-10).
    package var hears: Bool
    /// How long a run of silent buffers may be before the source says so; nil for ever (AUD-4).
    package var silenceLimit: Instant.Span?

    package init(
        plays: Bool,
        records: Bool,
        runs: Bool = true,
        frames: UInt32 = AudioFormat.usualFrames,
        gain: UInt16 = AudioFormat.fullGain,
        hears: Bool = true,
        silenceLimit: Instant.Span? = nil
    ) {
        self.plays = plays
        self.records = records
        self.runs = runs
        self.frames = frames
        self.gain = gain
        self.hears = hears
        self.silenceLimit = silenceLimit
    }
}

/// What the router asks of the source of sound.
package enum AudioCommand: Hashable, Sendable {
    /// The app's engine renders in this way from now on, or rests. Its memory stays the same while it goes on to play
    /// and record what it did; other directions are a new stream.
    case play(AppID, AudioStream)
    /// It renders no more, and its memory goes. Nothing happens when it did not.
    case stop(AppID)
}

/// Where sound goes or comes from.
package enum AudioPortKind: UInt8, Worded, Codable, Sendable {
    case speaker
    case receiver
    case headphones
    case headsetMicrophone
    case builtInMicrophone
    case usb
}

/// The way of sound: one end for output and one for input.
package struct AudioRoute: Hashable, Codable, Sendable {
    /// Nil when nothing can play.
    package var output: End?
    /// Nil when nothing can hear.
    package var input: End?

    package struct End: Hashable, Codable, Sendable {
        package var kind: AudioPortKind
        /// For people: `Speaker`, the name of a headset.
        package var name: String

        package init(_ kind: AudioPortKind, name: String) {
            self.kind = kind
            self.name = name
        }
    }

    package init(output: End?, input: End?) {
        self.output = output
        self.input = input
    }

    /// The phone alone.
    package static let builtIn = AudioRoute(
        output: End(.speaker, name: "Speaker"),
        input: End(.builtInMicrophone, name: "iPhone Microphone")
    )
}

/// Why the route changed, in the numbers of Apple's AVAudioSession.RouteChangeReason.
package enum AudioRouteReason: UInt8, CaseIterable, Sendable {
    case unknown = 0
    case newDeviceAvailable = 1
    case oldDeviceUnavailable = 2
    case categoryChange = 3
    case noSuitableRoute = 7
}

/// Why a session was interrupted, in the numbers of Apple's AVAudioSession.InterruptionReason.
package enum AudioInterruptionReason: UInt8, CaseIterable, Sendable {
    /// Another session, or a call.
    case other = 0
    /// The app went to the background, where its sound does not go on; told when it runs again (AUD-3).
    case appWasSuspended = 1
}

/// What the number of an event stands for.
extension WakeEvent {
    /// The request that `audioActivated` or `audioStarted` answers; 0 for none.
    @inlinable
    package var audioRequest: UInt32 { local }

    /// How many buffers of `audioRanDry` came late.
    @inlinable
    package var lateBuffers: UInt32 { local }
}

/// The kinds of its events, each by its row of Tables/events.tsv.
extension EventKind {
    /// An app asked that its session be active.
    @inlinable package static var audioActivated: EventKind { EventKind(row: 46) }
    /// An app's engine began to render.
    @inlinable package static var audioStarted: EventKind { EventKind(row: 47) }
    /// An app that plays or records went to the background.
    @inlinable package static var audioInBackground: EventKind { EventKind(row: 48) }
    /// An app's engine renders no more.
    @inlinable package static var audioStopped: EventKind { EventKind(row: 49) }
    @inlinable package static var audioInterrupted: EventKind { EventKind(row: 50) }
    @inlinable package static var audioInterruptionEnded: EventKind { EventKind(row: 51) }
    @inlinable package static var audioRouteChanged: EventKind { EventKind(row: 52) }
    /// Buffers came late.
    @inlinable package static var audioRanDry: EventKind { EventKind(row: 53) }
    /// The sound was silence for longer than the limit.
    @inlinable package static var audioSilent: EventKind { EventKind(row: 54) }
    /// There is sound again.
    @inlinable package static var audioAudible: EventKind { EventKind(row: 55) }
    /// The user said whether an app may hear the microphone.
    @inlinable package static var microphoneAnswered: EventKind { EventKind(row: 56) }
}

extension Action {
    package static func audio(_ command: AudioCommand) -> Action { .command(.audio(command)) }
}

import Foundation
import WakeModel
import WakeWire

extension AVAudioSession {
    /// How the app uses sound.
    public struct Category: RawRepresentable, Hashable, Sendable {
        /// Apple's name for it.
        public let rawValue: String

        /// A category by its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Sound that matters little: it mixes, and ends in the background.
        public static let ambient = Category(rawValue: "AVAudioSessionCategoryAmbient")
        /// The same, and silences others; what a fresh session has.
        public static let soloAmbient = Category(rawValue: "AVAudioSessionCategorySoloAmbient")
        /// Sound that the app is for.
        public static let playback = Category(rawValue: "AVAudioSessionCategoryPlayback")
        /// Recording alone.
        public static let record = Category(rawValue: "AVAudioSessionCategoryRecord")
        /// Both, such as a call.
        public static let playAndRecord = Category(rawValue: "AVAudioSessionCategoryPlayAndRecord")
        /// Several ways at once.
        public static let multiRoute = Category(rawValue: "AVAudioSessionCategoryMultiRoute")

        /// Its word on the wire; nil for a name that is none of these.
        var wire: AudioCategory? {
            switch self {
            case .ambient: .ambient
            case .soloAmbient: .soloAmbient
            case .playback: .playback
            case .record: .record
            case .playAndRecord: .playAndRecord
            case .multiRoute: .multiRoute
            default: nil
            }
        }
    }

    /// What the sound is for; the emulated phone treats all modes alike.
    public struct Mode: RawRepresentable, Hashable, Sendable {
        /// Apple's name for it.
        public let rawValue: String

        /// A mode by its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Nothing special.
        public static let `default` = Mode(rawValue: "AVAudioSessionModeDefault")
        /// Calls.
        public static let voiceChat = Mode(rawValue: "AVAudioSessionModeVoiceChat")
        /// Calls with a picture.
        public static let videoChat = Mode(rawValue: "AVAudioSessionModeVideoChat")
        /// Games' chats.
        public static let gameChat = Mode(rawValue: "AVAudioSessionModeGameChat")
        /// Films that are made.
        public static let videoRecording = Mode(rawValue: "AVAudioSessionModeVideoRecording")
        /// Films that are shown.
        public static let moviePlayback = Mode(rawValue: "AVAudioSessionModeMoviePlayback")
        /// Measuring.
        public static let measurement = Mode(rawValue: "AVAudioSessionModeMeasurement")
        /// Speech, such as podcasts.
        public static let spokenAudio = Mode(rawValue: "AVAudioSessionModeSpokenAudio")
        /// Prompts, such as of navigation.
        public static let voicePrompt = Mode(rawValue: "AVAudioSessionModeVoicePrompt")
    }

    /// How a category is to be taken.
    public struct CategoryOptions: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// A set from its bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Play together with others.
        public static let mixWithOthers = CategoryOptions(rawValue: 0x1)
        /// Play together with others, and lower them.
        public static let duckOthers = CategoryOptions(rawValue: 0x2)
        /// Headsets with hands-free profile may be used.
        public static let allowBluetooth = CategoryOptions(rawValue: 0x4)
        /// The speaker rather than the receiver.
        public static let defaultToSpeaker = CategoryOptions(rawValue: 0x8)
        /// Interrupt speech, and mix with all else.
        public static let interruptSpokenAudioAndMixWithOthers = CategoryOptions(rawValue: 0x11)
        /// Bluetooth headphones may be used.
        public static let allowBluetoothA2DP = CategoryOptions(rawValue: 0x20)
        /// AirPlay may be used.
        public static let allowAirPlay = CategoryOptions(rawValue: 0x40)
    }

    /// How to make a session active or inactive.
    public struct SetActiveOptions: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// A set from its bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Those that were interrupted hear that it is over.
        public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 1)
    }

    /// Whether the app may hear the microphone.
    public enum RecordPermission: UInt, Sendable {
        /// The user was not asked yet.
        case undetermined = 0x756e_6474
        /// The user refused.
        case denied = 0x6465_6e79
        /// The user allows it.
        case granted = 0x6772_6e74
    }

    /// Which way an interruption goes.
    public enum InterruptionType: UInt, Sendable {
        /// It is over.
        case ended = 0
        /// The session is inactive.
        case began = 1
    }

    /// What the end of an interruption means.
    public struct InterruptionOptions: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// A set from its bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// The app may go on.
        public static let shouldResume = InterruptionOptions(rawValue: 1)
    }

    /// Why a session was interrupted.
    public enum InterruptionReason: UInt, Sendable {
        /// Another session, or a call.
        case `default` = 0
        /// The app was suspended.
        case appWasSuspended = 1
        /// The microphone was covered.
        case builtInMicMuted = 2
        /// The way of sound went.
        case routeDisconnected = 4
    }

    /// Why the way of sound changed.
    public enum RouteChangeReason: UInt, Sendable {
        /// Not known.
        case unknown = 0
        /// A device was plugged in.
        case newDeviceAvailable = 1
        /// A device was pulled out: an app that plays pauses.
        case oldDeviceUnavailable = 2
        /// The category changed.
        case categoryChange = 3
        /// The app said so.
        case override = 4
        /// The phone woke.
        case wakeFromSleep = 6
        /// There is no way for the category.
        case noSuitableRouteForCategory = 7
        /// The same devices, used in another way.
        case routeConfigurationChange = 8
    }

    /// Whether another app's sound asks for silence.
    public enum SilenceSecondaryAudioHintType: UInt, Sendable {
        /// No more.
        case end = 0
        /// From now on.
        case begin = 1
    }

    /// What an end of the way of sound is.
    public struct Port: RawRepresentable, Hashable, Sendable {
        /// Apple's name for it.
        public let rawValue: String

        /// A port by its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The phone's speaker.
        public static let builtInSpeaker = Port(rawValue: "Speaker")
        /// What one holds to the ear.
        public static let builtInReceiver = Port(rawValue: "Receiver")
        /// The phone's microphone.
        public static let builtInMic = Port(rawValue: "MicrophoneBuiltIn")
        /// Headphones with a wire.
        public static let headphones = Port(rawValue: "Headphones")
        /// A headset's microphone.
        public static let headsetMic = Port(rawValue: "MicrophoneWired")
        /// A sound card.
        public static let usbAudio = Port(rawValue: "USBAudio")

        init(_ kind: AudioPortKind) {
            switch kind {
            case .speaker: self = .builtInSpeaker
            case .receiver: self = .builtInReceiver
            case .headphones: self = .headphones
            case .headsetMicrophone: self = .headsetMic
            case .builtInMicrophone: self = .builtInMic
            case .usb: self = .usbAudio
            }
        }
    }

    /// The codes of errors, in the domain `NSOSStatusErrorDomain`.
    public enum ErrorCode: Int, Sendable {
        /// No error.
        case none = 0
        /// '!int': the app may not interrupt who plays.
        case cannotInterruptOthers = 560_557_684
        /// '!pri': something more important goes on, such as a call.
        case insufficientPriority = 561_017_449
        /// '!pla': the app may not start to play here.
        case cannotStartPlaying = 561_015_905
        /// '!rec': the app may not start to record here.
        case cannotStartRecording = 561_145_187
        /// '!cat': the category does not play or record.
        case incompatibleCategory = 560_161_140
        /// '!res': what is needed is not there.
        case resourceNotAvailable = 561_145_203
        /// A parameter makes no sense.
        case badParam = -50
    }
}

/// One end of the way of sound.
public final class AVAudioSessionPortDescription: NSObject, @unchecked Sendable {
    /// What it is.
    public let portType: AVAudioSession.Port
    /// For people.
    public let portName: String
    /// Different for each.
    public var uid: String { "\(portType.rawValue)-\(portName)" }

    init(_ port: AudioRoute.End) {
        portType = AVAudioSession.Port(port.kind)
        portName = port.name
    }
}

/// The way of sound.
public final class AVAudioSessionRouteDescription: NSObject, @unchecked Sendable {
    /// Where the phone hears.
    public let inputs: [AVAudioSessionPortDescription]
    /// Where it plays.
    public let outputs: [AVAudioSessionPortDescription]

    init(_ route: AudioRoute) {
        inputs = route.input.map { [AVAudioSessionPortDescription($0)] } ?? []
        outputs = route.output.map { [AVAudioSessionPortDescription($0)] } ?? []
    }
}

/// Of ``AVAudioSession/interruptionNotification``: an ``AVAudioSession/InterruptionType`` as a number.
public let AVAudioSessionInterruptionTypeKey = "AVAudioSessionInterruptionTypeKey"
/// Of ``AVAudioSession/interruptionNotification``: ``AVAudioSession/InterruptionOptions`` as a number.
public let AVAudioSessionInterruptionOptionKey = "AVAudioSessionInterruptionOptionKey"
/// Of ``AVAudioSession/interruptionNotification``: whether suspension interrupted the session.
public let AVAudioSessionInterruptionWasSuspendedKey = "AVAudioSessionInterruptionWasSuspendedKey"
/// Of ``AVAudioSession/interruptionNotification``: an ``AVAudioSession/InterruptionReason`` as a number.
public let AVAudioSessionInterruptionReasonKey = "AVAudioSessionInterruptionReasonKey"
/// Of ``AVAudioSession/routeChangeNotification``: an ``AVAudioSession/RouteChangeReason`` as a number.
public let AVAudioSessionRouteChangeReasonKey = "AVAudioSessionRouteChangeReasonKey"
/// Of ``AVAudioSession/routeChangeNotification``: an ``AVAudioSessionRouteDescription``.
public let AVAudioSessionRouteChangePreviousRouteKey = "AVAudioSessionRouteChangePreviousRouteKey"
/// Of ``AVAudioSession/silenceSecondaryAudioHintNotification``: a number.
public let AVAudioSessionSilenceSecondaryAudioHintTypeKey = "AVAudioSessionSilenceSecondaryAudioHintTypeKey"

extension AVAudioSession {
    /// The session became inactive without the app's doing, or may be active again.
    public static let interruptionNotification = Notification.Name("AVAudioSessionInterruptionNotification")
    /// The way of sound changed.
    public static let routeChangeNotification = Notification.Name("AVAudioSessionRouteChangeNotification")
    /// The system's sound is gone.
    public static let mediaServicesWereLostNotification = Notification.Name(
        "AVAudioSessionMediaServicesWereLostNotification"
    )
    /// The system's sound is back, and all objects of before are dead.
    public static let mediaServicesWereResetNotification = Notification.Name(
        "AVAudioSessionMediaServicesWereResetNotification"
    )
    /// Another app's sound asks for silence, or no more.
    public static let silenceSecondaryAudioHintNotification = Notification.Name(
        "AVAudioSessionSilenceSecondaryAudioHintNotification"
    )
}

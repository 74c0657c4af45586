import Foundation
import Synchronization
import WakeClient
import WakeModel
import WakeWire

/// How the app and the system share sound.
///
/// The category says what kind of sound it is, and whether it goes on in the background; an active session plays, and may
/// interrupt others or be interrupted. Notifications come on the main queue.
public final class AVAudioSession: NSObject, Sendable {
    private struct State {
        var category = Category.soloAmbient
        var mode = Mode.default
        var options: CategoryOptions = []
        var preferred = 0.0
        var frames: UInt32 = 1_024
        var asked: [@Sendable (Bool) -> Void] = []
        var manager: UInt32?
    }

    private static let session = AVAudioSession()
    static let engines = EngineList()

    private let state = Mutex(State())

    private override init() {}

    /// The one session of the app.
    public class func sharedInstance() -> AVAudioSession { session }

    /// The one session of the app.
    public static var shared: AVAudioSession { session }

    /// The number that the bench knows the session by; made on first use.
    private var manager: UInt32 {
        state.withLock { state in
            if let manager = state.manager { return manager }
            let manager = BenchClient.shared.register(queue: .main) { [weak self] body, _ in self?.receive(body) }
            state.manager = manager
            return manager
        }
    }

    private func send(_ request: WireAudioRequest) {
        BenchClient.shared.send(.audio(manager: manager, request))
    }

    static func error(_ code: ErrorCode, _ text: String) -> NSError {
        NSError(domain: NSOSStatusErrorDomain, code: code.rawValue, userInfo: [NSLocalizedDescriptionKey: text])
    }

    // MARK: Category

    /// How the app uses sound.
    public var category: Category { state.withLock { $0.category } }

    /// What the sound is for.
    public var mode: Mode { state.withLock { $0.mode } }

    /// How the category is taken.
    public var categoryOptions: CategoryOptions { state.withLock { $0.options } }

    /// Sets how the app uses sound.
    ///
    /// - Throws: An error with the code ``ErrorCode/badParam`` for a category that is not known.
    public func setCategory(_ category: Category, mode: Mode, options: CategoryOptions = []) throws {
        guard let wire = category.wire else {
            throw Self.error(.badParam, "no category is called \(category.rawValue)")
        }
        state.withLock { state in
            state.category = category
            state.mode = mode
            state.options = options
        }
        send(.category(wire, options: UInt16(truncatingIfNeeded: options.rawValue)))
    }

    /// Sets how the app uses sound.
    ///
    /// - Throws: An error with the code ``ErrorCode/badParam`` for a category that is not known.
    public func setCategory(_ category: Category, options: CategoryOptions = []) throws {
        try setCategory(category, mode: mode, options: options)
    }

    /// Sets what the sound is for.
    public func setMode(_ mode: Mode) throws {
        state.withLock { $0.mode = mode }
    }

    // MARK: Activation

    /// Makes the session active or inactive.
    ///
    /// - Throws: An error of the domain `NSOSStatusErrorDomain` with a code of ``ErrorCode``, such as
    ///   ``ErrorCode/cannotInterruptOthers`` in the background while another app plays.
    public func setActive(_ active: Bool, options: SetActiveOptions = []) throws {
        guard active else {
            Self.engines.stopAll()
            send(.deactivate(notifiesOthers: options.contains(.notifyOthersOnDeactivation)))
            return
        }
        let manager = manager
        let reply = BenchClient.shared.request { .audio(manager: manager, .activate(id: $0)) }
        if let failure = reply.failure { throw failure.error() }
        learn(reply)
    }

    private func learn(_ reply: WireReply) {
        guard let audio = reply.audio else {
            return
        }
        state.withLock { $0.frames = audio.frames }
    }

    /// Asks for a stream of the app's engine.
    func startStream(plays: Bool, records: Bool) throws -> RenderThread {
        let manager = manager
        let (reply, descriptors) = BenchClient.shared.requestWithDescriptors {
            .audio(manager: manager, .start(id: $0, plays: plays, records: records))
        }
        if let failure = reply.failure { throw failure.error() }
        learn(reply)
        do throws(WireFailure) {
            return try RenderThread(
                descriptors.compactMap { $0.take() },
                plays: plays,
                records: records,
                capacity: Int(reply.audio?.capacity ?? 0)
            )
        } catch {
            throw error.error()
        }
    }

    func stopStream() { send(.stop) }

    // MARK: How things stand

    private var status: WireAudioStatus? {
        let manager = manager
        return BenchClient.shared.request { .audio(manager: manager, .status(id: $0)) }.audio
    }

    /// Whether another app plays.
    public var isOtherAudioPlaying: Bool { status?.otherPlaying ?? false }

    /// Whether another app plays that does not mix: what is mere decoration is better left out.
    public var secondaryAudioShouldBeSilencedHint: Bool { status?.silenceSecondary ?? false }

    /// The way of sound.
    public var currentRoute: AVAudioSessionRouteDescription {
        AVAudioSessionRouteDescription(status?.route ?? AudioRoute(output: nil, input: nil))
    }

    /// Frames a second.
    public var sampleRate: Double { AVAudioEngine.hardwareFormat.sampleRate }

    /// Frames a second that the app would like: the phone has one rate.
    public var preferredSampleRate: Double { sampleRate }

    /// Does nothing: the phone has one rate.
    public func setPreferredSampleRate(_ sampleRate: Double) throws {}

    /// The channels that the phone plays.
    public var outputNumberOfChannels: Int { 2 }

    /// The channels that the phone hears.
    public var inputNumberOfChannels: Int { 1 }

    /// Whether the phone hears.
    public var isInputAvailable: Bool { status?.route.input != nil }

    /// The length of a buffer that the app would like, in seconds; 0 for no wish.
    public var preferredIOBufferDuration: TimeInterval { state.withLock { $0.preferred } }

    /// The length of a buffer, in seconds, as the last answer of the bench had it.
    public var ioBufferDuration: TimeInterval {
        let frames = Self.engines.frames ?? Int(state.withLock { $0.frames })
        return Double(frames) / sampleRate
    }

    /// Says which length of a buffer the app would like, in seconds; granted within 5 to 85 ms.
    ///
    /// - Throws: An error with the code ``ErrorCode/badParam`` for a length below 0 or above 1 s.
    public func setPreferredIOBufferDuration(_ duration: TimeInterval) throws {
        guard (0...1).contains(duration) else {
            throw Self.error(.badParam, "a buffer of \(duration) s")
        }
        state.withLock { $0.preferred = duration }
        send(.buffer(seconds: duration))
    }

    // MARK: Permission

    /// Whether the app may hear the microphone.
    public var recordPermission: RecordPermission {
        switch status?.microphone {
        case .denied: .denied
        case .granted: .granted
        case .undetermined, nil: .undetermined
        }
    }

    /// Asks the user, once, whether the app may hear the microphone.
    @preconcurrency
    public func requestRecordPermission(_ response: @escaping @Sendable (Bool) -> Void) {
        state.withLock { $0.asked.append(response) }
        send(.permission)
    }

    // MARK: What the bench says

    private func receive(_ body: WireDeliveryBody) {
        guard case .audio(let event) = body else {
            return
        }
        switch event {
        case .interrupted(let reason):
            Self.engines.wereStopped()
            let wasSuspended = reason == InterruptionReason.appWasSuspended.rawValue
            var info: [AnyHashable: Any] = [
                AVAudioSessionInterruptionTypeKey: InterruptionType.began.rawValue,
                AVAudioSessionInterruptionReasonKey: UInt(reason),
            ]
            if wasSuspended { info[AVAudioSessionInterruptionWasSuspendedKey] = true }
            post(Self.interruptionNotification, info)
        case .interruptionEnded(let shouldResume):
            let options: InterruptionOptions = shouldResume ? .shouldResume : []
            post(
                Self.interruptionNotification,
                [
                    AVAudioSessionInterruptionTypeKey: InterruptionType.ended.rawValue,
                    AVAudioSessionInterruptionOptionKey: options.rawValue,
                ]
            )
        case .routeChanged(let reason, _, let previous):
            post(
                Self.routeChangeNotification,
                [
                    AVAudioSessionRouteChangeReasonKey: UInt(reason),
                    AVAudioSessionRouteChangePreviousRouteKey: AVAudioSessionRouteDescription(previous),
                ]
            )
        case .permissionAnswered(let granted):
            let asked = state.withLock { exchange(&$0.asked, with: []) }
            for response in asked { response(granted) }
        case .lost:
            Self.engines.wereStopped()
            post(Self.mediaServicesWereResetNotification, [:])
        case .noted:
            break
        }
    }

    private func post(_ name: Notification.Name, _ info: [AnyHashable: Any]) {
        NotificationCenter.default.post(name: name, object: self, userInfo: info)
    }
}

/// The engines of the process, as long as somebody holds them.
final class EngineList: Sendable {
    private let entries = Mutex<[Weak<AVAudioEngine>]>([])

    func add(_ engine: AVAudioEngine) {
        entries.withLock { entries in
            entries.removeAll { $0.object == nil }
            entries.append(Weak(engine))
        }
    }

    private var all: [AVAudioEngine] { entries.withLock { $0.compactMap(\.object) } }

    func stopAll() { for engine in all { engine.stop() } }

    func wereStopped() { for engine in all { engine.wasStopped() } }

    /// Whether an engine runs beside one.
    func isRunning(beside engine: AVAudioEngine?) -> Bool { all.contains { $0 !== engine && $0.isRunning } }

    /// The frames of a buffer of an engine that runs.
    var frames: Int? { all.lazy.compactMap(\.bufferFrames).first }
}

/// What belongs to the app rather than to its session, from iOS 17.
public final class AVAudioApplication: NSObject, Sendable {
    /// Whether the app may hear the microphone.
    public enum recordPermission: UInt, Sendable {
        /// The user was not asked yet.
        case undetermined = 0x756e_6474
        /// The user refused.
        case denied = 0x6465_6e79
        /// The user allows it.
        case granted = 0x6772_6e74
    }

    /// The one of the process.
    public static let shared = AVAudioApplication()

    private override init() {}

    /// Whether the app may hear the microphone.
    public var recordPermission: recordPermission {
        AVAudioApplication.recordPermission(rawValue: AVAudioSession.shared.recordPermission.rawValue) ?? .undetermined
    }

    /// Asks the user, once, whether the app may hear the microphone.
    @preconcurrency
    public class func requestRecordPermission(completionHandler response: @escaping @Sendable (Bool) -> Void) {
        AVAudioSession.shared.requestRecordPermission(response)
    }

    /// Asks the user, once, whether the app may hear the microphone.
    public class func requestRecordPermission() async -> Bool {
        await withCheckedContinuation { continuation in
            AVAudioSession.shared.requestRecordPermission { continuation.resume(returning: $0) }
        }
    }
}

import WakeModel

/// Where sound goes and comes from: the simulated end and ALSA stand behind it alike.
///
/// Everything here happens on the bench's one thread; a sound card's pump thread says only its edges, through a
/// descriptor of its own. Reports are events of the kinds of ``Source/audio``: the route changed, an app's stream ran dry,
/// was silent for longer than allowed, sounds again, or ended because the device went or the app's memory made no sense.
///
/// The backends are `simulated` and `alsa`; a sound card that is missing cannot start.
package protocol AudioPort: SourcePort {
    /// Where an app that broke the rules of its memory is noted: one line.
    var note: ((AppID, String) -> Void)? { get set }

    /// Carries out a command of the router.
    func perform(_ command: AudioCommand, at now: Instant)

    /// The ends of an app's stream for its process, made on the first call. From then on the app itself fills and empties
    /// the buffers; before, and for an app that has no process, the source plays in its stead.
    ///
    /// - Throws: ``SourceFailure`` when the app has no stream or no memory can be had.
    func share(with app: AppID) throws(SourceFailure) -> SharedAudio

    /// What a scripted app does with its stream, in place of buffers.
    func pretend(_ sound: PretendedSound, of app: AppID, at now: Instant)

    /// Where sound goes and comes from now.
    var route: AudioRoute { get }

    /// Plugs a device in or out, as a scenario step. Throws when the device is unknown, or when the backend cannot do it.
    func plug(_ device: String, _ plugged: Bool, at now: Instant) throws(SourceFailure)

    /// Arms a fault of a device file. Throws when the device or fault is unknown, or when the backend cannot do it.
    func arm(fault: String, device: String, at now: Instant) throws(SourceFailure)

    /// Whether no app owes a buffer, so that virtual time may move on (AUD-11).
    var isQuiet: Bool { get }
}

extension AudioPort {
    package var owed: String? { isQuiet ? nil : "a buffer of sound" }
    /// The streams of apps end with their bench.
    package var isReplayed: Bool { false }

    package func takes(_ command: SourceCommand) -> Bool {
        if case .audio = command { true } else { false }
    }
    package func carryOut(_ command: SourceCommand, at now: Instant) {
        if case .audio(let command) = command { perform(command, at: now) }
    }
}

/// What a scripted app does with its stream.
package enum PretendedSound: Hashable, Sendable {
    case tone
    case silence
    /// It answers no buffer for as long.
    case stall(Instant.Span)
}

/// The app's ends of a stream: descriptors that the port owns and that stay open until the stream ends; whoever sends
/// them to another process sends duplicates.
package struct SharedAudio: Hashable, Sendable {
    /// Rung by the bench when there is something to render or to read.
    package var doorbell: Int32
    /// Rung by the app when it has done so.
    package var answer: Int32
    /// The memory of the output ring; nil when the stream does not play.
    package var output: Int32?
    /// The memory of the input ring; nil when the stream does not record.
    package var input: Int32?
    /// What each ring holds, in frames.
    package var capacity: UInt32

    package init(doorbell: Int32, answer: Int32, output: Int32?, input: Int32?, capacity: UInt32) {
        self.doorbell = doorbell
        self.answer = answer
        self.output = output
        self.input = input
        self.capacity = capacity
    }
}

import WakeModel
import WakePorts
import WakeSystem
import WakeWire

/// One app's stream, as the loop knows it.
final class AppStream {
    let app: AppID
    var order: AudioStream
    var watch: StreamWatch
    var link: AudioLink?
    /// Wakes the loop when the app has rendered.
    var readiness: Watch?
    /// Buffers were asked for, and the next tick takes them.
    var isPrimed = false
    /// It was waited for in vain, and is waited for no more until it has caught up.
    var isLate = false
    /// Of an app without memory: it is silent.
    var pretendsSilence = false
    /// Of an app without memory: until when it answers no buffer, and since when.
    var stall: (since: Instant, until: Instant)?

    init(app: AppID, order: AudioStream) {
        self.app = app
        self.order = order
        watch = StreamWatch(silenceLimit: order.records ? nil : order.silenceLimit)
    }

    deinit {
        readiness?.cancel()
        link?.end()
    }
}

/// What the ends of sound have in common: the streams of apps, and what is said of them.
package class StreamedAudio: AudioPort {
    package let backend: String
    package var report: ((SourceReport) -> Void)?
    package var note: ((AppID, String) -> Void)?

    let names: NameTable
    let loop: EventLoop
    private let origin: NameID
    /// Ascending by app.
    private(set) var streams: [AppStream] = []

    init(_ backend: String, names: NameTable, loop: EventLoop) {
        self.backend = backend
        self.names = names
        self.loop = loop
        origin = names.intern(backend)
    }

    // MARK: What each end does itself

    package func start(at now: Instant) throws(SourceFailure) {}
    package var route: AudioRoute { .builtIn }
    package func plug(_ device: String, _ plugged: Bool, at now: Instant) throws(SourceFailure) {}
    package func arm(fault: String, device: String, at now: Instant) throws(SourceFailure) {}

    package var isQuiet: Bool { true }
    package func giveUpWaiting(at now: Instant) {}

    /// A stream is new, or is to be another than before; it may begin with that, or go on.
    func ordered(_ stream: AppStream, begins: Bool) {}
    /// A stream has ended.
    func ended(_ app: AppID) {}
    /// The streams have been ordered as a command said.
    func settle(at now: Instant) {}
    /// An app is to share memory from now on.
    func linked(_ stream: AppStream, _ link: AudioLink) throws(SourceFailure) {}
    /// An app without memory pretends to sound, or silence.
    func pretends(_ stream: AppStream, tone: Bool) {}

    // MARK: The port

    package func stop() {
        report = nil
        streams.removeAll()
    }

    package func perform(_ command: AudioCommand, at now: Instant) {
        switch command {
        case .play(let app, let order): play(app, order, at: now)
        case .stop(let app):
            ended(app)
            streams.removeAll { $0.app == app }
        }
        settle(at: now)
    }

    private func play(_ app: AppID, _ order: AudioStream, at now: Instant) {
        var begins = order.runs
        let stream: AppStream
        if let known = self.stream(app) {
            stream = known
            if stream.order.plays != order.plays || stream.order.records != order.records { unlink(stream) }
            begins = order.runs && !stream.order.runs
            stream.order = order
            stream.watch.silenceLimit = order.records ? nil : order.silenceLimit
            stream.link?.setFrames(order.frames)
        } else {
            stream = AppStream(app: app, order: order)
            streams.insert(stream, at: streams.firstIndex { $0.app > app } ?? streams.count)
        }
        if begins {
            stream.watch.begin()
            if stream.pretendsSilence { stream.watch.buffer(silent: true, at: now) }
        }
        ordered(stream, begins: begins)
    }

    func unlink(_ stream: AppStream) {
        stream.readiness?.cancel()
        stream.readiness = nil
        stream.link?.end()
        stream.link = nil
        stream.isPrimed = false
    }

    package func share(with app: AppID) throws(SourceFailure) -> SharedAudio {
        guard let stream = stream(app) else { throw SourceFailure(.unknown, "app \(app.number) has no stream") }
        if let link = stream.link { return link.shared }
        let link = try AudioLink(plays: stream.order.plays, records: stream.order.records, frames: stream.order.frames)
        try linked(stream, link)
        stream.link = link
        return link.shared
    }

    package func pretend(_ sound: PretendedSound, of app: AppID, at now: Instant) {
        guard let stream = stream(app) else { return }
        switch sound {
        case .tone, .silence:
            stream.pretendsSilence = sound == .silence
            if stream.order.runs { stream.watch.buffer(silent: stream.pretendsSilence, at: now) }
            pretends(stream, tone: sound == .tone)
        case .stall(let span): stream.stall = (now, now.advanced(by: span))
        }
        say(of: stream, at: now)
    }

    func stream(_ app: AppID) -> AppStream? { streams.first { $0.app == app } }

    // MARK: Time

    package var nextDeadline: Instant? {
        streams.reduce(nil) { next, stream in
            guard stream.order.runs else { return next }
            return .earliest(next, .earliest(stream.watch.nextDeadline, stream.stall?.until))
        }
    }

    package func timeReached(_ now: Instant) {
        for stream in streams where stream.order.runs {
            if let stall = stream.stall, stall.until <= now {
                stream.stall = nil
                let buffer = Self.duration(of: Int(stream.order.frames)).nanoseconds
                stream.watch.ranDry(UInt32(clamping: stall.until.since(stall.since).nanoseconds / buffer))
            }
            say(of: stream, at: now)
        }
    }

    static func duration(of frames: Int) -> Instant.Span {
        Instant.Span(nanoseconds: Int64(frames) * 1_000_000_000 / Int64(AudioFormat.rate))
    }

    // MARK: Saying so

    func say(of stream: AppStream, at now: Instant) {
        for edge in stream.watch.edges(at: now) {
            switch edge {
            case .silent: tell(.audioSilent, stream.app)
            case .audible: tell(.audioAudible, stream.app)
            case .ranDry(let count): tell(.audioRanDry, stream.app, count: count)
            }
        }
    }

    /// The app's memory makes no sense: its stream ends.
    func drop(_ stream: AppStream, _ fault: AudioRingFault) {
        note?(stream.app, "\(fault); its sound ends")
        unlink(stream)
        stream.order.runs = false
        ordered(stream, begins: false)
        tell(.audioStopped, stream.app, failed: true)
    }

    private func tell(_ kind: EventKind, _ app: AppID, count: UInt32 = 0, failed: Bool = false) {
        report?(SourceReport(WakeEvent(kind: kind, local: count, failed: failed, app: app, origin: origin)))
    }

    /// The way of sound is another, because a device came or went.
    func tellRoute(_ route: AudioRoute, before previous: AudioRoute, _ device: String, _ reason: AudioRouteReason) {
        let event = WakeEvent(
            kind: .audioRouteChanged,
            local: UInt32(reason.rawValue),
            subject: names.intern(device),
            origin: origin
        )
        report?(SourceReport(event, .audioRoute(route, previous: previous)))
    }
}

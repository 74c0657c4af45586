import Glibc
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem
import WakeWire

/// A sound card in memory, driven by the run's clock.
///
/// It asks apps that share memory for one buffer after the other, in the time that the buffers take, adds them up and
/// gives the sum to ``heard``. Under virtual time the clock stands still until each app has rendered, as far as the
/// patience lasts; under real time apps are asked for some buffers more, and what is not there when its turn comes is late.
/// Apps without memory have only a state: they sound, or pretend silence or to stall.
package final class SimulatedAudio: AudioPort {
    package let backend = "simulated"
    package var report: ((SourceReport) -> Void)?
    package var note: ((AppID, String) -> Void)?
    /// Each buffer that the phone plays: interleaved stereo, so many frames of it.
    package var heard: (([Float], Int) -> Void)?

    /// One app's stream.
    private final class Stream {
        let app: AppID
        var order: AudioStream
        var watch: StreamWatch
        var link: AudioLink?
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

    private let names: NameTable
    private let loop: EventLoop
    private let origin: NameID
    private var routes: AudioRoutes
    /// Ascending by app.
    private var streams: [Stream] = []
    private var mixer = AudioMixer()
    /// When the buffer at hand ends and the next is asked for; nil while nobody shares memory.
    private var tick: Instant?
    /// Where the phase of the microphone's tone is, in radians.
    private var phase = 0.0

    /// So many buffers more than the next are asked of an app under real time: by so much may it be late on a machine that
    /// does other things as well, before it is an underrun (AUD-11).
    private static let buffersAhead: UInt64 = 2
    private let ahead: UInt64

    /// - Parameter inRealTime: Whether time goes on while an app renders.
    package init(devices: [ScenarioDevice], names: NameTable, loop: EventLoop, inRealTime: Bool = false) {
        ahead = inRealTime ? Self.buffersAhead : 0
        self.names = names
        self.loop = loop
        origin = names.intern("simulated")
        routes = AudioRoutes(devices: devices.compactMap { device in device.audio.map { (device.name, $0) } })
    }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {}

    package func stop() {
        report = nil
        streams.removeAll()
        tick = nil
    }

    package var route: AudioRoute { routes.route }

    /// What a snapshot holds of it: streams end with the processes that have them.
    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) { try routes.code(with: &coder) }

    package func perform(_ command: AudioCommand, at now: Instant) {
        switch command {
        case .play(let app, let order): play(app, order, at: now)
        case .stop(let app): streams.removeAll { $0.app == app }
        }
        settleTick(at: now)
    }

    private func play(_ app: AppID, _ order: AudioStream, at now: Instant) {
        guard let stream = stream(app) else {
            let stream = Stream(app: app, order: order)
            streams.insert(stream, at: streams.firstIndex { $0.app > app } ?? streams.count)
            if order.runs { begin(stream, at: now) }
            return
        }
        if stream.order.plays != order.plays || stream.order.records != order.records { unlink(stream) }
        let began = order.runs && !stream.order.runs
        stream.order = order
        stream.watch.silenceLimit = order.records ? nil : order.silenceLimit
        stream.link?.setFrames(order.frames)
        if began { begin(stream, at: now) }
        if !order.runs { stream.isPrimed = false }
    }

    private func begin(_ stream: Stream, at now: Instant) {
        stream.watch.begin()
        stream.isPrimed = false
        stream.isLate = false
        if stream.pretendsSilence { stream.watch.buffer(silent: true, at: now) }
    }

    private func unlink(_ stream: Stream) {
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
        do throws(SystemError) {
            // What was rendered is seen in the memory; the bell only wakes the loop.
            stream.readiness = try loop.watch(link.answerDescriptor, for: .readable) { _ in _ = link.takeAnswer() }
        } catch {
            throw SourceFailure(.environment, "a stream cannot be watched: \(error)")
        }
        stream.link = link
        return link.shared
    }

    package func pretend(_ sound: PretendedSound, of app: AppID, at now: Instant) {
        guard let stream = stream(app) else { return }
        switch sound {
        case .tone, .silence:
            stream.pretendsSilence = sound == .silence
            if stream.order.runs { stream.watch.buffer(silent: stream.pretendsSilence, at: now) }
        case .stall(let span): stream.stall = (now, now.advanced(by: span))
        }
        say(of: stream, at: now)
    }

    package func plug(_ device: String, _ plugged: Bool, at now: Instant) throws(SourceFailure) {
        guard let previous = try routes.plug(device, plugged) else { return }
        let reason: AudioRouteReason = plugged ? .newDeviceAvailable : .oldDeviceUnavailable
        report?(
            SourceReport(
                WakeEvent(
                    kind: .audioRouteChanged,
                    local: UInt32(reason.rawValue),
                    subject: names.intern(device),
                    origin: origin
                ),
                .audioRoute(routes.route, previous: previous)
            )
        )
    }

    package func arm(fault: String, device: String, at now: Instant) throws(SourceFailure) {
        switch try routes.effect(of: fault, device) {
        case .removed: try plug(device, false, at: now)
        case .underruns(let count):
            for stream in streams where stream.order.runs {
                stream.watch.ranDry(count)
                say(of: stream, at: now)
            }
        }
    }

    /// The apps that share memory, ascending.
    package var sharing: [AppID] { streams.filter { $0.link != nil }.map(\.app) }

    // MARK: Time

    package var nextDeadline: Instant? {
        var next = tick
        for stream in streams where stream.order.runs {
            for due in [stream.watch.nextDeadline, stream.stall?.until] {
                if let due { next = next.map { min($0, due) } ?? due }
            }
        }
        return next
    }

    package func timeReached(_ now: Instant) {
        if let due = tick, due <= now {
            turn(at: due)
            // A bench that was late itself asks for no more at once than an app can render in time.
            if let next = tick, next <= now { tick = now.advanced(by: next.since(due)) }
        }
        for stream in streams where stream.order.runs {
            if let stall = stream.stall, stall.until <= now {
                stream.stall = nil
                let buffer = Self.duration(of: Int(stream.order.frames))
                let missed = stall.until.since(stall.since).nanoseconds / buffer.nanoseconds
                stream.watch.ranDry(UInt32(clamping: missed))
            }
            say(of: stream, at: now)
        }
    }

    package var isQuiet: Bool { !streams.contains { $0.isPrimed && !$0.isLate && owes($0) } }

    package func giveUpWaiting(at now: Instant) {
        for stream in streams where stream.isPrimed && owes(stream) { stream.isLate = true }
    }

    /// Whether an app has not rendered, or not read, what it was asked for.
    private func owes(_ stream: Stream) -> Bool {
        guard let link = stream.link, stream.order.runs else { return false }
        if let output = link.output {
            guard let there = try? output.readable() else { return false }
            if output.position &+ UInt64(there) < output.wanted { return true }
        }
        if let input = link.input {
            guard let room = try? input.writable() else { return false }
            if room < AudioLink.capacity { return true }
        }
        return false
    }

    private static func duration(of frames: Int) -> Instant.Span {
        Instant.Span(nanoseconds: Int64(frames) * 1_000_000_000 / Int64(AudioFormat.rate))
    }

    /// The frames of one turn: the smallest buffer in use.
    private var turnFrames: Int {
        streams.filter { $0.order.runs && $0.link != nil }.map { Int($0.order.frames) }.min() ?? 0
    }

    /// Time is counted in buffers only while somebody shares memory.
    private func settleTick(at now: Instant) {
        let isNeeded = streams.contains { $0.order.runs }
        if !isNeeded { tick = nil } else if tick == nil { tick = now }
    }

    /// One buffer: what was asked for is played, and the next is asked for.
    private func turn(at instant: Instant) {
        let frames = turnFrames
        guard frames > 0 else {
            // Nobody shares memory; whoever does so later begins a new count.
            tick = nil
            return
        }
        mixer.begin(frames)
        for stream in streams where stream.order.runs {
            guard let link = stream.link else { continue }
            do throws(AudioRingFault) {
                if let output = link.output { try take(from: output, stream, frames, at: instant) }
                if let input = link.input { try hear(into: input, stream, frames) }
                stream.isPrimed = true
                link.ring()
            } catch {
                drop(stream, error)
            }
        }
        mixer.clip()
        heard?(mixer.sum, frames)
        tick = instant.advanced(by: Self.duration(of: frames))
    }

    private func take(
        from output: AudioRing,
        _ stream: Stream,
        _ frames: Int,
        at instant: Instant
    ) throws(AudioRingFault) {
        if stream.isPrimed {
            let (taken, silent) = try mixer.add(output, gain: stream.order.gain)
            if taken < frames {
                stream.watch.ranDry(1)
                output.underruns &+= 1
            } else {
                stream.isLate = false
            }
            stream.watch.buffer(silent: silent, at: instant)
            output.silence = silent ? output.silence &+ UInt64(taken) : 0
        }
        // As many of the app's own buffers as the next turn needs; what it owes still is asked for once.
        let buffer = UInt64(stream.order.frames)
        var wanted = max(output.wanted, output.position)
        while wanted &- output.position < UInt64(frames) + ahead * buffer { wanted &+= buffer }
        output.wanted = wanted
    }

    private func hear(into input: AudioRing, _ stream: Stream, _ frames: Int) throws(AudioRingFault) {
        var phase = phase
        var step = 0.0
        if stream.order.hears, case .tone(let hertz) = routes.hears {
            step = 2 * .pi * hertz / Double(AudioFormat.rate)
        }
        let written = unsafe try input.write(frames) { samples, _ in
            for place in samples.indices {
                unsafe samples[place] = step == 0 ? 0 : Float(0.5 * sin(phase))
                phase += step
            }
        }
        if written < frames, stream.isPrimed { stream.watch.ranDry(1) }
        input.wanted = input.position
        self.phase = phase.truncatingRemainder(dividingBy: 2 * .pi)
    }

    // MARK: Saying so

    private func say(of stream: Stream, at now: Instant) {
        for edge in stream.watch.edges(at: now) {
            switch edge {
            case .silent: tell(.audioSilent, stream.app)
            case .audible: tell(.audioAudible, stream.app)
            case .ranDry(let count): tell(.audioRanDry, stream.app, count: count)
            }
        }
    }

    /// The app's memory makes no sense: its stream ends.
    private func drop(_ stream: Stream, _ fault: AudioRingFault) {
        note?(stream.app, "\(fault); its sound ends")
        unlink(stream)
        stream.order.runs = false
        tell(.audioStopped, stream.app, failed: true)
    }

    private func tell(_ kind: EventKind, _ app: AppID, count: UInt32 = 0, failed: Bool = false) {
        report?(
            SourceReport(WakeEvent(kind: kind, local: count, failed: failed, app: app, origin: origin))
        )
    }

    private func stream(_ app: AppID) -> Stream? { streams.first { $0.app == app } }
}

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
package final class SimulatedAudio: StreamedAudio {
    /// Each buffer that the phone plays: interleaved stereo, so many frames of it.
    package var heard: (([Float], Int) -> Void)?

    private var routes: AudioRoutes
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
        routes = AudioRoutes(devices: devices.compactMap { device in device.audio.map { (device.name, $0) } })
        super.init("simulated", names: names, loop: loop)
    }

    // MARK: The port

    package override func stop() {
        super.stop()
        tick = nil
    }

    package override var route: AudioRoute { routes.route }

    /// Whether a device is plugged in.
    package func isPlugged(_ device: String) -> Bool { routes.isPlugged(device) }

    /// What a snapshot holds of it: streams end with the processes that have them.
    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) { try routes.code(with: &coder) }

    override func ordered(_ stream: AppStream, begins: Bool) {
        if begins || !stream.order.runs { stream.isPrimed = false }
        if begins { stream.isLate = false }
    }

    /// Time is counted in buffers only while somebody plays or records.
    override func settle(at now: Instant) {
        let isNeeded = streams.contains { $0.order.runs }
        if !isNeeded { tick = nil } else if tick == nil { tick = now }
    }

    override func linked(_ stream: AppStream, _ link: AudioLink) throws(SourceFailure) {
        do throws(SystemError) {
            // What was rendered is seen in the memory; the bell only wakes the loop.
            stream.readiness = try loop.watch(link.answerDescriptor, for: .readable) { _ in _ = link.takeAnswer() }
        } catch {
            throw SourceFailure(.environment, "a stream cannot be watched: \(error)")
        }
    }

    package override func plug(_ device: String, _ plugged: Bool, at now: Instant) throws(SourceFailure) {
        guard let previous = try routes.plug(device, plugged) else { return }
        tellRoute(routes.route, before: previous, device, plugged ? .newDeviceAvailable : .oldDeviceUnavailable)
    }

    /// Why a fault of a device that is armed now changes nothing; nil when it does.
    package func lack(of fault: String, _ device: String) throws(SourceFailure) -> String? {
        let effect = try routes.effect(of: fault, device)
        let isFelt =
            switch effect {
            case .removed: isPlugged(device)
            case .underruns: streams.contains { $0.order.runs }
            }
        if isFelt { return nil }
        return effect == .removed ? "it is not plugged in" : "no app plays or records"
    }

    package override func arm(fault: String, device: String, at now: Instant) throws(SourceFailure) {
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

    package override var nextDeadline: Instant? {
        let next = super.nextDeadline
        guard let next, let tick else { return next ?? tick }
        return min(next, tick)
    }

    package override func timeReached(_ now: Instant) {
        if let due = tick, due <= now {
            turn(at: due)
            // A bench that was late itself asks for no more at once than an app can render in time.
            if let next = tick, next <= now { tick = now.advanced(by: next.since(due)) }
        }
        super.timeReached(now)
    }

    package override var isQuiet: Bool { !streams.contains { $0.isPrimed && !$0.isLate && owes($0) } }

    package override func giveUpWaiting(at now: Instant) {
        for stream in streams where stream.isPrimed && owes(stream) { stream.isLate = true }
    }

    /// Whether an app has not rendered, or not read, what it was asked for.
    private func owes(_ stream: AppStream) -> Bool {
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

    /// The frames of one turn: the smallest buffer in use.
    private var turnFrames: Int {
        streams.filter { $0.order.runs && $0.link != nil }.map { Int($0.order.frames) }.min() ?? 0
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
        _ stream: AppStream,
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

    private func hear(into input: AudioRing, _ stream: AppStream, _ frames: Int) throws(AudioRingFault) {
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
}

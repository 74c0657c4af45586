import Glibc
import Synchronization
import WakeALSA
import WakeModel
import WakeSystem
import WakeWire

/// Adds up what apps play and hands out what they hear, on the threads of sound cards.
///
/// The card's thread holds the lock while it adds up a period, and the loop's for a few assignments; nobody waits or
/// allocates within.
final class AppMix: SoundFrames {
    /// One app's part of it.
    struct Voice: Sendable {
        let app: AppID
        var order: AudioStream
        /// Nil for an app without memory.
        var link: AudioLink?
        /// An app without memory has a tone played for it.
        var hums = false
        fileprivate var phase = 0.0
        /// The app has answered once, or has had its time to.
        fileprivate var isPrimed = false
        fileprivate var unprimed = 0
        fileprivate var hasHeard = false
        /// Nil before the first buffer.
        fileprivate var isSilent: Bool?
        fileprivate var news: News

        init(_ app: AppID, _ order: AudioStream) {
            self.app = app
            self.order = order
            news = News(app: app)
        }

        /// The stream begins, or goes on: what was before does not count.
        mutating func begin() {
            (isPrimed, unprimed, hasHeard, isSilent) = (false, 0, false, nil)
        }
    }

    /// What the loop is to hear of one app.
    struct News: Hashable, Sendable {
        var app: AppID
        /// Buffers that came late since the last news (AUD-11).
        var late: UInt32 = 0
        /// Whether it is silent now; nil when that is as it was (AUD-4).
        var isSilent: Bool?
        /// The app's memory made no sense: nothing more is done with it.
        var fault: AudioRingFault?

        var isEmpty: Bool { late == 0 && isSilent == nil && fault == nil }
    }

    fileprivate struct State: Sendable {
        var voices: [Voice] = []
        var mixer = AudioMixer()
        /// What hums in place of apps, as one channel.
        var humming = [Float](repeating: 0, count: Int(AudioFormat.lockedFrames))
        /// What the microphone gave, as one channel.
        var heard = [Float](repeating: 0, count: Int(AudioFormat.lockedFrames))
    }

    /// So many of its own buffers are asked of an app before they are needed, at most half a ring: by so much may an app be
    /// late on a machine that does other things as well, before it is an underrun (AUD-11).
    static let buffersAhead = 4
    /// An app may take so many periods to its first buffer.
    private static let patience = 12
    /// What hums in place of an app, in hertz and of the full range.
    private static let hum = (hertz: 440.0, level: 0.1)

    private let state = Mutex(State())
    private let bell: Descriptor

    init() throws(SystemError) {
        bell = try doorbell()
    }

    // MARK: The loop's side

    /// Readable when there is news.
    var newsDescriptor: Int32 { bell.number }

    /// What has happened since the last call, ascending by app.
    func takeNews() -> [News] {
        _ = bell.answerDoorbell()
        return state.withLock { state in
            var taken: [News] = []
            for place in state.voices.indices where !state.voices[place].news.isEmpty {
                taken.append(state.voices[place].news)
                state.voices[place].news = News(app: state.voices[place].app)
            }
            return taken
        }
    }

    /// Changes an app's voice, which is new when there was none.
    func change(_ app: AppID, _ order: AudioStream, _ body: (inout Voice) -> Void) {
        state.withLock { state in
            let place = state.voices.firstIndex { $0.app >= app } ?? state.voices.count
            if place == state.voices.count || state.voices[place].app != app {
                state.voices.insert(Voice(app, order), at: place)
            }
            body(&state.voices[place])
        }
    }

    func remove(_ app: AppID) {
        state.withLock { $0.voices.removeAll { $0.app == app } }
    }

    // MARK: The cards' side

    func render(into frames: UnsafeMutableBufferPointer<Float>, channels: Int) {
        let total = frames.count / channels
        let tells = state.withLock { state in
            var tells = false
            var before = 0
            // The mix holds so many at once; a card's period is rarely longer.
            while before < total {
                let count = min(total - before, Int(AudioFormat.lockedFrames))
                tells = state.render(count) || tells
                let piece = unsafe UnsafeMutableBufferPointer(
                    rebasing: frames[(before * channels)..<((before + count) * channels)]
                )
                unsafe state.copy(into: piece, channels: channels)
                before += count
            }
            return tells
        }
        if tells { bell.ring() }
    }

    func take(_ frames: UnsafeBufferPointer<Float>, channels: Int) {
        let total = frames.count / channels
        let tells = state.withLock { state in
            var tells = false
            var before = 0
            while before < total {
                let count = min(total - before, state.heard.count)
                for frame in 0..<count {
                    let place = (before + frame) * channels
                    state.heard[frame] = unsafe channels == 1 ? frames[place] : (frames[place] + frames[place + 1]) / 2
                }
                tells = state.handOut(count) || tells
                before += count
            }
            return tells
        }
        if tells { bell.ring() }
    }
}

extension AppMix.State {
    /// Adds up so many frames of all who play.
    ///
    /// - Returns: whether there is news.
    fileprivate mutating func render(_ frames: Int) -> Bool {
        mixer.begin(frames)
        for frame in 0..<frames { humming[frame] = 0 }
        var tells = false
        for place in voices.indices where voices[place].order.runs && voices[place].order.plays {
            guard let link = voices[place].link else {
                if voices[place].hums { hum(place, frames) }
                continue
            }
            guard let output = link.output, voices[place].news.fault == nil else { continue }
            do throws(AudioRingFault) {
                tells = try add(output, place, frames) || tells
                link.ring()
            } catch {
                voices[place].news.fault = error
                tells = true
            }
        }
        mixer.clip()
        return tells
    }

    /// Adds a tone whose phase goes on from buffer to buffer.
    private mutating func hum(_ place: Int, _ frames: Int) {
        let step = 2 * .pi * AppMix.hum.hertz / Double(AudioFormat.rate)
        let level = AppMix.hum.level * Double(voices[place].order.gain) / Double(AudioFormat.fullGain)
        var phase = voices[place].phase
        for frame in 0..<frames {
            humming[frame] += Float(level * sin(phase))
            phase += step
        }
        voices[place].phase = phase.truncatingRemainder(dividingBy: 2 * .pi)
    }

    private mutating func add(_ output: AudioRing, _ place: Int, _ frames: Int) throws(AudioRingFault) -> Bool {
        var tells = false
        if !voices[place].isPrimed {
            voices[place].unprimed += 1
            let isThere = try output.readable() >= frames
            voices[place].isPrimed = isThere || voices[place].unprimed > AppMix.patience
        }
        if voices[place].isPrimed {
            let (taken, silent) = try mixer.add(output, gain: voices[place].order.gain)
            if taken < frames {
                voices[place].news.late &+= 1
                output.underruns &+= 1
                tells = true
            }
            output.silence = silent ? output.silence &+ UInt64(taken) : 0
            if voices[place].isSilent != silent {
                voices[place].isSilent = silent
                voices[place].news.isSilent = silent
                tells = true
            }
        }
        let buffer = UInt64(voices[place].order.frames)
        let ahead = UInt64(frames) + min(UInt64(AppMix.buffersAhead) * buffer, UInt64(AudioLink.capacity / 2))
        var wanted = max(output.wanted, output.position)
        while wanted &- output.position < ahead { wanted &+= buffer }
        output.wanted = wanted
        return tells
    }

    /// Gives so many frames of ``heard`` to all who record.
    ///
    /// - Returns: whether there is news.
    fileprivate mutating func handOut(_ frames: Int) -> Bool {
        var tells = false
        for place in voices.indices where voices[place].order.runs && voices[place].order.records {
            guard let link = voices[place].link, let input = link.input, voices[place].news.fault == nil else {
                continue
            }
            let hears = voices[place].order.hears
            do throws(AudioRingFault) {
                let written = unsafe try input.write(frames) { samples, before in
                    for sample in samples.indices { unsafe samples[sample] = hears ? heard[before + sample] : 0 }
                }
                if written < frames, voices[place].hasHeard {
                    voices[place].news.late &+= 1
                    input.underruns &+= 1
                    tells = true
                }
                voices[place].hasHeard = written == frames
                input.wanted = input.position
                link.ring()
            } catch {
                voices[place].news.fault = error
                tells = true
            }
        }
        return tells
    }

    /// What was added up last, for a card of so many channels: stereo on the first two, or both on the only one.
    fileprivate func copy(into frames: UnsafeMutableBufferPointer<Float>, channels: Int) {
        for frame in 0..<mixer.frames {
            let hum = humming[frame]
            let (left, right) = (mixer.sum[2 * frame] + hum, mixer.sum[2 * frame + 1] + hum)
            let place = frame * channels
            if channels == 1 {
                unsafe frames[place] = (left + right) / 2
                continue
            }
            unsafe (frames[place], frames[place + 1]) = (left, right)
            for channel in 2..<max(2, channels) { unsafe frames[place + channel] = 0 }
        }
    }
}

import Foundation
import Synchronization
import WakeClient

/// What a player tells, on the main queue.
public protocol AVAudioPlayerDelegate: NSObjectProtocol {
    /// The sound is over.
    func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool)
    /// The sound cannot be read; never here, where all of it is read when the player is made.
    func audioPlayerDecodeErrorDidOccur(_ player: AVAudioPlayer, error: (any Error)?)
}

/// What a delegate that does not implement a method does.
extension AVAudioPlayerDelegate {
    /// Does nothing.
    public func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool) {}
    /// Does nothing.
    public func audioPlayerDecodeErrorDidOccur(_ player: AVAudioPlayer, error: (any Error)?) {}
}

/// Plays the sound of a WAV file with linear PCM; other files are refused when the player is made.
///
/// The players of an app are mixed. One that an interruption stopped is played again by ``play()`` alone.
open class AVAudioPlayer: NSObject, @unchecked Sendable {
    /// Who is told of the end.
    open weak var delegate: (any AVAudioPlayerDelegate)?
    /// The file; nil for data.
    public let url: URL?
    /// The bytes; nil for a file.
    public let data: Data?
    /// The form in which it is rendered.
    public let format: AVAudioFormat

    let node: AVAudioSourceNode
    private let playback: Playback

    /// A player for a file; the hint is not needed.
    ///
    /// - Throws: An error of the domain `NSOSStatusErrorDomain` when it is no WAV file with linear PCM.
    public convenience init(contentsOf url: URL, fileTypeHint utiString: String? = nil) throws {
        try self.init(Data(contentsOf: url), url: url)
    }

    /// A player for the bytes of a file; the hint is not needed.
    ///
    /// - Throws: An error of the domain `NSOSStatusErrorDomain` when it is no WAV file with linear PCM.
    public convenience init(data: Data, fileTypeHint utiString: String? = nil) throws {
        try self.init(data, url: nil)
    }

    private init(_ bytes: Data, url: URL?) throws {
        let file = try WaveFile(Array(bytes), name: url?.lastPathComponent ?? "the data")
        guard
            let format = AVAudioFormat(
                standardFormatWithSampleRate: file.sampleRate,
                channels: AVAudioChannelCount(file.channels)
            )
        else {
            throw WaveFile.error(0x666D_743F, "The WAV file's format makes no sense")
        }
        self.url = url
        data = url == nil ? bytes : nil
        self.format = format
        let playback = Playback(file)
        self.playback = playback
        node = unsafe AVAudioSourceNode(format: format) { isSilence, _, frames, list in
            unsafe playback.render(Int(frames), into: UnsafeMutableAudioBufferListPointer(list), &isSilence.pointee)
            return noErr
        }
        super.init()
        playback.atEnd { [weak self] in
            DispatchQueue.main.async { self?.finish() }
        }
    }

    deinit { AppStream.shared.stop(node) }

    /// Does nothing: the sound is there since the player was made.
    @discardableResult
    open func prepareToPlay() -> Bool { true }

    /// Plays on from ``currentTime``; false, with a line on stderr, when the system does not let the app play now.
    @discardableResult
    open func play() -> Bool {
        do {
            try AppStream.shared.play(node)
            return true
        } catch {
            complain("AVAudioPlayer does not play: \(error.localizedDescription)")
            return false
        }
    }

    /// Plays no more; ``play()`` goes on.
    open func pause() { AppStream.shared.stop(node) }

    /// Plays no more; ``play()`` goes on.
    open func stop() { AppStream.shared.stop(node) }

    private func finish() {
        // The app may have sought back meanwhile.
        guard playback.isOver else { return }
        AppStream.shared.stop(node)
        playback.seek(to: 0)
        delegate?.audioPlayerDidFinishPlaying(self, successfully: true)
    }

    /// Whether it plays now.
    open var isPlaying: Bool { AppStream.shared.plays(node) }

    /// Samples of a frame.
    open var numberOfChannels: Int { playback.file.channels }

    /// The length in seconds.
    open var duration: TimeInterval { Double(playback.file.frames) / playback.file.sampleRate }

    /// Where it is, in seconds from the sound's begin.
    open var currentTime: TimeInterval {
        get { Double(playback.place) / playback.file.sampleRate }
        set { playback.seek(to: Int(min(max(0, newValue), duration) * playback.file.sampleRate)) }
    }

    /// From 0 to 1.
    open var volume: Float {
        get { node.volume }
        set { node.volume = newValue }
    }

    /// How often it is played after the first time; below 0 for ever.
    open var numberOfLoops: Int {
        get { playback.loops }
        set { playback.loops = newValue }
    }
}

/// Where a player is in its sound; read on the render thread.
final class Playback: Sendable {
    private struct State {
        var place = 0
        var loops = 0
        var isOver = false
        /// Frames of silence since then.
        var silence = 0
        var end: (@Sendable () -> Void)?
        var hasTold = false
    }

    let file: WaveFile
    private let state = Mutex(State())

    init(_ file: WaveFile) {
        self.file = file
    }

    var place: Int { state.withLock { $0.place } }
    var isOver: Bool { state.withLock { $0.isOver } }

    var loops: Int {
        get { state.withLock { $0.loops } }
        set { state.withLock { $0.loops = newValue } }
    }

    func seek(to place: Int) {
        state.withLock { state in
            state.place = place
            (state.isOver, state.silence, state.hasTold) = (false, 0, false)
        }
    }

    /// Calls the body once the sound is over and what was rendered ahead is heard, on the render thread.
    func atEnd(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.end = body } }

    func render(_ frames: Int, into list: UnsafeMutableAudioBufferListPointer, _ isSilence: inout ObjCBool) {
        let (first, end) = state.withLock { state in
            let first = (0..<frames).compactMap { _ in Self.next(&state, file.frames) }
            state.silence += frames - first.count
            // The bench has less than three buffers rendered ahead.
            let tells = state.isOver && !state.hasTold && state.silence >= 3 * frames
            if tells { state.hasTold = true }
            return (first, tells ? state.end : nil)
        }
        end?()
        isSilence = ObjCBool(first.isEmpty)
        for channel in 0..<(unsafe list.count) {
            guard let samples = unsafe list[channel].mData?.assumingMemoryBound(to: Float.self) else { continue }
            for frame in 0..<frames {
                unsafe samples[frame] = frame < first.count ? file.samples[first[frame] * file.channels + channel] : 0
            }
        }
    }

    /// The place of the next frame; nil when the sound is over.
    private static func next(_ state: inout State, _ frames: Int) -> Int? {
        if state.place >= frames {
            guard state.loops != 0, frames > 0 else {
                state.isOver = true
                return nil
            }
            state.place = 0
            state.loops -= state.loops > 0 ? 1 : 0
        }
        defer { state.place += 1 }
        return state.place
    }
}

import Foundation
import Synchronization
import WakeClient

/// What a recorder tells, on the main queue.
public protocol AVAudioRecorderDelegate: NSObjectProtocol {
    /// The recording is over, and its file is whole where the flag says so.
    func audioRecorderDidFinishRecording(_ recorder: AVAudioRecorder, successfully flag: Bool)
    /// The sound cannot be written.
    func audioRecorderEncodeErrorDidOccur(_ recorder: AVAudioRecorder, error: (any Error)?)
}

/// What a delegate that does not implement a method does.
extension AVAudioRecorderDelegate {
    /// Does nothing.
    public func audioRecorderDidFinishRecording(_ recorder: AVAudioRecorder, successfully flag: Bool) {}
    /// Does nothing.
    public func audioRecorderEncodeErrorDidOccur(_ recorder: AVAudioRecorder, error: (any Error)?) {}
}

/// Records what the phone hears into a WAV file with linear PCM; other files and ways are refused when the recorder is made.
open class AVAudioRecorder: NSObject, @unchecked Sendable {
    /// Who is told of the end.
    open weak var delegate: (any AVAudioRecorderDelegate)?
    /// The file.
    public let url: URL
    /// How it is written, as it was asked for.
    public let settings: [String: Any]
    /// Frames a second and samples of a frame, as they are written.
    public let format: AVAudioFormat

    private let writer: WaveWriter

    /// A recorder for a file whose name ends in `.wav`.
    ///
    /// - Parameter settings: Linear PCM of 16 bits, or of 32 bits with a fraction; one or two channels; any rate.
    /// - Throws: An error of the domain `NSOSStatusErrorDomain` when anything else is asked for.
    public init(url: URL, settings: [String: Any]) throws {
        self.url = url
        self.settings = settings
        let layout = try WaveWriter.Layout(url, settings)
        guard
            let format = AVAudioFormat(
                commonFormat: layout.isFloat ? .pcmFormatFloat32 : .pcmFormatInt16,
                sampleRate: layout.sampleRate,
                channels: AVAudioChannelCount(layout.channels),
                interleaved: true
            )
        else {
            throw WaveFile.error(0x666D_743F, "The settings of the recording make no sense")
        }
        self.format = format
        writer = WaveWriter(url, layout)
        super.init()
    }

    /// A recorder for a file whose name ends in `.wav`, in a format of 16-bit integers or Float32.
    ///
    /// - Throws: An error of the domain `NSOSStatusErrorDomain` for another format.
    public convenience init(url: URL, format: AVAudioFormat) throws {
        let isFloat = format.commonFormat == .pcmFormatFloat32
        guard isFloat || format.commonFormat == .pcmFormatInt16 else {
            throw WaveFile.error(0x666D_743F, "This phone records 16-bit integers and Float32")
        }
        try self.init(
            url: url,
            settings: [
                AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: format.sampleRate,
                AVNumberOfChannelsKey: Int(format.channelCount), AVLinearPCMIsFloatKey: isFloat,
                AVLinearPCMBitDepthKey: isFloat ? 32 : 16,
            ]
        )
    }

    deinit {
        AppStream.shared.stopHearing(ObjectIdentifier(writer))
        writer.finish()
    }

    /// Makes the file, over one that is there; false when that cannot be done.
    @discardableResult
    open func prepareToRecord() -> Bool { writer.open() }

    /// Records, or goes on after ``pause()``; false, with a line on stderr, when the system does not let the app record now.
    @discardableResult
    open func record() -> Bool {
        guard writer.open() else {
            complain("AVAudioRecorder cannot write \(url.path)")
            return false
        }
        let writer = writer
        do {
            try AppStream.shared.hear(.init(owner: ObjectIdentifier(writer)) { buffer, _ in writer.take(buffer) })
            return true
        } catch {
            complain("AVAudioRecorder does not record: \(error.localizedDescription)")
            return false
        }
    }

    /// Records so many seconds of sound, and stops then.
    @discardableResult
    open func record(forDuration duration: TimeInterval) -> Bool {
        writer.stopAfter(seconds: duration) { [weak self] in
            DispatchQueue.main.async { self?.stop() }
        }
        return record()
    }

    /// Records no more; ``record()`` goes on in the same file.
    open func pause() { AppStream.shared.stopHearing(ObjectIdentifier(writer)) }

    /// Records no more, and finishes the file; the delegate is told soon.
    open func stop() {
        AppStream.shared.stopHearing(ObjectIdentifier(writer))
        guard let isWhole = writer.finish() else { return }
        DispatchQueue.main.async { [self] in
            delegate?.audioRecorderDidFinishRecording(self, successfully: isWhole)
        }
    }

    /// Removes the file; only once the recorder has stopped.
    @discardableResult
    open func deleteRecording() -> Bool {
        guard !isRecording else { return false }
        return (try? FileManager.default.removeItem(at: url)) != nil
    }

    /// Whether it records now.
    open var isRecording: Bool { AppStream.shared.hears(ObjectIdentifier(writer)) }

    /// The seconds that are recorded; 0 when it has stopped.
    open var currentTime: TimeInterval { writer.seconds }
}

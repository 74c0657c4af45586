import AVFoundation
import UIKit

/// Plays a file of a second, records another one, and says what came of both.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate, @preconcurrency AVAudioPlayerDelegate,
    @preconcurrency AVAudioRecorderDelegate
{
    private var player: AVAudioPlayer?
    /// Plays silence all the while, so that the run's time goes with the sound.
    private var keeper: AVAudioPlayer?
    private var recorder: AVAudioRecorder?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        do {
            try AVAudioSession.sharedInstance().setCategory(.playAndRecord)
            let keeper = try AVAudioPlayer(data: Self.steps)
            keeper.volume = 0
            keeper.numberOfLoops = -1
            self.keeper = keeper
            let player = try AVAudioPlayer(data: Self.steps)
            player.delegate = self
            self.player = player
            say("play \(player.play()) \(player.isPlaying) \(player.duration)")
            keeper.play()
        } catch {
            say("failed: \(error.localizedDescription)")
        }
        return true
    }

    func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool) {
        say("played \(flag) \(player.isPlaying) \(player.currentTime)")
        do {
            let file = FileManager.default.temporaryDirectory.appending(path: "memo-\(UUID().uuidString).wav")
            let recorder = try AVAudioRecorder(
                url: file,
                settings: [AVFormatIDKey: Int(kAudioFormatLinearPCM), AVSampleRateKey: 24_000]
            )
            recorder.delegate = self
            self.recorder = recorder
            say("record \(recorder.record(forDuration: 1)) \(recorder.isRecording)")
        } catch {
            say("failed: \(error.localizedDescription)")
        }
    }

    func audioRecorderDidFinishRecording(_ recorder: AVAudioRecorder, successfully flag: Bool) {
        let sound = ((try? Data(contentsOf: recorder.url)) ?? Data()).dropFirst(44)
        let bytes = [UInt8](sound)
        let energy = stride(from: 0, to: bytes.count - 1, by: 2).reduce(0.0) { sum, place in
            let sample = Double(Int16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8)) / 32_768
            return sum + sample * sample
        }
        let frames = bytes.count / 2
        say("recorded \(flag) \(frames) \(Int((energy / Double(max(1, frames))).squareRoot() * 1_000))")
        say("deleted \(recorder.deleteRecording()) \(keeper?.isPlaying == true)")
    }

    /// A WAV file of 48 000 frames with one channel of 16 bits, each frame another step of a stair that comes again.
    private static var steps: Data {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let sound = (0..<48_000).flatMap { little($0 % 1_000 + 1, 2) }
        let head =
            Array("RIFF".utf8) + little(36 + sound.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
            + little(1, 2) + little(48_000, 4) + little(96_000, 4) + little(2, 2) + little(16, 2) + Array("data".utf8)
            + little(sound.count, 4)
        return Data(head + sound)
    }

    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

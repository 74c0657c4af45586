import AVFAudio.AVAudioPlayer
import AVFoundation

final class Memo: NSObject, AVAudioPlayerDelegate, AVAudioRecorderDelegate {
    private var player: AVAudioPlayer?
    private var recorder: AVAudioRecorder?

    func play(_ url: URL) throws {
        let player = try AVAudioPlayer(contentsOf: url)
        player.delegate = self
        player.numberOfLoops = -1
        player.volume = 0.5
        player.prepareToPlay()
        player.play()
        if player.isPlaying { player.currentTime = player.duration / 2 }
        self.player = player
    }

    func record(_ url: URL) throws {
        let settings: [String: Any] = [
            AVFormatIDKey: Int(kAudioFormatLinearPCM), AVSampleRateKey: 44_100, AVNumberOfChannelsKey: 1,
            AVEncoderAudioQualityKey: AVAudioQuality.high.rawValue,
        ]
        let recorder = try AVAudioRecorder(url: url, settings: settings)
        recorder.delegate = self
        recorder.record(forDuration: 2)
        self.recorder = recorder
    }

    func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool) { self.player = nil }

    func audioRecorderDidFinishRecording(_ recorder: AVAudioRecorder, successfully flag: Bool) {
        recorder.deleteRecording()
    }
}

import AVFAudio.AVAudioFormat
import AVFoundation.AVAudioSession
import AVFoundation.AVFAudio

func becomeActive() throws -> AVAudioFormat? {
    try AVAudioSession.sharedInstance().setActive(true)
    return AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2)
}

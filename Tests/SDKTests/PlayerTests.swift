import Foundation
import Synchronization
import Testing
import WakeWire

@testable import AVFAudio

@Suite("Players and recorders")
struct PlayerTests {
    /// A file of 16 bits.
    private static func file(_ frames: [[Int16]], rate: Double = 48_000) -> Data {
        let channels = frames.first?.count ?? 1
        let sound = frames.flatMap { $0 }.flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        let head = WaveFile.head(sampleRate: rate, channels: channels, bytes: 2, isFloat: false, length: sound.count)
        return Data(head + sound)
    }

    /// What a player gives the phone, both sides of each frame, as the render thread would have it.
    private func rendered(_ player: AVAudioPlayer, _ frames: Int) throws -> [Float] {
        let layout = AudioRing.Layout(channels: 2, capacity: 4_096)
        let file = unsafe try #require(tmpfile())
        defer { unsafe fclose(file) }
        let memory = unsafe fileno(file)
        #expect(ftruncate(memory, layout.bytes) == 0)
        let written = try AudioRing(memory, layout, side: .writer, fresh: true)
        let read = try AudioRing(memory, layout, side: .reader, fresh: false)
        var graph = RenderGraph()
        graph.sources = [.init(node: player.node, mixers: [], format: player.format)]
        try Renderer().play(graph, frames, into: written)
        var heard: [Float] = []
        _ = unsafe try read.read(frames) { piece, _ in
            for place in piece.indices { heard.append(unsafe piece[place]) }
        }
        return heard
    }

    @Test("A player gives each sample of its file once, then silence, and is told to be over")
    func samples() throws {
        let player = try AVAudioPlayer(data: Self.file([[16_384, -16_384], [32_767, 0], [0, -32_768]]))
        #expect((player.numberOfChannels, player.duration) == (2, 3.0 / 48_000))
        #expect(try rendered(player, 2) == [0.5, -0.5, Float(32_767.0 / 32_768), 0])
        #expect(abs(player.currentTime - 2.0 / 48_000) < 1e-9)
        #expect(try rendered(player, 3) == [0, -1, 0, 0, 0, 0])
    }

    @Test("A single channel is heard on both sides, loops come again, and a seek goes there")
    func loops() throws {
        let player = try AVAudioPlayer(data: Self.file([[8_192], [16_384]]))
        player.numberOfLoops = 1
        #expect(try rendered(player, 5) == [0.25, 0.25, 0.5, 0.5, 0.25, 0.25, 0.5, 0.5, 0, 0])
        player.currentTime = 1.0 / 48_000
        #expect(try rendered(player, 1) == [0.5, 0.5])
        player.volume = 0.5
        player.currentTime = 0
        #expect(try rendered(player, 1) == [0.125, 0.125])
    }

    @Test(
        "What is no WAV file with linear PCM is refused with its name, the reason and the remedy",
        arguments: [
            ("ID3 something else", 0, 0, "is no WAV file; ", "convert it: ffmpeg -i IN -c:a pcm_s16le OUT.wav"),
            (nil, 20, 85, "tag 85, 16 bits, 1 channels, 48000 Hz; ", "convert it: ffmpeg -i IN -c:a pcm_s16le OUT.wav"),
            (nil, 22, 0, "tag 1, 16 bits, 0 channels", "convert it: ffmpeg -i IN -c:a pcm_s16le OUT.wav"),
            (nil, 36, 0, "is cut off before its sound", "copy it again"),
        ] as [(String?, Int, UInt8, String, String)]
    )
    func refused(text: String?, place: Int, byte: UInt8, reason: String, remedy: String) throws {
        var bytes = text.map { Array($0.utf8) } ?? [UInt8](Self.file([[1]]))
        if text == nil { bytes[place] = byte }
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).mp3")
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        func isExplained(_ error: any Error, _ name: String) -> Bool {
            let line = error.localizedDescription
            return (error as NSError).domain == NSOSStatusErrorDomain && line.hasPrefix(name) && line.contains(reason)
                && line.hasSuffix(remedy)
        }
        #expect {
            try AVAudioPlayer(contentsOf: url)
        } throws: {
            isExplained($0, url.lastPathComponent)
        }
        #expect {
            try AVAudioPlayer(data: Data(bytes))
        } throws: {
            isExplained($0, "the data ")
        }
    }

    @Test("Without a bench nothing is played or recorded, and both say so by false")
    func withoutBench() throws {
        let player = try AVAudioPlayer(data: Self.file([[1]]))
        #expect(!player.play() && !player.isPlaying)
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).wav")
        let recorder = try AVAudioRecorder(url: url, settings: [AVFormatIDKey: Int(kAudioFormatLinearPCM)])
        #expect(!recorder.record() && !recorder.isRecording)
        recorder.stop()
        #expect(recorder.deleteRecording())
    }

    @Test(
        "What is recorded can be played again, at the rate and in the channels asked for",
        arguments: [48_000, 16_000]
    )
    func recording(rate: Double) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).wav")
        defer { try? FileManager.default.removeItem(at: url) }
        let layout = try WaveWriter.Layout(url, [AVSampleRateKey: rate, AVNumberOfChannelsKey: 2])
        let writer = WaveWriter(url, layout)
        let ended = Mutex(0)
        #expect(writer.open())
        writer.stopAfter(seconds: 0.05) { ended.withLock { $0 += 1 } }
        for start in stride(from: 0, to: 4_800, by: 600) {
            writer.write((start..<start + 600).map { Float(sin(2 * .pi * 100 * Double($0) / 48_000)) / 2 })
        }
        #expect(writer.finish() == true)
        #expect(ended.withLock { $0 } == 1)
        let file = try WaveFile([UInt8](Data(contentsOf: url)))
        #expect((file.sampleRate, file.channels, file.frames) == (rate, 2, Int(rate * 0.05)))
        // The resampler begins with a frame of silence.
        let delay = rate == 48_000 ? 0 : 1 / 48_000.0
        for frame in 2..<file.frames {
            let expected = sin(2 * .pi * 100 * (Double(frame) / rate - delay)) / 2
            #expect(abs(Double(file.samples[frame * 2]) - expected) < 0.001)
            #expect(file.samples[frame * 2] == file.samples[frame * 2 + 1])
        }
    }

    @Test(
        "A recording that this phone cannot write is refused with its name and the remedy",
        arguments: [
            ("a.m4a", kAudioFormatMPEG4AAC, 16, "give a URL that ends in .wav"),
            ("a.wav", kAudioFormatMPEG4AAC, 16, "give kAudioFormatLinearPCM as AVFormatIDKey"),
            ("a.caf", kAudioFormatLinearPCM, 16, "give a URL that ends in .wav"),
            ("a.wav", kAudioFormatLinearPCM, 24, "records 16 bits, or 32 with AVLinearPCMIsFloatKey"),
        ] as [(String, AudioFormatID, Int, String)]
    )
    func unwritable(name: String, format: AudioFormatID, bits: Int, remedy: String) {
        let url = FileManager.default.temporaryDirectory.appending(path: name)
        #expect {
            try AVAudioRecorder(url: url, settings: [AVFormatIDKey: Int(format), AVLinearPCMBitDepthKey: bits])
        } throws: {
            let line = $0.localizedDescription
            return ($0 as NSError).domain == NSOSStatusErrorDomain && line.hasPrefix(name) && line.contains(remedy)
        }
    }
}

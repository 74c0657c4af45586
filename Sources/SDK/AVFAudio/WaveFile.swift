import Foundation

/// The sound of a WAV file with linear PCM, the one kind of file that this phone reads and writes.
struct WaveFile: Sendable {
    /// Frames a second.
    let sampleRate: Double
    /// Samples of a frame, from 1 to 8.
    let channels: Int
    /// From -1 to 1, frame after frame.
    let samples: [Float]

    var frames: Int { samples.count / channels }

    private static let remedy =
        "this phone plays WAV files with 8 to 32 bits of linear PCM; convert it: ffmpeg -i IN -c:a pcm_s16le OUT.wav"

    /// Reads a file's bytes.
    ///
    /// - Parameter name: What an error calls the file.
    /// - Throws: An error of the domain `NSOSStatusErrorDomain` that says what is wrong and how the file becomes one that can
    ///   be played.
    init(_ bytes: [UInt8], name: String = "the data") throws {
        guard bytes.count >= 12, bytes[0..<4].elementsEqual("RIFF".utf8), bytes[8..<12].elementsEqual("WAVE".utf8)
        else {
            throw Self.error(0x7479_703F, "\(name) is no WAV file; \(Self.remedy)")
        }
        var format: Format?
        var place = 12
        while place + 8 <= bytes.count {
            let size = Int(Self.number(bytes, place + 4, 4))
            let body = place + 8..<min(place + 8 + size, bytes.count)
            if bytes[place..<place + 4].elementsEqual("fmt ".utf8) { format = try Format(bytes[body], name) }
            if bytes[place..<place + 4].elementsEqual("data".utf8) {
                guard let format else { break }
                sampleRate = format.sampleRate
                channels = format.channels
                samples = format.samples(bytes[body])
                return
            }
            place = body.lowerBound + size + size % 2
        }
        throw Self.error(0x6474_613F, "\(name) is a WAV file that is cut off before its sound; copy it again")
    }

    private struct Format {
        let sampleRate: Double
        let channels: Int
        let bytes: Int
        let isFloat: Bool

        init(_ chunk: ArraySlice<UInt8>, _ name: String) throws {
            let chunk = Array(chunk)
            guard chunk.count >= 16 else {
                throw WaveFile.error(0x666D_743F, "\(name) is a WAV file whose format is cut off; copy it again")
            }
            var tag = WaveFile.number(chunk, 0, 2)
            // The extensible form has the tag in the first bytes of a UUID.
            if tag == 0xFFFE, chunk.count >= 26 { tag = WaveFile.number(chunk, 24, 2) }
            let bits = Int(WaveFile.number(chunk, 14, 2))
            channels = Int(WaveFile.number(chunk, 2, 2))
            sampleRate = Double(WaveFile.number(chunk, 4, 4))
            bytes = bits / 8
            isFloat = tag == 3
            let isKnown = isFloat ? bits == 32 : tag == 1 && [8, 16, 24, 32].contains(bits)
            guard isKnown, (1...8).contains(channels), (1_000...384_000).contains(sampleRate) else {
                throw WaveFile.error(
                    0x666D_743F,
                    "\(name) is a WAV file with tag \(tag), \(bits) bits, \(channels) channels, \(Int(sampleRate)) Hz; "
                        + WaveFile.remedy
                )
            }
        }

        func samples(_ data: ArraySlice<UInt8>) -> [Float] {
            let data = Array(data)
            let frames = data.count / (bytes * channels)
            return (0..<frames * channels).map { place in
                let number = WaveFile.number(data, place * bytes, bytes)
                if isFloat { return min(max(Float(bitPattern: number), -1), 1) }
                // Eight bits have no sign.
                if bytes == 1 { return (Float(number) - 128) / 128 }
                let shift = UInt32(32 - bytes * 8)
                return Float(Double(Int32(bitPattern: number << shift)) / 2_147_483_648)
            }
        }
    }

    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> UInt32 {
        (0..<count).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    }

    static func error(_ code: Int, _ text: String) -> NSError {
        NSError(domain: NSOSStatusErrorDomain, code: code, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// The head of a file with so many bytes of sound.
    static func head(sampleRate: Double, channels: Int, bytes: Int, isFloat: Bool, length: Int) -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let rate = Int(sampleRate)
        return Array("RIFF".utf8) + little(36 + length, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
            + little(isFloat ? 3 : 1, 2) + little(channels, 2) + little(rate, 4) + little(rate * channels * bytes, 4)
            + little(channels * bytes, 2) + little(bytes * 8, 2) + Array("data".utf8) + little(length, 4)
    }
}

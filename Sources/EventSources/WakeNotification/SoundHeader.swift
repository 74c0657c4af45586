import WakeModel

/// What the headers of WAV, AIFF and Core Audio files say of a sound: how its samples are written, and how long it is (NOTE-5).
package enum SoundHeader {
    /// Reads the beginning of a file; nil when it is no sound, or says nothing of its length.
    ///
    /// - Parameters:
    ///   - bytes: the file, or its first part.
    ///   - size: how many bytes the whole file has.
    package static func read(_ bytes: [UInt8], size: Int) -> SoundFile? {
        let file = Bytes(bytes: bytes, size: size)
        return switch (file.word(0), file.word(8)) {
        case ("RIFF", "WAVE"): wave(file)
        case ("FORM", "AIFF"), ("FORM", "AIFC"): aiff(file)
        case ("caff", _): coreAudio(file)
        default: nil
        }
    }

    // MARK: WAV

    private static func wave(_ file: Bytes) -> SoundFile? {
        var format: SoundFormat?
        var bytesPerSecond: UInt64 = 0
        for chunk in file.chunks(from: 12, isBig: false) {
            switch chunk.word {
            case "fmt ":
                guard let tag = file.number(chunk.start, 2, isBig: false),
                    let rate = file.number(chunk.start + 8, 4, isBig: false)
                else { return nil }
                // An extensible format says what it is in the first two bytes of its identifier.
                let real = tag == 0xfffe ? file.number(chunk.start + 24, 2, isBig: false) ?? tag : tag
                format = waveFormat(real)
                bytesPerSecond = rate
            case "data":
                guard let format, bytesPerSecond > 0 else { return nil }
                let length = min(chunk.size, UInt64(max(0, file.size - chunk.start)))
                return sound(format, length, over: bytesPerSecond)
            default: break
            }
        }
        return nil
    }

    private static func waveFormat(_ tag: UInt64) -> SoundFormat {
        switch tag {
        case 1, 3: .linearPCM
        case 6: .alaw
        case 7: .ulaw
        case 0x11: .ima4
        default: .other
        }
    }

    // MARK: AIFF

    private static func aiff(_ file: Bytes) -> SoundFile? {
        for chunk in file.chunks(from: 12, isBig: true) where chunk.word == "COMM" {
            guard let frames = file.number(chunk.start + 2, 4, isBig: true),
                let rate = file.extended(chunk.start + 8), rate >= 1
            else { return nil }
            let code = file.word(8) == "AIFC" ? file.word(chunk.start + 18) ?? "" : "NONE"
            // A packet of IMA 4:1 holds 64 frames, and AIFF-C counts packets.
            let format = format(code)
            return sound(format, frames * (format == .ima4 ? 64 : 1), over: UInt64(rate))
        }
        return nil
    }

    private static func format(_ code: String) -> SoundFormat {
        switch code {
        case "NONE", "twos", "sowt", "raw ", "in24", "in32", "fl32", "FL32", "fl64", "FL64", "lpcm": .linearPCM
        case "ima4": .ima4
        case "ulaw", "ULAW": .ulaw
        case "alaw", "ALAW": .alaw
        default: .other
        }
    }

    // MARK: Core Audio

    private static func coreAudio(_ file: Bytes) -> SoundFile? {
        var description: (format: SoundFormat, rate: Double, packetBytes: UInt64, packetFrames: UInt64)?
        var frames: UInt64?
        var place = 8
        while let word = file.word(place), let size = file.number(place + 4, 8, isBig: true) {
            let start = place + 12
            switch word {
            case "desc":
                guard let rate = file.double(start), let code = file.word(start + 8),
                    let packetBytes = file.number(start + 16, 4, isBig: true),
                    let packetFrames = file.number(start + 20, 4, isBig: true)
                else { return nil }
                description = (format(code), rate, packetBytes, packetFrames)
            case "pakt": frames = file.number(start + 8, 8, isBig: true)
            case "data":
                // A size of -1 is that of the rest of the file; the data begin with a count of edits.
                let rest = UInt64(max(0, file.size - start))
                let length = min(size, rest) - min(4, min(size, rest))
                guard let description, description.rate >= 1, description.rate < 1e9 else { return nil }
                if let frames { return sound(description.format, frames, over: UInt64(description.rate)) }
                guard description.packetBytes > 0, description.packetFrames > 0 else {
                    return description.format == .other ? SoundFile(format: .other, length: .zero) : nil
                }
                let (count, isTooMuch) = (length / description.packetBytes).multipliedReportingOverflow(
                    by: description.packetFrames
                )
                return isTooMuch ? nil : sound(description.format, count, over: UInt64(description.rate))
            default: break
            }
            guard size < UInt64(file.bytes.count) else { return nil }
            place = start + Int(size)
        }
        return nil
    }

    // MARK: Length

    private static func sound(_ format: SoundFormat, _ amount: UInt64, over rate: UInt64) -> SoundFile? {
        guard rate > 0, amount / rate < 1_000_000 else { return nil }
        let milliseconds = amount / rate * 1_000 + amount % rate * 1_000 / rate
        return SoundFile(format: format, length: .milliseconds(Int64(milliseconds)))
    }
}

/// The beginning of a file.
private struct Bytes {
    let bytes: [UInt8]
    let size: Int

    /// A part of a RIFF or IFF file.
    struct Chunk {
        var word: String
        var start: Int
        var size: UInt64
    }

    func word(_ place: Int) -> String? {
        guard place >= 0, place + 4 <= bytes.count else { return nil }
        return String(decoding: bytes[place..<place + 4], as: UTF8.self)
    }

    func number(_ place: Int, _ length: Int, isBig: Bool) -> UInt64? {
        guard place >= 0, place + length <= bytes.count else { return nil }
        let part = bytes[place..<place + length]
        return isBig
            ? part.reduce(0) { $0 << 8 | UInt64($1) } : part.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    func double(_ place: Int) -> Double? { number(place, 8, isBig: true).map { Double(bitPattern: $0) } }

    /// A number of 80 bits, as AIFF has rates; only whole ones that are no larger than a rate may be.
    func extended(_ place: Int) -> Double? {
        guard let head = number(place, 2, isBig: true), let mantissa = number(place + 2, 8, isBig: true) else {
            return nil
        }
        let shift = 63 - (Int(head & 0x7fff) - 16_383)
        guard head & 0x8000 == 0, (0...63).contains(shift) else { return nil }
        let rate = mantissa >> UInt64(shift)
        return rate < 1_000_000_000 ? Double(rate) : nil
    }

    /// The parts from a place on; each begins at an even place.
    func chunks(from first: Int, isBig: Bool) -> [Chunk] {
        var chunks: [Chunk] = []
        var place = first
        while let word = word(place), let size = number(place + 4, 4, isBig: isBig), chunks.count < 1_000 {
            chunks.append(Chunk(word: word, start: place + 8, size: size))
            place += 8 + Int(size) + Int(size % 2)
        }
        return chunks
    }
}

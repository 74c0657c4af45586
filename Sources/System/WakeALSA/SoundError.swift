import CALSA
import Glibc

/// ALSA said no.
package struct SoundError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What it comes down to for whoever asked.
    package enum Kind: Hashable, Sendable {
        /// There is no sound card, or no definition, of that name.
        case unknown
        /// It was there, and has been taken away.
        case gone
        /// Somebody else has it.
        case busy
        /// This user may not use it.
        case denied
        /// It does not do what was asked for.
        case unsupported
        /// Anything else.
        case failed
    }

    package var kind: Kind
    /// The name of the PCM or the card: `hw:Loopback,0,0`.
    package var device: String
    /// The function of alsa-lib that failed: `snd_pcm_open`.
    package var call: String
    /// The error number as in errno.h, positive.
    package var code: Int32

    package init(_ kind: Kind, device: String, call: String, code: Int32) {
        self.kind = kind
        self.device = device
        self.call = call
        self.code = code
    }

    /// An answer to an attempt to open something.
    static func opening(_ device: String, call: String, code: Int32) -> SoundError {
        let kind: Kind =
            switch code {
            case ENOENT, ENODEV, ENXIO: .unknown
            case EBUSY, EAGAIN: .busy
            case EACCES, EPERM: .denied
            case EINVAL: .unsupported
            default: .failed
            }
        return SoundError(kind, device: device, call: call, code: code)
    }

    /// An answer of something that was open.
    static func using(_ device: String, call: String, code: Int32) -> SoundError {
        let kind: Kind =
            switch code {
            case ENODEV, ENXIO, ESHUTDOWN, EBADFD: .gone
            case EINVAL: .unsupported
            default: .failed
            }
        return SoundError(kind, device: device, call: call, code: code)
    }

    /// The code in words: `No such file or directory`.
    package var reason: String {
        guard let words = unsafe snd_strerror(-code) else { return "error \(code)" }
        return unsafe String(cString: words)
    }

    private var remedy: String {
        switch kind {
        case .unknown: "name a PCM that `aplay -L` lists"
        case .gone: "plug it in again"
        case .busy: "end the program that has it, or name a PCM that mixes, such as default"
        case .denied: "join the group audio"
        case .unsupported: "name a PCM that converts, such as plug\(device.hasPrefix("hw:") ? device : "hw:0")"
        case .failed: "see `aplay -v -D \(device)`"
        }
    }

    /// One line: the device, the call, the reason, and what to do.
    package var description: String { "sound card \(device): \(call): \(reason); \(remedy)" }
}

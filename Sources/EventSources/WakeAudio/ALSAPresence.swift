import WakeALSA
import WakeUdev

/// What there is of ALSA on this machine. Looking changes nothing.
package struct ALSAPresence: Hashable, Sendable {
    /// What the kernel has: `0 PCH (HDA Intel PCH)`, in the order of the cards' numbers.
    package var cards: [String]
    /// Why the PCM of ``ALSAAudio/usualCard`` cannot be played on; nil when it can.
    package var failure: String?
    /// The version of alsa-lib.
    package var library: String

    /// Looks at this machine.
    package static func examine() -> ALSAPresence {
        let cards = SoundCard.all(try? Udev()).map { "\($0.index) \($0.identifier) (\($0.name))" }
        var failure: String?
        do throws(SoundError) {
            _ = try SoundStream(ALSAAudio.usualCard, .playback, asking: ALSAAudio.request)
        } catch {
            failure = error.description
        }
        return ALSAPresence(cards: cards, failure: failure, library: SoundStream.libraryVersion)
    }
}

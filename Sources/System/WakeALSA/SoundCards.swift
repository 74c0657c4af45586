import CALSA
import Glibc
import WakeSystem
import WakeUdev

/// A sound card of this machine.
package struct SoundCard: Hashable, Sendable {
    /// Its number: 0 is the first.
    package var index: Int32
    /// What it is called in the name of a PCM: `Loopback` in `hw:Loopback,0`.
    package var identifier: String
    /// What it is called on a screen.
    package var name: String
    package var hasPlayback: Bool
    package var hasCapture: Bool
    /// What udev knows of it: who made it, and where it is plugged in; nil when udev does not know it.
    package var device: UdevDevice?

    /// Whether it is plugged in rather than built in.
    package var isPluggedIn: Bool { device?.vendorNumber != nil || device?.systemPath.contains("/usb") == true }
}

extension SoundCard {
    /// The cards that are there now, in the order of their numbers.
    package static func all(_ udev: Udev? = nil) -> [SoundCard] {
        var cards: [SoundCard] = []
        var index: Int32 = -1
        let devices = (try? udev?.devices(of: "sound")) ?? []
        while unsafe snd_card_next(&index) >= 0, index >= 0 {
            guard var card = read(index) else { continue }
            card.device = devices.first { $0.systemPath.hasSuffix("/card\(index)") }
            cards.append(card)
        }
        return cards
    }

    /// Nil for a card that has gone meanwhile, or whose control this user may not open.
    private static func read(_ index: Int32) -> SoundCard? {
        var opened: OpaquePointer?
        guard unsafe snd_ctl_open(&opened, "hw:\(index)", Int32(SND_CTL_READONLY)) >= 0,
            let control = unsafe opened
        else {
            return nil
        }
        defer { unsafe snd_ctl_close(control) }
        var allocated: OpaquePointer?
        guard unsafe snd_ctl_card_info_malloc(&allocated) >= 0, let info = unsafe allocated else { return nil }
        defer { unsafe snd_ctl_card_info_free(info) }
        guard unsafe snd_ctl_card_info(control, info) >= 0 else { return nil }
        return SoundCard(
            index: index,
            identifier: unsafe String(cString: snd_ctl_card_info_get_id(info)),
            name: unsafe String(cString: snd_ctl_card_info_get_name(info)),
            hasPlayback: unsafe hasDevice(control, SND_PCM_STREAM_PLAYBACK),
            hasCapture: unsafe hasDevice(control, SND_PCM_STREAM_CAPTURE)
        )
    }

    @unsafe
    private static func hasDevice(_ control: OpaquePointer, _ stream: snd_pcm_stream_t) -> Bool {
        var allocated: OpaquePointer?
        guard unsafe snd_pcm_info_malloc(&allocated) >= 0, let info = unsafe allocated else { return false }
        defer { unsafe snd_pcm_info_free(info) }
        var device: Int32 = -1
        while unsafe snd_ctl_pcm_next_device(control, &device) >= 0, device >= 0 {
            unsafe snd_pcm_info_set_device(info, UInt32(device))
            unsafe snd_pcm_info_set_subdevice(info, 0)
            unsafe snd_pcm_info_set_stream(info, stream)
            if unsafe snd_ctl_pcm_info(control, info) >= 0 { return true }
        }
        return false
    }
}

/// Tells of cards that come and go, through udev; it ends when it is released.
package final class SoundCardWatch {
    /// What happened to a card, by its number.
    package enum Change: Hashable, Sendable {
        /// All of the card is there.
        case came(Int32)
        case went(Int32)
    }

    private let watch: UdevWatch

    /// - Throws: ``SystemError`` when the kernel refuses the socket.
    package init(_ udev: Udev, on loop: EventLoop, handler: @escaping (Change) -> Void) throws(SystemError) {
        watch = try udev.follow(["sound"], on: loop) { change in
            if let change = Change(change.action, node: change.device.node) { handler(change) }
        }
    }
}

extension SoundCardWatch.Change {
    /// The control of a card is registered after its PCMs, and so tells that the whole card is there.
    package init?(_ action: UdevChange.Action, node: String?) {
        guard let digits = node?.split(separator: "/").last?.dropPrefix("controlC"),
            let index = Int32(digits), index >= 0
        else {
            return nil
        }
        switch action {
        case .add: self = .came(index)
        case .remove: self = .went(index)
        case .change, .bind, .unbind, .other: return nil
        }
    }
}

extension Substring {
    fileprivate func dropPrefix(_ prefix: String) -> Substring? {
        hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }
}

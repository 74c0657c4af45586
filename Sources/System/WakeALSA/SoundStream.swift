import CALSA
import Glibc

/// An open PCM of ALSA: one direction of one sound card, or of a plug-in that stands for one.
///
/// Nothing here waits, apart from ``drain()``. It may be opened on one thread and used on another, but by one at a time.
@safe package final class SoundStream {
    package let name: String
    package let direction: SoundDirection
    package let granted: SoundGrant
    /// How often the card ran out of frames, or of room for them (AUD-11).
    package private(set) var overruns = 0
    /// How many descriptors ``fill(_:)`` needs.
    package let descriptorCount: Int
    private let handle: OpaquePointer

    private static let silenced: Void = calsa_silence()

    /// The version of alsa-lib: `1.2.8`.
    package static var libraryVersion: String { unsafe String(cString: snd_asoundlib_version()) }

    /// Opens a PCM by the name that ALSA's configuration gives it: `default`, `hw:Loopback,0,0`, `plug:null`.
    ///
    /// - Throws: ``SoundError``: unknown, busy, denied or unsupported.
    package init(_ name: String, _ direction: SoundDirection, asking request: SoundRequest) throws(SoundError) {
        _ = Self.silenced
        var opened: OpaquePointer?
        let stream = direction == .playback ? SND_PCM_STREAM_PLAYBACK : SND_PCM_STREAM_CAPTURE
        let code = unsafe snd_pcm_open(&opened, name, stream, Int32(SND_PCM_NONBLOCK))
        guard code >= 0, let handle = unsafe opened else {
            throw .opening(name, call: "snd_pcm_open", code: -code)
        }
        do throws(SoundError) {
            granted = try unsafe Negotiation(handle, name).settle(request)
            let count = unsafe snd_pcm_poll_descriptors_count(handle)
            guard count > 0 else { throw .using(name, call: "snd_pcm_poll_descriptors_count", code: EINVAL) }
            descriptorCount = Int(count)
        } catch {
            unsafe snd_pcm_close(handle)
            throw error
        }
        unsafe self.handle = handle
        self.name = name
        self.direction = direction
    }

    deinit {
        unsafe snd_pcm_close(handle)
    }

    /// The number of the card behind it; nil for a plug-in without one.
    package var card: Int32? {
        var allocated: OpaquePointer?
        guard unsafe snd_pcm_info_malloc(&allocated) >= 0, let info = unsafe allocated else { return nil }
        defer { unsafe snd_pcm_info_free(info) }
        guard unsafe snd_pcm_info(handle, info) >= 0 else { return nil }
        let number = unsafe snd_pcm_info_get_card(info)
        return number >= 0 ? number : nil
    }

    // MARK: Waiting

    /// Writes the descriptors to poll, and what for, into the first ``descriptorCount`` places.
    package func fill(_ descriptors: inout ArraySlice<pollfd>) {
        precondition(descriptors.count >= descriptorCount, "\(descriptors.count) places for \(descriptorCount)")
        unsafe descriptors.withUnsafeMutableBufferPointer { places in
            _ = unsafe snd_pcm_poll_descriptors(handle, places.baseAddress, UInt32(descriptorCount))
        }
    }

    /// Hears poll's answer, which some plug-ins need before they wait again.
    package func acknowledge(_ descriptors: inout ArraySlice<pollfd>) {
        var events: UInt16 = 0
        unsafe descriptors.withUnsafeMutableBufferPointer { places in
            _ = unsafe snd_pcm_poll_descriptors_revents(handle, places.baseAddress, UInt32(descriptorCount), &events)
        }
    }

    // MARK: Moving frames

    /// Whether frames move by themselves; false before ``start()`` and after a recovery.
    package var isRunning: Bool { unsafe snd_pcm_state(handle) == SND_PCM_STATE_RUNNING }

    /// Whether it waits for ``start()``.
    package var isPrepared: Bool { unsafe snd_pcm_state(handle) == SND_PCM_STATE_PREPARED }

    /// The frames that can be written or read now, after recovering from what went wrong meanwhile.
    ///
    /// - Throws: ``SoundError``, gone when the card was taken away.
    package func available() throws(SoundError) -> Int {
        let count = unsafe snd_pcm_avail_update(handle)
        if count >= 0 {
            try refuseDisconnected()
            return count
        }
        try recover(from: Int32(-count), call: "snd_pcm_avail_update")
        return max(0, unsafe snd_pcm_avail_update(handle))
    }

    /// Writes frames, as many as there is room for.
    ///
    /// - Returns: how many; 0 also after a recovery, when ``isRunning`` is false.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(SoundError) -> Int {
        let frames = snd_pcm_uframes_t(bytes.count / granted.frameBytes)
        guard frames > 0 else { return 0 }
        let count = unsafe snd_pcm_writei(handle, bytes.baseAddress, frames)
        return try moved(count, call: "snd_pcm_writei")
    }

    /// Reads frames, as many as there are and fit.
    ///
    /// - Returns: how many; 0 also after a recovery.
    package func read(into bytes: UnsafeMutableRawBufferPointer) throws(SoundError) -> Int {
        let frames = snd_pcm_uframes_t(bytes.count / granted.frameBytes)
        let count = unsafe snd_pcm_readi(handle, bytes.baseAddress, frames)
        return try moved(count, call: "snd_pcm_readi")
    }

    /// Frames move by themselves from now on.
    package func start() throws(SoundError) {
        let code = unsafe snd_pcm_start(handle)
        if code < 0 { try recover(from: -code, call: "snd_pcm_start") }
    }

    /// Ready for frames after ``drain()`` or ``drop()``.
    package func prepare() throws(SoundError) {
        let code = unsafe snd_pcm_prepare(handle)
        if code < 0 { throw .using(name, call: "snd_pcm_prepare", code: -code) }
    }

    /// Waits until what was written has been played, at most the length of the card's buffer.
    package func drain() {
        guard isRunning else { return drop() }
        unsafe snd_pcm_nonblock(handle, 0)
        unsafe snd_pcm_drain(handle)
        unsafe snd_pcm_nonblock(handle, 1)
    }

    /// Ends at once.
    package func drop() {
        unsafe snd_pcm_drop(handle)
    }

    private func moved(_ count: snd_pcm_sframes_t, call: String) throws(SoundError) -> Int {
        if count >= 0 { return count }
        if count == -Int(EAGAIN) || count == -Int(EINTR) { return 0 }
        try recover(from: Int32(-count), call: call)
        return 0
    }

    // MARK: Recovering

    /// After an error on a descriptor that nothing else accounts for.
    package func examine() throws(SoundError) {
        let state = unsafe snd_pcm_state(handle)
        switch state {
        case SND_PCM_STATE_XRUN: try recover(from: EPIPE, call: "poll")
        case SND_PCM_STATE_SUSPENDED: try recover(from: ESTRPIPE, call: "poll")
        case SND_PCM_STATE_RUNNING, SND_PCM_STATE_PREPARED, SND_PCM_STATE_DRAINING: break
        default: throw SoundError(.gone, device: name, call: "poll", code: ENODEV)
        }
    }

    private func refuseDisconnected() throws(SoundError) {
        guard unsafe snd_pcm_state(handle) == SND_PCM_STATE_DISCONNECTED else { return }
        throw SoundError(.gone, device: name, call: "snd_pcm_state", code: ENODEV)
    }

    private func recover(from code: Int32, call: String) throws(SoundError) {
        try refuseDisconnected()
        switch code {
        case EPIPE:
            overruns += 1
            try prepare()
        case ESTRPIPE:
            // The machine slept. A card that cannot go on where it was begins anew.
            if unsafe snd_pcm_resume(handle) < 0 { try prepare() }
        default:
            throw .using(name, call: call, code: code)
        }
    }
}

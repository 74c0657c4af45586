import CALSA
import Glibc

/// Settles with an open PCM what both can do.
@safe struct Negotiation: ~Copyable {
    private let handle: OpaquePointer
    private let name: String
    private let hardware: OpaquePointer
    private let software: OpaquePointer

    /// The PCM must outlive this.
    @unsafe
    init(_ handle: OpaquePointer, _ name: String) throws(SoundError) {
        var hardware: OpaquePointer?
        var software: OpaquePointer?
        guard unsafe snd_pcm_hw_params_malloc(&hardware) >= 0, unsafe snd_pcm_sw_params_malloc(&software) >= 0,
            let hardware = unsafe hardware, let software = unsafe software
        else {
            throw SoundError(.failed, device: name, call: "snd_pcm_hw_params_malloc", code: ENOMEM)
        }
        unsafe self.handle = handle
        self.name = name
        unsafe self.hardware = hardware
        unsafe self.software = software
    }

    deinit {
        unsafe snd_pcm_hw_params_free(hardware)
        unsafe snd_pcm_sw_params_free(software)
    }

    func settle(_ request: SoundRequest) throws(SoundError) -> SoundGrant {
        try check(unsafe snd_pcm_hw_params_any(handle, hardware), "snd_pcm_hw_params_any")
        let access = SND_PCM_ACCESS_RW_INTERLEAVED
        try check(unsafe snd_pcm_hw_params_set_access(handle, hardware, access), "snd_pcm_hw_params_set_access")
        let format = try settleFormat(request.formats)
        var channels = UInt32(min(max(request.channels, 1), 8))
        try check(
            unsafe snd_pcm_hw_params_set_channels_near(handle, hardware, &channels),
            "snd_pcm_hw_params_set_channels_near"
        )
        let rate = try settleRate(request.rates)
        let (period, buffer) = try settleFrames(request)
        try settleWaking(period: period)
        return SoundGrant(
            rate: rate,
            format: format,
            channels: Int(channels),
            periodFrames: Int(period),
            bufferFrames: Int(buffer)
        )
    }

    private func settleFormat(_ formats: [SampleFormat]) throws(SoundError) -> SampleFormat {
        for format in formats
        where unsafe snd_pcm_hw_params_test_format(handle, hardware, format.word) >= 0 {
            try check(
                unsafe snd_pcm_hw_params_set_format(handle, hardware, format.word),
                "snd_pcm_hw_params_set_format"
            )
            return format
        }
        throw unsupported("snd_pcm_hw_params_set_format")
    }

    private func settleRate(_ rates: [Int]) throws(SoundError) -> Int {
        for rate in rates where unsafe snd_pcm_hw_params_test_rate(handle, hardware, UInt32(rate), 0) >= 0 {
            try check(
                unsafe snd_pcm_hw_params_set_rate(handle, hardware, UInt32(rate), 0),
                "snd_pcm_hw_params_set_rate"
            )
            return rate
        }
        throw unsupported("snd_pcm_hw_params_set_rate")
    }

    /// Installs the whole and reads what came of the frames.
    private func settleFrames(_ request: SoundRequest) throws(SoundError) -> (period: UInt, buffer: UInt) {
        var period = snd_pcm_uframes_t(max(request.periodFrames, 16))
        try check(
            unsafe snd_pcm_hw_params_set_period_size_near(handle, hardware, &period, nil),
            "snd_pcm_hw_params_set_period_size_near"
        )
        var buffer = period * snd_pcm_uframes_t(min(max(request.periods, 2), 4))
        try check(
            unsafe snd_pcm_hw_params_set_buffer_size_near(handle, hardware, &buffer),
            "snd_pcm_hw_params_set_buffer_size_near"
        )
        try check(unsafe snd_pcm_hw_params(handle, hardware), "snd_pcm_hw_params")
        try check(unsafe snd_pcm_hw_params_get_period_size(hardware, &period, nil), "snd_pcm_hw_params_get_period_size")
        try check(unsafe snd_pcm_hw_params_get_buffer_size(hardware, &buffer), "snd_pcm_hw_params_get_buffer_size")
        guard period > 0, buffer >= 2 * period else { throw unsupported("snd_pcm_hw_params_get_buffer_size") }
        return (period, buffer)
    }

    /// The card asks once a period is free or there, and never starts by itself; what it has played becomes silence, so
    /// that one that runs dry repeats nothing.
    private func settleWaking(period: UInt) throws(SoundError) {
        var boundary: snd_pcm_uframes_t = 0
        try check(unsafe snd_pcm_sw_params_current(handle, software), "snd_pcm_sw_params_current")
        try check(unsafe snd_pcm_sw_params_get_boundary(software, &boundary), "snd_pcm_sw_params_get_boundary")
        try check(
            unsafe snd_pcm_sw_params_set_start_threshold(handle, software, boundary),
            "snd_pcm_sw_params_set_start_threshold"
        )
        try check(unsafe snd_pcm_sw_params_set_avail_min(handle, software, period), "snd_pcm_sw_params_set_avail_min")
        try check(
            unsafe snd_pcm_sw_params_set_silence_size(handle, software, boundary),
            "snd_pcm_sw_params_set_silence_size"
        )
        try check(unsafe snd_pcm_sw_params(handle, software), "snd_pcm_sw_params")
    }

    private func check(_ code: Int32, _ call: String) throws(SoundError) {
        if code < 0 { throw .using(name, call: call, code: -code) }
    }

    private func unsupported(_ call: String) -> SoundError {
        SoundError(.unsupported, device: name, call: call, code: EINVAL)
    }
}

extension SampleFormat {
    fileprivate var word: snd_pcm_format_t {
        switch self {
        case .float32: SND_PCM_FORMAT_FLOAT
        case .signed16: SND_PCM_FORMAT_S16
        }
    }
}

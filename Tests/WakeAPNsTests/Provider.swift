import CNGHTTP2

@testable import WakeAPNs

/// A provider's side of an HTTP/2 connection, by libnghttp2, in memory.
@safe final class Provider {
    struct Answer: Equatable {
        var status = 0
        var id = ""
        var body = ""
    }

    private let handle: OpaquePointer
    /// What was answered, and to which request.
    private(set) var answers: [Int32: Answer] = [:]
    /// The streams in the order in which their answers became whole.
    private(set) var answered: [Int32] = []
    /// The streams that were ended without an answer or after one, with HTTP/2's code.
    private(set) var resets: [Int32: UInt32] = [:]
    /// What the server's GOAWAY frames bore.
    private(set) var farewells: [String] = []
    private(set) var isBroken = false
    private var bodies: [Int32: (rest: ArraySlice<UInt8>, ends: Bool)] = [:]

    init() {
        var callbacks: OpaquePointer?
        precondition(unsafe nghttp2_session_callbacks_new(&callbacks) == 0)
        defer { unsafe nghttp2_session_callbacks_del(callbacks) }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _,
            frame,
            name,
            nameCount,
            value,
            count,
            _,
            address in
            let name = unsafe String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self)
            let value = unsafe String(decoding: UnsafeBufferPointer(start: value, count: count), as: UTF8.self)
            unsafe provider(address).came(name, value, frame!.pointee.hd.stream_id)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _,
            _,
            stream,
            data,
            count,
            address in
            let text = unsafe String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
            unsafe provider(address).answers[stream, default: Answer()].body += text
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, address in
            unsafe provider(address).came(frame!.pointee)
            return 0
        }
        var opened: OpaquePointer?
        precondition(unsafe nghttp2_session_client_new(&opened, callbacks, nil) == 0)
        unsafe handle = opened!
        unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
        precondition(unsafe nghttp2_submit_settings(handle, 0, nil, 0) == 0)
    }

    deinit {
        unsafe nghttp2_session_del(handle)
    }

    fileprivate func came(_ name: String, _ value: String, _ stream: Int32) {
        if name == ":status" { answers[stream, default: Answer()].status = Int(value) ?? 0 }
        if name == "apns-id" { answers[stream, default: Answer()].id = value }
    }

    @unsafe
    fileprivate func came(_ frame: nghttp2_frame) {
        let stream = unsafe frame.hd.stream_id
        switch unsafe UInt32(frame.hd.type) {
        case NGHTTP2_GOAWAY.rawValue:
            let frame = unsafe frame.goaway
            let data = unsafe UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
            unsafe farewells.append(String(decoding: data, as: UTF8.self))
        case NGHTTP2_RST_STREAM.rawValue: resets[stream] = unsafe frame.rst_stream.error_code
        case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue:
            if unsafe frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 { answered.append(stream) }
        default: break
        }
    }

    /// Asks for a push.
    ///
    /// - Parameter ends: whether the body is all; otherwise the rest is waited for.
    @discardableResult
    func push(_ head: RequestHead = request(), _ body: [UInt8] = Array("{}".utf8), ends: Bool = true) -> Int32 {
        var storage: [UnsafeMutablePointer<UInt8>] = unsafe []
        defer { unsafe storage.forEach { unsafe $0.deallocate() } }
        func stored(_ text: String) -> UnsafeMutablePointer<UInt8> {
            let place = UnsafeMutablePointer<UInt8>.allocate(capacity: text.utf8.count + 1)
            for (offset, byte) in text.utf8.enumerated() { unsafe place[offset] = byte }
            unsafe storage.append(place)
            return unsafe place
        }
        let pairs = unsafe lines(head).map { field in
            unsafe nghttp2_nv(
                name: stored(field.name),
                value: stored(field.value),
                namelen: field.name.utf8.count,
                valuelen: field.value.utf8.count,
                flags: 0
            )
        }
        var source = unsafe nghttp2_data_provider(source: nghttp2_data_source(fd: 0)) {
            _,
            stream,
            room,
            count,
            flags,
            _,
            address in
            unsafe provider(address).give(stream, UnsafeMutableBufferPointer(start: room, count: count), flags!)
        }
        let stream = unsafe nghttp2_submit_request(handle, nil, pairs, pairs.count, &source, nil)
        precondition(stream > 0)
        bodies[stream] = (body[...], ends)
        return stream
    }

    /// Says the rest of a body.
    func say(_ body: [UInt8], on stream: Int32, ends: Bool = true) {
        bodies[stream] = (body[...], ends)
        _ = unsafe nghttp2_session_resume_data(handle, stream)
    }

    @unsafe
    fileprivate func give(
        _ stream: Int32,
        _ room: UnsafeMutableBufferPointer<UInt8>,
        _ flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        guard let (rest, ends) = bodies[stream] else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
        let part = rest.prefix(room.count)
        unsafe _ = room.update(fromContentsOf: part)
        let left = rest.dropFirst(part.count)
        bodies[stream] = left.isEmpty ? nil : (left, ends)
        if left.isEmpty, ends { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return part.isEmpty && !ends ? Int(NGHTTP2_ERR_DEFERRED.rawValue) : part.count
    }

    /// Takes a request back.
    func takeBack(_ stream: Int32) {
        precondition(unsafe nghttp2_submit_rst_stream(handle, 0, stream, NGHTTP2_CANCEL.rawValue) == 0)
    }

    func ping() { precondition(unsafe nghttp2_submit_ping(handle, 0, nil) == 0) }

    /// All that there is to say.
    func output() -> [UInt8] {
        var all: [UInt8] = []
        var start: UnsafePointer<UInt8>?
        while true {
            let count = unsafe nghttp2_session_mem_send(handle, &start)
            guard count > 0 else { return all }
            unsafe all.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
    }

    func receive(_ bytes: [UInt8]) {
        if unsafe nghttp2_session_mem_recv(handle, bytes, bytes.count) < 0 { isBroken = true }
    }

    /// How many requests the server allows at once.
    var streams: UInt32 {
        unsafe nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    }
}

private func provider(_ address: UnsafeMutableRawPointer?) -> Provider {
    unsafe Unmanaged<Provider>.fromOpaque(address!).takeUnretainedValue()
}

extension APNsConversation {
    /// All that there is to say.
    func output() -> [UInt8] {
        var all: [UInt8] = []
        takeOutput(into: &all, upTo: .max)
        return all
    }

    /// Carries bytes between both until neither has any.
    func talk(with provider: Provider, at now: Int64 = 0) {
        while true {
            let (theirs, own) = (provider.output(), output())
            if theirs.isEmpty && own.isEmpty { return }
            receive(theirs.span, at: now)
            provider.receive(own)
        }
    }
}

import CNGHTTP2

/// The server's side of an HTTP/2 connection, by libnghttp2: bytes in, whole requests out; answers in, bytes out. No I/O.
///
/// All that a client can make grow is bounded; what goes beyond is refused stream by stream, or ends the session.
@safe final class HTTP2Session {
    /// What a client may make the session keep.
    struct Bounds {
        /// Bytes of a request's fields, counted as HTTP/2 does: names, values and 32 for each field.
        var head = 16_384
        /// Bytes of a body; one of more is not waited for.
        var body = RequestCheck.largestBody
        /// Bytes of all requests that are not whole.
        var kept = 2_097_152
    }

    /// A request that is whole, or of which nothing more is waited for.
    struct Request {
        var stream: Int32
        var head: RequestHead
        /// At most ``Bounds/body`` bytes, and one more where there were more.
        var body: [UInt8]
        /// It was not whole in time.
        var isLate = false
    }

    fileprivate struct Incoming {
        var head = RequestHead()
        var headSize = 0
        var body: [UInt8] = []
        var openedAt: Int64
    }

    private let handle: OpaquePointer
    private let bounds: Bounds
    /// Requests that are not whole yet.
    private var incoming: [Int32: Incoming] = [:]
    /// The same, oldest first.
    private var order: [Int32] = []
    private var kept = 0
    private var requests: [Request] = []
    /// Streams that wait for an answer, or whose answer has not gone whole; true where the client has said all.
    private var answering: [Int32: Bool] = [:]
    private var bodies: [Int32: ArraySlice<UInt8>] = [:]
    private var now: Int64 = 0

    /// Whether the client's SETTINGS have come: it speaks HTTP/2.
    private(set) var hasBegun = false
    /// The library said that there is no going on.
    private(set) var isBroken = false

    /// - Parameter streams: how many streams the client may have at once.
    init(streams: UInt32, bounds: Bounds = Bounds()) {
        self.bounds = bounds
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        // They fail for want of memory alone.
        precondition(unsafe nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&option) == 0)
        defer {
            unsafe nghttp2_session_callbacks_del(callbacks)
            unsafe nghttp2_option_del(option)
        }
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, headersBegan)
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, headerCame)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, dataCame)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frameCame)
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frameWent)
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, streamClosed)
        // PINGs and SETTINGS that wait to be acknowledged, since their sender does not read.
        unsafe nghttp2_option_set_max_outbound_ack(option, 100)
        var opened: OpaquePointer?
        precondition(unsafe nghttp2_session_server_new2(&opened, callbacks, nil, option) == 0)
        unsafe handle = opened!
        unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
        let settings = [
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(bounds.head)),
            // "APNs ignores HTTP/2 PRIORITY frames."
            (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
        ]
        submit(settings.map { nghttp2_settings_entry(settings_id: Int32($0.rawValue), value: $1) })
    }

    deinit {
        unsafe nghttp2_session_del(handle)
    }

    private func submit(_ settings: [nghttp2_settings_entry]) {
        let code = unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
        if code != 0 { isBroken = true }
    }

    /// Lets the client have so many streams at once from now on.
    func allow(streams: UInt32) {
        let identifier = Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue)
        submit([nghttp2_settings_entry(settings_id: identifier, value: streams)])
    }

    // MARK: Bytes

    /// Bytes came from the client.
    ///
    /// - Parameter now: nanoseconds, as those of ``oldest``.
    func receive(_ bytes: Span<UInt8>, at now: Int64) {
        self.now = now
        guard !isBroken else { return }
        let taken = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe nghttp2_session_mem_recv(handle, bytes.baseAddress, bytes.count)
        }
        if taken < 0 { isBroken = true }
    }

    /// Appends bytes for the client, a frame or some at a time.
    ///
    /// - Returns: whether there were any.
    func takeOutput(into output: inout [UInt8]) -> Bool {
        var start: UnsafePointer<UInt8>?
        let count = unsafe nghttp2_session_mem_send(handle, &start)
        guard count > 0, let start = unsafe start else {
            if count < 0 { isBroken = true }
            return false
        }
        unsafe output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        return true
    }

    /// Neither side has anything more to say.
    var isOver: Bool {
        if isBroken { return true }
        return unsafe nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
    }

    // MARK: Requests

    /// What has become whole since it was asked last, in that order.
    func takeRequests() -> [Request] {
        defer { requests.removeAll(keepingCapacity: true) }
        return requests
    }

    /// When the request was begun that waits longest to become whole.
    var oldest: Int64? { order.first.flatMap { incoming[$0]?.openedAt } }

    /// Whether a request waits to become whole, or for its answer to go.
    var isBusy: Bool { !order.isEmpty || !answering.isEmpty }

    /// The requests that were begun by then are waited for no longer.
    func endRequests(begunBy moment: Int64) {
        while let stream = order.first, let begun = incoming[stream]?.openedAt, begun <= moment {
            finish(stream, isLate: true, saidAll: false)
        }
    }

    /// Answers a request.
    func answer(_ stream: Int32, status: Int, fields: [RequestHead.Field], body: [UInt8]) {
        // The client may have taken the request back meanwhile.
        guard answering[stream] != nil else { return }
        if !body.isEmpty { bodies[stream] = body[...] }
        let all = [RequestHead.Field(":status", "\(status)")] + fields
        // One buffer, which stays where it is while the library copies from it.
        var text: [UInt8] = []
        let lengths = all.map { field in
            text.append(contentsOf: field.name.utf8)
            text.append(contentsOf: field.value.utf8)
            return (field.name.utf8.count, field.value.utf8.count)
        }
        var provider = unsafe nghttp2_data_provider(source: nghttp2_data_source(fd: 0), read_callback: bodyWanted)
        let code = unsafe text.withUnsafeMutableBufferPointer { text in
            var place = text.baseAddress!
            var pairs: [nghttp2_nv] = unsafe []
            for (name, value) in lengths {
                unsafe pairs.append(
                    nghttp2_nv(name: place, value: place + name, namelen: name, valuelen: value, flags: 0)
                )
                unsafe place += name + value
            }
            return unsafe withUnsafeMutablePointer(to: &provider) { provider in
                unsafe nghttp2_submit_response(handle, stream, pairs, pairs.count, body.isEmpty ? nil : provider)
            }
        }
        if code != 0 { isBroken = true }
    }

    /// Tells the client to begin no more streams; those that are begun go on.
    ///
    /// - Parameter information: what the GOAWAY frame bears.
    func goAway(_ information: [UInt8]) {
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        let code = unsafe nghttp2_submit_goaway(
            handle,
            flags,
            nghttp2_session_get_last_proc_stream_id(handle),
            NGHTTP2_NO_ERROR.rawValue,
            information,
            information.count
        )
        if code != 0 { isBroken = true }
    }

    private func reset(_ stream: Int32, _ code: nghttp2_error_code) {
        forget(stream)
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        if unsafe nghttp2_submit_rst_stream(handle, flags, stream, code.rawValue) != 0 { isBroken = true }
    }

    @discardableResult
    private func forget(_ stream: Int32) -> Incoming? {
        guard let known = incoming.removeValue(forKey: stream) else { return nil }
        if let place = order.firstIndex(of: stream) { order.remove(at: place) }
        kept -= known.headSize + known.body.count
        return known
    }

    private func finish(_ stream: Int32, isLate: Bool = false, saidAll: Bool = true) {
        guard let known = forget(stream) else {
            // What was not waited for has come.
            if answering[stream] != nil, saidAll { answering[stream] = true }
            return
        }
        answering[stream] = saidAll
        requests.append(Request(stream: stream, head: known.head, body: known.body, isLate: isLate))
    }

    // MARK: What the library tells

    fileprivate func began(_ stream: Int32) {
        incoming[stream] = Incoming(openedAt: now)
        order.append(stream)
    }

    fileprivate func came(_ name: String, _ value: String, on stream: Int32) {
        guard incoming[stream] != nil else { return }
        let size = name.utf8.count + value.utf8.count + 32
        incoming[stream]!.headSize += size
        kept += size
        guard incoming[stream]!.headSize <= bounds.head, kept <= bounds.kept else {
            return reset(stream, NGHTTP2_ENHANCE_YOUR_CALM)
        }
        switch name {
        case ":method": incoming[stream]!.head.method = value
        case ":path": incoming[stream]!.head.path = value
        case ":scheme", ":authority": break
        default: incoming[stream]!.head.fields.append(RequestHead.Field(name, value))
        }
    }

    @unsafe
    fileprivate func came(_ data: UnsafeBufferPointer<UInt8>, on stream: Int32) {
        guard incoming[stream] != nil else { return }
        let room = bounds.body + 1 - incoming[stream]!.body.count
        unsafe incoming[stream]!.body.append(contentsOf: data.prefix(room))
        kept += min(room, data.count)
        if kept > bounds.kept { return reset(stream, NGHTTP2_ENHANCE_YOUR_CALM) }
        if incoming[stream]!.body.count > bounds.body { finish(stream, saidAll: false) }
    }

    fileprivate func saidAll(on stream: Int32) { finish(stream) }

    fileprivate func begin() { hasBegun = true }

    /// The last frame of an answer went: a client that has not said all need not (RFC 9113, section 8.1).
    fileprivate func answered(_ stream: Int32) {
        if answering[stream] == false { reset(stream, NGHTTP2_NO_ERROR) }
    }

    fileprivate func closed(_ stream: Int32) {
        forget(stream)
        answering[stream] = nil
        bodies[stream] = nil
        requests.removeAll { $0.stream == stream }
    }

    /// Gives bytes of an answer's body, and whether these are the last.
    @unsafe
    fileprivate func give(_ stream: Int32, into room: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool) {
        guard let body = bodies[stream] else { return (0, true) }
        let part = body.prefix(room.count)
        unsafe _ = room.update(fromContentsOf: part)
        let rest = body.dropFirst(part.count)
        bodies[stream] = rest.isEmpty ? nil : rest
        return (part.count, rest.isEmpty)
    }
}

private func session(_ address: UnsafeMutableRawPointer?) -> HTTP2Session {
    unsafe Unmanaged<HTTP2Session>.fromOpaque(address!).takeUnretainedValue()
}

private func isRequest(_ frame: UnsafePointer<nghttp2_frame>) -> Bool {
    unsafe frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue)
        && frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
}

/// Whether a frame is of a kind that has a sender's last word, and is it.
private func isLast(_ frame: UnsafePointer<nghttp2_frame>) -> Bool {
    let type = unsafe frame.pointee.hd.type
    return unsafe (type == UInt8(NGHTTP2_HEADERS.rawValue) || type == UInt8(NGHTTP2_DATA.rawValue))
        && frame.pointee.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
}

private func headersBegan(
    _ handle: OpaquePointer?,
    _ frame: UnsafePointer<nghttp2_frame>?,
    _ address: UnsafeMutableRawPointer?
) -> Int32 {
    if unsafe isRequest(frame!) { unsafe session(address).began(frame!.pointee.hd.stream_id) }
    return 0
}

private func headerCame(
    _ handle: OpaquePointer?,
    _ frame: UnsafePointer<nghttp2_frame>?,
    _ name: UnsafePointer<UInt8>?,
    _ nameCount: Int,
    _ value: UnsafePointer<UInt8>?,
    _ valueCount: Int,
    _ flags: UInt8,
    _ address: UnsafeMutableRawPointer?
) -> Int32 {
    // Fields after the body say nothing.
    guard unsafe isRequest(frame!) else { return 0 }
    let name = unsafe String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self)
    let value = unsafe String(decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self)
    unsafe session(address).came(name, value, on: frame!.pointee.hd.stream_id)
    return 0
}

private func dataCame(
    _ handle: OpaquePointer?,
    _ flags: UInt8,
    _ stream: Int32,
    _ data: UnsafePointer<UInt8>?,
    _ count: Int,
    _ address: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe session(address).came(UnsafeBufferPointer(start: data, count: count), on: stream)
    return 0
}

private func frameCame(
    _ handle: OpaquePointer?,
    _ frame: UnsafePointer<nghttp2_frame>?,
    _ address: UnsafeMutableRawPointer?
) -> Int32 {
    let session = unsafe session(address)
    if unsafe frame!.pointee.hd.type == UInt8(NGHTTP2_SETTINGS.rawValue) { session.begin() }
    if unsafe isLast(frame!) { unsafe session.saidAll(on: frame!.pointee.hd.stream_id) }
    return 0
}

private func frameWent(
    _ handle: OpaquePointer?,
    _ frame: UnsafePointer<nghttp2_frame>?,
    _ address: UnsafeMutableRawPointer?
) -> Int32 {
    if unsafe isLast(frame!) { unsafe session(address).answered(frame!.pointee.hd.stream_id) }
    return 0
}

private func streamClosed(
    _ handle: OpaquePointer?,
    _ stream: Int32,
    _ code: UInt32,
    _ address: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe session(address).closed(stream)
    return 0
}

private func bodyWanted(
    _ handle: OpaquePointer?,
    _ stream: Int32,
    _ buffer: UnsafeMutablePointer<UInt8>?,
    _ room: Int,
    _ flags: UnsafeMutablePointer<UInt32>?,
    _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _ address: UnsafeMutableRawPointer?
) -> Int {
    let given = unsafe session(address).give(stream, into: UnsafeMutableBufferPointer(start: buffer, count: room))
    if given.isLast { unsafe flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return given.count
}

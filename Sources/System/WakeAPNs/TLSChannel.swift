import COpenSSL

/// What the server's TLS connections share.
@safe final class TLSContext {
    fileprivate let handle: OpaquePointer

    /// - Throws: ``TLSError`` when the identity's files are not there or do not belong together.
    init(_ identity: TLSIdentity) throws(TLSError) {
        guard let made = unsafe SSL_CTX_new(TLS_server_method()) else { throw TLSError(last: "SSL_CTX_new") }
        unsafe handle = made
        // "Use HTTP/2 and TLS 1.2 or later."
        let isNew = unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1
        guard isNew else { throw TLSError(last: "SSL_CTX_set_min_proto_version") }
        // No renegotiation, which HTTP/2 forbids (bit 30), and no compression (bit 17).
        unsafe SSL_CTX_set_options(handle, 1 << 30 | 1 << 17)
        unsafe SSL_CTX_set_alpn_select_cb(handle, protocolOffered, nil)
        // A client may show a certificate. Its issuer does not matter here: what it says is checked later.
        unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER) { _, _ in 1 }
        // No password is asked for.
        unsafe SSL_CTX_set_default_passwd_cb(handle) { _, _, _, _ in -1 }
        let session: [UInt8] = Array("wakebench".utf8)
        unsafe SSL_CTX_set_session_id_context(handle, session, UInt32(session.count))
        guard unsafe SSL_CTX_use_certificate_file(handle, identity.certificate, SSL_FILETYPE_PEM) == 1 else {
            throw TLSError(last: "SSL_CTX_use_certificate_file", subject: identity.certificate)
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(handle, identity.key, SSL_FILETYPE_PEM) == 1,
            unsafe SSL_CTX_check_private_key(handle) == 1
        else { throw TLSError(last: "SSL_CTX_use_PrivateKey_file", subject: identity.key) }
    }

    deinit {
        unsafe SSL_CTX_free(handle)
    }
}

/// Takes HTTP/2 of what a client offers, and nothing else. It is not asked about a client that offers nothing: such clients, of
/// which aioapns is one, speak HTTP/2 to APNs as well.
private func protocolOffered(
    _ connection: OpaquePointer?,
    _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenCount: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?,
    _ offeredCount: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    var place = 0
    while place < Int(offeredCount) {
        let count = unsafe Int(offered![place])
        if count == 2, place + 2 < Int(offeredCount),
            unsafe offered![place + 1] == UInt8(ascii: "h") && offered![place + 2] == UInt8(ascii: "2")
        {
            unsafe chosen!.pointee = offered! + place + 1
            unsafe chosenCount!.pointee = 2
            return SSL_TLSEXT_ERR_OK
        }
        place += count + 1
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// The server's side of one TLS connection: bytes of the network in, bytes of the client out, and the same backwards. No I/O.
@safe final class TLSChannel {
    /// Where it stands.
    enum State: Equatable {
        /// Valid transitions to: `open`, `failed`.
        case beginning
        /// Valid transitions to: `closed`, `failed`.
        case open
        /// The client says no more.
        case closed
        /// There is no going on.
        case failed
    }

    private let handle: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    private(set) var state = State.beginning

    init(_ context: TLSContext) throws(TLSError) {
        guard let made = unsafe SSL_new(context.handle) else { throw TLSError(last: "SSL_new") }
        guard let input = unsafe BIO_new(BIO_s_mem()), let output = unsafe BIO_new(BIO_s_mem()) else {
            unsafe SSL_free(made)
            throw TLSError(last: "BIO_new")
        }
        unsafe handle = made
        unsafe self.input = input
        unsafe self.output = output
        // From here the connection owns both.
        unsafe SSL_set_bio(handle, input, output)
        unsafe SSL_set_accept_state(handle)
    }

    deinit {
        unsafe SSL_free(handle)
    }

    /// Bytes came from the network: the handshake goes on, where it is not over.
    func receive(_ bytes: Span<UInt8>) {
        guard state == .beginning || state == .open else { return }
        let written = unsafe bytes.withUnsafeBufferPointer { unsafe BIO_write(input, $0.baseAddress, Int32($0.count)) }
        precondition(Int(written) == bytes.count, "memory takes all that is written into it")
        guard state == .beginning else { return }
        ERR_clear_error()
        let code = unsafe SSL_do_handshake(handle)
        if code == 1 {
            state = .open
        } else if unsafe SSL_get_error(handle, code) != SSL_ERROR_WANT_READ {
            state = .failed
        }
        ERR_clear_error()
    }

    /// Reads what the client said.
    ///
    /// - Returns: how many bytes; 0 when there is nothing yet, or nothing more.
    func read(into buffer: inout [UInt8]) -> Int {
        guard state == .open else { return 0 }
        ERR_clear_error()
        defer { ERR_clear_error() }
        let count = unsafe SSL_read(handle, &buffer, Int32(clamping: buffer.count))
        if count > 0 { return Int(count) }
        switch unsafe SSL_get_error(handle, count) {
        case SSL_ERROR_WANT_READ: break
        case SSL_ERROR_ZERO_RETURN: state = .closed
        default: state = .failed
        }
        return 0
    }

    /// Says something to the client.
    func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, state == .open || state == .closed else { return }
        ERR_clear_error()
        if unsafe SSL_write(handle, bytes, Int32(clamping: bytes.count)) <= 0 { state = .failed }
        ERR_clear_error()
    }

    /// Says that nothing more comes.
    func end() {
        guard state == .open || state == .closed else { return }
        ERR_clear_error()
        _ = unsafe SSL_shutdown(handle)
        ERR_clear_error()
    }

    /// Appends bytes for the network.
    func takeOutput(into bytes: inout [UInt8]) {
        let count = unsafe BIO_ctrl_pending(output)
        guard count > 0 else { return }
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: count))
        let read = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            unsafe BIO_read(output, bytes.baseAddress! + start, Int32(clamping: count))
        }
        precondition(Int(read) == count, "memory gives all that is in it")
    }

    /// The certificate that the client showed.
    var certificate: ClientCertificate? {
        guard let shown = unsafe SSL_get1_peer_certificate(handle) else { return nil }
        return unsafe Certificate(owning: shown).provider
    }
}

import COpenSSL

/// The key whose other half signs provider tokens: the public half of it, or the file that Apple gives out (`.p8`), of which
/// the public half is used.
@safe package final class ProviderKey {
    private let handle: OpaquePointer

    /// - Parameter pem: a key on the curve P-256, in PEM.
    /// - Throws: ``TLSError`` for anything else.
    package init(pem: [UInt8]) throws(TLSError) {
        guard let key = unsafe Self.read(pem) else { throw TLSError(last: "PEM_read_bio_PUBKEY") }
        unsafe handle = key
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        let isNamed = unsafe EVP_PKEY_get_group_name(handle, &name, name.count, &count) == 1
        let curve = isNamed ? String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : "none"
        ERR_clear_error()
        guard curve == SN_X9_62_prime256v1 else {
            throw TLSError(
                "EVP_PKEY_get_group_name",
                reason: "the curve is \(curve); ES256 needs \(SN_X9_62_prime256v1)"
            )
        }
    }

    deinit {
        unsafe EVP_PKEY_free(handle)
    }

    @unsafe
    private static func read(_ pem: [UInt8]) -> OpaquePointer? {
        for isPublic in [true, false] {
            guard let file = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
            defer { unsafe BIO_free(file) }
            // No password is asked for.
            let key =
                unsafe isPublic
                ? PEM_read_bio_PUBKEY(file, nil, { _, _, _, _ in -1 }, nil)
                : PEM_read_bio_PrivateKey(file, nil, { _, _, _, _ in -1 }, nil)
            if let key = unsafe key {
                ERR_clear_error()
                return unsafe key
            }
        }
        return nil
    }

    /// Whether the token's signature is this key's.
    package func isSigned(_ token: ProviderToken) -> Bool {
        defer { ERR_clear_error() }
        guard token.signature.count == 64, let signature = unsafe ECDSA_SIG_new() else { return false }
        defer { unsafe ECDSA_SIG_free(signature) }
        let r = unsafe BN_bin2bn(Array(token.signature.prefix(32)), 32, nil)
        let s = unsafe BN_bin2bn(Array(token.signature.suffix(32)), 32, nil)
        // From here the signature owns both numbers.
        guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else { return false }
        var encoded: UnsafeMutablePointer<UInt8>?
        let size = unsafe i2d_ECDSA_SIG(signature, &encoded)
        guard size > 0, let context = unsafe EVP_MD_CTX_new() else { return false }
        defer {
            unsafe CRYPTO_free(encoded, "", 0)
            unsafe EVP_MD_CTX_free(context)
        }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle) == 1 else { return false }
        return unsafe EVP_DigestVerify(context, encoded, Int(size), token.signed, token.signed.count) == 1
    }
}

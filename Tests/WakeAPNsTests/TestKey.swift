import COpenSSL

@testable import WakeAPNs

/// A key of a provider's, both halves of it.
@safe final class TestKey {
    private let handle: OpaquePointer
    private static let failure = TLSError("TestKey", reason: "OpenSSL failed")

    init(_ curve: String = "prime256v1") throws {
        let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, curve) == 1,
            unsafe EVP_PKEY_keygen(context, &made) == 1, let made = unsafe made
        else { throw Self.failure }
        unsafe handle = made
    }

    deinit {
        unsafe EVP_PKEY_free(handle)
    }

    var publicPEM: [UInt8] { unsafe written { unsafe PEM_write_bio_PUBKEY($0, handle) } }

    /// As Apple's files have it: PKCS #8.
    var privatePEM: [UInt8] {
        unsafe written { unsafe PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) }
    }

    private func written(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
        let memory = unsafe BIO_new(BIO_s_mem())
        defer { unsafe BIO_free(memory) }
        _ = unsafe write(memory)
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe BIO_read(memory, &bytes, Int32(bytes.count))
        return Array(bytes.prefix(Int(max(count, 0))))
    }

    /// A provider's token that this key has signed.
    func token() throws -> String {
        let text = WakeAPNsTests.token().split(separator: ".").prefix(2).joined(separator: ".")
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        let data = Array(text.utf8)
        var encoded = [UInt8](repeating: 0, count: 256)
        var count = encoded.count
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1,
            unsafe EVP_DigestSign(context, &encoded, &count, data, data.count) == 1
        else { throw Self.failure }
        return text + "." + WakeAPNsTests.encoded(try Self.numbers(encoded, count))
    }

    /// The two numbers of a signature in ASN.1, 32 bytes each.
    private static func numbers(_ encoded: [UInt8], _ count: Int) throws -> [UInt8] {
        try unsafe encoded.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            guard let signature = unsafe d2i_ECDSA_SIG(nil, &start, count) else { throw failure }
            defer { unsafe ECDSA_SIG_free(signature) }
            var both = [UInt8](repeating: 0, count: 64)
            unsafe both.withUnsafeMutableBufferPointer { room in
                _ = unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), room.baseAddress, 32)
                _ = unsafe BN_bn2binpad(ECDSA_SIG_get0_s(signature), room.baseAddress! + 32, 32)
            }
            return both
        }
    }
}

import COpenSSL
import Glibc
import WakeSystem

/// The files by which a client knows the server: made by OpenSSL into a folder, and kept there while they are valid.
///
/// The authority that the client trusts has signed the server's certificate and nothing else: its key is forgotten at once.
package struct TLSIdentity: Equatable, Sendable {
    /// What a client trusts, in PEM.
    package var authority: String
    /// The server's certificate, for `localhost`, 127.0.0.1 and ::1, in PEM.
    package var certificate: String
    /// Its key, which its owner alone may read.
    package var key: String

    /// How long new ones are valid, in seconds. Apple's own clients refuse a server's certificate of more than 825 days.
    static let lifetime: Int64 = 397 * 86_400

    /// The files of a folder.
    init(folder: String) {
        authority = folder + "/apns-authority.pem"
        certificate = folder + "/apns-server.pem"
        key = folder + "/apns-server.key"
    }

    /// Makes the folder and the files, unless they are there and valid for a day more.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``SystemError`` when they cannot be written, ``TLSError`` when they cannot be made.
    package init(in folder: String, at now: Int64) throws {
        self.init(folder: folder)
        if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST { throw SystemError(last: "mkdir", subject: folder) }
        if isUsable(at: now) { return }
        let authorityKey = try KeyPair()
        let authorityCertificate = try Certificate("Wakebench APNs authority", key: authorityKey, at: now)
        try authorityCertificate.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", by: authorityCertificate)
        try authorityCertificate.add(NID_key_usage, "critical,keyCertSign,cRLSign", by: authorityCertificate)
        try authorityCertificate.add(NID_subject_key_identifier, "hash", by: authorityCertificate)
        try authorityCertificate.sign(by: authorityCertificate, with: authorityKey)
        let serverKey = try KeyPair()
        let server = try Certificate("localhost", key: serverKey, at: now)
        try server.add(NID_basic_constraints, "critical,CA:FALSE", by: authorityCertificate)
        try server.add(NID_key_usage, "critical,digitalSignature", by: authorityCertificate)
        try server.add(NID_ext_key_usage, "serverAuth", by: authorityCertificate)
        try server.add(NID_subject_key_identifier, "hash", by: authorityCertificate)
        try server.add(NID_authority_key_identifier, "keyid", by: authorityCertificate)
        try server.add(NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1", by: authorityCertificate)
        try server.sign(by: authorityCertificate, with: authorityKey)
        try Self.write(serverKey.pem(), to: key, mode: 0o600)
        try Self.write(server.pem(), to: certificate, mode: 0o644)
        try Self.write(authorityCertificate.pem(), to: authority, mode: 0o644)
    }

    /// Whether the three belong together, and are valid for a day more.
    func isUsable(at now: Int64) -> Bool {
        defer { ERR_clear_error() }
        guard let authority = try? Certificate(file: authority), let server = try? Certificate(file: certificate),
            let context = try? TLSContext(self)
        else { return false }
        _ = context
        return server.isSigned(by: authority)
            && [server, authority].allSatisfy { $0.validity.contains(now) && $0.validity.contains(now + 86_400) }
    }

    /// Writes a file whole, or not at all.
    private static func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(SystemError) {
        let new = path + ".new"
        _ = unsafe unlink(new)
        let file = try Descriptor.open(new, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        do throws(SystemError) {
            var rest = bytes[...]
            while !rest.isEmpty, let count = try file.write(Array(rest)) { rest = rest.dropFirst(count) }
            guard unsafe rename(new, path) == 0 else { throw SystemError(last: "rename", subject: path) }
        } catch {
            unsafe unlink(new)
            throw error
        }
    }
}

/// A key on the curve P-256.
@safe private final class KeyPair {
    let handle: OpaquePointer

    init() throws(TLSError) {
        guard let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else {
            throw TLSError(last: "EVP_PKEY_CTX_new_id")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_group_name(context, SN_X9_62_prime256v1) == 1,
            unsafe EVP_PKEY_keygen(context, &made) == 1, let made = unsafe made
        else { throw TLSError(last: "EVP_PKEY_keygen") }
        unsafe handle = made
    }

    deinit {
        unsafe EVP_PKEY_free(handle)
    }

    func pem() throws(TLSError) -> [UInt8] {
        try unsafe text("PEM_write_bio_PrivateKey") {
            unsafe PEM_write_bio_PrivateKey($0, handle, nil, nil, 0, nil, nil)
        }
    }
}

/// An X.509 certificate.
@safe final class Certificate {
    let handle: OpaquePointer

    /// - Throws: ``TLSError`` when the file holds none.
    init(file path: String) throws(TLSError) {
        guard let file = unsafe BIO_new_file(path, "r") else { throw TLSError(last: "BIO_new_file", subject: path) }
        defer { unsafe BIO_free(file) }
        guard let read = unsafe PEM_read_bio_X509(file, nil, { _, _, _, _ in -1 }, nil) else {
            throw TLSError(last: "PEM_read_bio_X509", subject: path)
        }
        unsafe handle = read
    }

    /// Takes over a reference.
    @unsafe
    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    /// A new one, which is not signed yet.
    fileprivate init(_ name: String, key: KeyPair, at now: Int64) throws(TLSError) {
        guard let made = unsafe X509_new() else { throw TLSError(last: "X509_new") }
        unsafe handle = made
        // Version 3 is written as 2.
        var number: UInt64 = 0
        let subject = unsafe X509_get_subject_name(handle)
        let isMade = unsafe withUnsafeMutableBytes(of: &number) { bytes in
            unsafe RAND_bytes(bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)) == 1
        }
        guard isMade, unsafe X509_set_version(handle, 2) == 1,
            unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(handle), number >> 1 | 1) == 1,
            // Clocks of the same machine may differ for a moment.
            unsafe ASN1_TIME_set(X509_getm_notBefore(handle), Int(now - 86_400)) != nil,
            unsafe ASN1_TIME_set(X509_getm_notAfter(handle), Int(now + TLSIdentity.lifetime)) != nil,
            unsafe X509_set_pubkey(handle, key.handle) == 1,
            unsafe X509_NAME_add_entry_by_txt(subject, SN_commonName, MBSTRING_UTF8, name, -1, -1, 0) == 1
        else { throw TLSError(last: "X509_set_pubkey") }
    }

    deinit {
        unsafe X509_free(handle)
    }

    fileprivate func add(_ identifier: Int32, _ value: String, by issuer: Certificate) throws(TLSError) {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, issuer.handle, handle, nil, nil, 0)
        guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, identifier, value) else {
            throw TLSError(last: "X509V3_EXT_conf_nid", subject: value)
        }
        defer { unsafe X509_EXTENSION_free(made) }
        guard unsafe X509_add_ext(handle, made, -1) == 1 else { throw TLSError(last: "X509_add_ext", subject: value) }
    }

    fileprivate func sign(by issuer: Certificate, with key: KeyPair) throws(TLSError) {
        guard unsafe X509_set_issuer_name(handle, X509_get_subject_name(issuer.handle)) == 1,
            unsafe X509_sign(handle, key.handle, EVP_sha256()) > 0
        else { throw TLSError(last: "X509_sign") }
    }

    fileprivate func pem() throws(TLSError) -> [UInt8] {
        try unsafe text("PEM_write_bio_X509") { unsafe PEM_write_bio_X509($0, handle) }
    }

    func isSigned(by issuer: Certificate) -> Bool {
        unsafe X509_verify(handle, X509_get0_pubkey(issuer.handle)) == 1
    }

    /// Seconds since 1970; empty but for one second when it says nothing that can be read.
    var validity: ClosedRange<Int64> {
        let from = unsafe seconds(X509_get0_notBefore(handle))
        let to = unsafe seconds(X509_get0_notAfter(handle))
        guard let from, let to, from <= to else { return 0...0 }
        return from...to
    }

    @unsafe
    private func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var (days, rest): (Int32, Int32) = (0, 0)
        guard let start = unsafe ASN1_TIME_set(nil, 0) else { return nil }
        defer { unsafe ASN1_STRING_free(start) }
        guard unsafe ASN1_TIME_diff(&days, &rest, start, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(rest)
    }

    /// What it says of a provider.
    var provider: ClientCertificate {
        // The common name of Apple's certificates says what they are for before it names the app.
        let name = entry(NID_commonName)?.split(separator: ":").last.map { String($0.drop { $0 == " " }) }
        let topic = entry(NID_userId) ?? name
        return ClientCertificate(
            topic: topic?.isEmpty == true ? nil : topic,
            hasManyTopics: hasTopics,
            validity: validity
        )
    }

    /// The first entry of the subject of a kind.
    private func entry(_ identifier: Int32) -> String? {
        let subject = unsafe X509_get_subject_name(handle)
        let place = unsafe X509_NAME_get_index_by_NID(subject, identifier, -1)
        guard place >= 0, let entry = unsafe X509_NAME_get_entry(subject, place) else { return nil }
        var start: UnsafeMutablePointer<UInt8>?
        let count = unsafe ASN1_STRING_to_UTF8(&start, X509_NAME_ENTRY_get_data(entry))
        guard count >= 0, let start = unsafe start else { return nil }
        defer { unsafe CRYPTO_free(start, "", 0) }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// Apple's extension with the topics that a certificate is for.
    private var hasTopics: Bool {
        guard let object = unsafe OBJ_txt2obj("1.2.840.113635.100.6.3.6", 1) else { return false }
        defer { unsafe ASN1_OBJECT_free(object) }
        return unsafe X509_get_ext_by_OBJ(handle, object, -1) >= 0
    }
}

/// What a function of OpenSSL writes.
private func text(_ call: String, _ write: (OpaquePointer) -> Int32) throws(TLSError) -> [UInt8] {
    guard let memory = unsafe BIO_new(BIO_s_mem()) else { throw TLSError(last: "BIO_new") }
    defer { unsafe BIO_free(memory) }
    guard unsafe write(memory) == 1 else { throw TLSError(last: call) }
    var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(memory))
    let count = unsafe BIO_read(memory, &bytes, Int32(clamping: bytes.count))
    return Array(bytes.prefix(Int(max(count, 0))))
}

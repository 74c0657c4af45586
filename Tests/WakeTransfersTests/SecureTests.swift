import ChildProcess
import Foundation
import Testing
import WakeTransfers

extension TransferTests {
    /// TLS, and whom it trusts.
    @Suite("HTTPS", .enabled(if: NginxServer.isThere, "needs nginx"))
    struct SecureTests {
        private let folder: TestFolder
        private let authority: String

        init() throws {
            folder = try TestFolder()
            authority = try CertificateAuthority.make("authority", in: folder)
        }

        /// nginx with a certificate for a host, which is asked as localhost, where the file `data` is.
        private func server(certifiedFor host: String = "localhost") throws -> NginxServer {
            try CertificateAuthority.certify(host, by: "authority", in: folder)
            let server = try NginxServer(folder, locations: "dav_methods PUT;", isSecure: true)
            try Data("sealed".utf8).write(to: folder.url.appending(path: "files/data"))
            return server
        }

        private func upload(to url: String) throws -> TransferRequest {
            try Data("sealed too".utf8).write(to: folder.url.appending(path: "source"))
            return TransferRequest(number: 2, url: url + "/target", upload: folder.path("source"))
        }

        @Test("XFER-9: A download comes over HTTPS from a server whose authority is given")
        func download() throws {
            let server = try server()
            let bench = try Bench(folder.path("transfers"), options: ["--ca", authority])
            try bench.begin(TransferRequest(number: 1, url: server.url + "/data"))
            let response = try bench.finished(1)
            #expect(response.status == 200)
            #expect(try bench.body(of: response) == Data("sealed".utf8))
        }

        @Test("XFER-9: An upload goes over HTTPS to a server whose authority is given")
        func upload() throws {
            let server = try server()
            let bench = try Bench(folder.path("transfers"), options: ["--ca", authority])
            try bench.begin(upload(to: server.url))
            #expect(try bench.finished(2).status == 201)
            #expect(try Data(contentsOf: folder.url.appending(path: "files/target")) == Data("sealed too".utf8))
        }

        /// -1202, as Apple numbers it: the constant of that name in Foundation for Linux is another.
        private let untrusted = -1_202

        @Test("A server whose authority is not given fails both with NSURLErrorServerCertificateUntrusted")
        func unknownAuthority() throws {
            let server = try server()
            let other = try CertificateAuthority.make("other", in: folder)
            for options in [[], ["--ca", other]] {
                let bench = try Bench(folder.path("transfers-\(options.count)"), options: options)
                try bench.begin(TransferRequest(number: 1, url: server.url + "/data"))
                try bench.begin(upload(to: server.url))
                #expect(try bench.failed(1).rawValue == untrusted)
                #expect(try bench.failed(2).rawValue == untrusted)
            }
            #expect(server.log == [])
        }

        @Test("A certificate for another host's name fails with NSURLErrorServerCertificateUntrusted")
        func otherName() throws {
            let server = try server(certifiedFor: "other.example.com")
            let bench = try Bench(folder.path("transfers"), options: ["--ca", authority])
            try bench.begin(TransferRequest(number: 1, url: server.url + "/data"))
            #expect(try bench.failed(1).rawValue == untrusted)
            #expect(server.log == [])
        }
    }
}

/// Certificates made by openssl, for a test's own authority.
enum CertificateAuthority {
    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]

    /// Makes an authority.
    ///
    /// - Returns: the path of its certificate.
    static func make(_ name: String, in folder: TestFolder) throws -> String {
        let certificate = folder.path("\(name).pem")
        try request(
            "/CN=\(name)",
            ["-keyout", folder.path("\(name)-key.pem"), "-out", certificate],
            extensions: ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign"]
        )
        return certificate
    }

    /// Makes the certificate of a server, `cert.pem`, and its key, `key.pem`.
    ///
    /// - Parameter authority: the name of one that was made in the folder.
    static func certify(_ host: String, by authority: String, in folder: TestFolder) throws {
        let issuer = ["-CA", folder.path("\(authority).pem"), "-CAkey", folder.path("\(authority)-key.pem")]
        try request(
            "/CN=\(host)",
            issuer + ["-keyout", folder.path("key.pem"), "-out", folder.path("cert.pem")],
            extensions: ["basicConstraints=CA:FALSE", "subjectAltName=DNS:\(host)"]
        )
    }

    private static func request(_ subject: String, _ files: [String], extensions: [String]) throws {
        let openssl = ChildProcess("/usr/bin/openssl")
        let additions = extensions.flatMap { ["-addext", $0] }
        openssl.arguments = ["req", "-x509", "-subj", subject] + newKey + files + additions
        openssl.standardError = .null
        try openssl.run()
        openssl.waitUntilExit()
        try #require(openssl.terminationStatus == 0, "openssl makes no certificate for \(subject)")
    }
}

import ChildProcess
import Foundation
import Glibc
import Testing

/// nginx with a configuration of its own, on a free port of the loopback.
final class NginxServer {
    static let path = "/usr/sbin/nginx"
    static let isThere = FileManager.default.isExecutableFile(atPath: path)

    let folder: TestFolder
    let port: UInt16
    private let isSecure: Bool
    private var process: ChildProcess?

    /// - Parameters:
    ///   - locations: what its server block has besides.
    ///   - isSecure: with the certificate `cert.pem` and the key `key.pem` of the folder.
    init(_ folder: TestFolder, locations: String = "", isSecure: Bool = false) throws {
        self.folder = folder
        self.isSecure = isSecure
        port = try freePort()
        let text = """
            daemon off; master_process off; pid \(folder.path("nginx.pid")); error_log \(folder.path("error.log")) warn;
            events { worker_connections 64; }
            http {
                log_format short '$request_method $status $http_range $body_bytes_sent';
                access_log \(folder.path("access.log")) short;
                client_body_temp_path \(folder.path("body")); proxy_temp_path \(folder.path("proxy"));
                fastcgi_temp_path \(folder.path("fastcgi")); uwsgi_temp_path \(folder.path("uwsgi"));
                scgi_temp_path \(folder.path("scgi")); client_max_body_size 0; lingering_close off;
                server {
                    listen 127.0.0.1:\(port)\(isSecure ? " ssl" : "");
                    \(isSecure ? "ssl_certificate cert.pem; ssl_certificate_key key.pem;" : "")
                    root \(folder.path("files"));
                    \(locations)
                }
            }
            """
        try FileManager.default.createDirectory(atPath: folder.path("files"), withIntermediateDirectories: true)
        try text.write(toFile: folder.path("nginx.conf"), atomically: true, encoding: .utf8)
        try start()
    }

    deinit { stop() }

    var url: String { "\(isSecure ? "https" : "http")://\(isSecure ? "localhost" : "127.0.0.1"):\(port)" }

    func start() throws {
        let child = ChildProcess(Self.path)
        child.arguments = ["-p", folder.url.path, "-e", folder.path("error.log"), "-c", folder.path("nginx.conf")]
        child.standardError = .null
        try child.run()
        process = child
        let end = Date(timeIntervalSinceNow: 10)
        while !answers(port) {
            try #require(child.isRunning && Date() < end, "nginx does not listen")
            poll(nil, 0, 5)
        }
    }

    /// Cuts all of its connections off.
    func stop() {
        process?.send(SIGKILL)
        process?.waitUntilExit()
        process = nil
    }

    func send(_ signal: Int32) { process?.send(signal) }

    /// The lines of its log: method, status, range, bytes.
    var log: [String] {
        let text = (try? String(contentsOfFile: folder.path("access.log"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }
}

/// A server that answers as a test says, and cuts off where it says.
final class StandInServer: @unchecked Sendable {
    /// From the number of the request, counted from 0, and its head, what is sent before the connection is closed. Nil: the
    /// connection stays open and nothing is sent.
    typealias Answer = @Sendable (Int, String) -> Data?

    let port: UInt16
    private let listener: Int32
    private let lock = NSLock()
    private var heard: [String] = []
    private var silent: [Int32] = []
    private let readsBodies: Bool

    /// - Parameter readsBodies: whether it answers when it has the body of a request, too, and not its head alone.
    init(readsBodies: Bool = false, _ answer: @escaping Answer) throws {
        self.readsBodies = readsBodies
        let (number, free) = try listening()
        (listener, port) = (number, free)
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(number, nil, nil)
                guard connection >= 0 else { return }
                serve(connection, answer)
            }
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        for connection in lock.withLock({ silent }) { close(connection) }
    }

    var url: String { "http://127.0.0.1:\(port)" }
    /// The heads of all requests.
    var requests: [String] { lock.withLock { heard } }

    private func serve(_ connection: Int32, _ answer: Answer) {
        var head = Data()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !head.contains("\r\n\r\n") {
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else {
                close(connection)
                return
            }
            head.append(contentsOf: buffer[..<count])
        }
        let text = String(decoding: head, as: UTF8.self)
        if readsBodies { finishBody(connection, text) }
        let index = lock.withLock {
            heard.append(text)
            return heard.count - 1
        }
        guard let bytes = answer(index, text) else {
            lock.withLock { silent.append(connection) }
            return
        }
        _ = unsafe bytes.withUnsafeBytes { unsafe send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        shutdown(connection, Int32(SHUT_WR))
        while unsafe recv(connection, &buffer, buffer.count, 0) > 0 {}
        close(connection)
    }
}

extension StandInServer {
    /// Reads what has not come yet of the body that a head announces.
    private func finishBody(_ connection: Int32, _ request: String) {
        let parts = request.components(separatedBy: "\r\n\r\n")
        let length = parts[0].components(separatedBy: "Content-Length: ").last?.prefix { $0.isNumber }
        var left = (length.flatMap { Int($0) } ?? 0) - parts.dropFirst().joined(separator: "\r\n\r\n").utf8.count
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while left > 0 {
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            left -= count
        }
    }
}

extension Data {
    func contains(_ text: String) -> Bool { firstRange(of: Data(text.utf8)) != nil }

    /// A response with a body, of which the header may say more than there is.
    init(status: String, _ fields: [String] = [], body: Data = Data(), length: Int? = nil) {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(length ?? body.count)", "Connection: close"] + fields
        self = Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }
}

private func listening() throws -> (Int32, UInt16) {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { socketAddress in
            unsafe bind(number, socketAddress, length) == 0 && listen(number, 16) == 0
                && getsockname(number, socketAddress, &length) == 0
        }
    }
    try #require(isBound)
    return (number, UInt16(bigEndian: address.sin_port))
}

private func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}

func freePort() throws -> UInt16 {
    let (number, port) = try listening()
    close(number)
    return port
}

private func answers(_ port: UInt16) -> Bool {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(number) }
    var address = loopback(port)
    return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}

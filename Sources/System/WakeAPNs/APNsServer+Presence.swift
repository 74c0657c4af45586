import CNGHTTP2
import COpenSSL
import WakeSystem

extension APNsServer {
    /// The libraries of HTTP/2 and TLS as they were linked: `nghttp2 1.52.0`, `OpenSSL 3.0.17`.
    package static var libraries: [String] {
        let version = unsafe nghttp2_version(0).map { unsafe String(cString: $0.pointee.version_str) }
        // The date of a version says nothing.
        let words = unsafe String(cString: OpenSSL_version(OPENSSL_VERSION)).split(separator: " ").prefix(2)
        return ["nghttp2 \(version ?? "of an unknown version")", words.joined(separator: " ")]
    }

    /// Why a port cannot be listened on; nil when it can.
    package static func failure(listeningOn port: UInt16) -> SystemError? {
        do throws(SystemError) {
            _ = try LoopbackListener(port: port, on: try EventLoop()) { _ in }
            return nil
        } catch {
            return error
        }
    }
}

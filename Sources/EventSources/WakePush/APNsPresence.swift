import WakeAPNs

/// What there is on this machine for an endpoint of APNs. Looking changes nothing.
package struct APNsPresence: Hashable, Sendable {
    /// The libraries of HTTP/2 and TLS as they were linked: `nghttp2 1.52.0`, `OpenSSL 3.0.17`.
    package var libraries: [String]
    /// Why the port cannot be listened on; nil when it can.
    package var failure: String?

    package init(libraries: [String], failure: String?) {
        self.libraries = libraries
        self.failure = failure
    }

    /// Looks at this machine, and whether a port is free.
    package static func examine(port: UInt16) -> APNsPresence {
        APNsPresence(libraries: APNsServer.libraries, failure: APNsServer.failure(listeningOn: port)?.description)
    }
}

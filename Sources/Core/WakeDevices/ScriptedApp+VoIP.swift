import WakeModel

extension ScriptedApp {
    /// What a scripted app does for its calls each time it is launched.
    package struct VoIPUse: Hashable, Sendable {
        /// The call servers that it has a marked socket to, as positions in ``Scenario/devices``.
        package var servers: [Int]
        /// The period of its keep-alive handler (VOIP-3).
        package var keepAlive: Instant.Span?
    }
}

extension ScriptedApp.VoIPUse {
    /// Reads the key `voip` of a scripted app.
    init(_ node: YAMLNode, _ member: MemberDevices) throws(FileError) {
        let fields = try Fields(node, of: "a use of VoIP", keys: ["servers", "keep-alive"])
        servers = []
        if let node = fields["servers"] {
            servers = try member.resolve(node)
            for server in servers { _ = try member.devices[server].need(CallServer.self, for: node) }
        }
        keepAlive = try fields["keep-alive"]?.interval()
    }
}

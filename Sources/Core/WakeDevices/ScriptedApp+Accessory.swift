import WakeModel

extension ScriptedApp {
    /// What a scripted app asks of External Accessory each time it is launched.
    package struct AccessoryUse: Hashable, Sendable {
        /// UISupportedExternalAccessoryProtocols (EA-3).
        package var protocols: [String]
        /// Whether it calls registerForLocalNotifications (EA-4).
        package var registers: Bool
        /// What it opens with each accessory that offers the protocol, at launch and when one connects.
        package var sessions: [Session]

        /// A session that it opens.
        package struct Session: Hashable, Sendable {
            package var protocolName: String
            /// What it writes as soon as the session is open.
            package var writes: [UInt8]
        }
    }
}

extension ScriptedApp.AccessoryUse {
    /// Reads the key `accessory` of a scripted app.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a use of accessories", keys: ["protocols", "register", "sessions"])
        protocols = try fields.required("protocols").list(expecting: "protocols", limit: 64).map {
            (node) throws(FileError) in try node.accessoryProtocol()
        }
        registers = try fields["register"]?.bool() ?? true
        sessions = try fields.list("sessions", limit: 32) { (node) throws(FileError) in
            let fields = try Fields(node, of: "a session", keys: ["protocol", "text", "hex"])
            return Session(
                protocolName: try fields.required("protocol").accessoryProtocol(),
                writes: try fields.bytes() ?? []
            )
        }
    }
}

extension Fields {
    /// The bytes of the key `text` or `hex`; nil when there is neither.
    func bytes() throws(FileError) -> [UInt8]? {
        if let node = self["hex"] {
            try refuse(["text"], beside: "hex")
            return try node.hex(limit: 65_536)
        }
        return try self["text"].map { (node) throws(FileError) in Array(try node.text(expecting: "a text").utf8) }
    }
}

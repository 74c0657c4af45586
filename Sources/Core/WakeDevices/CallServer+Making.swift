// Servers that are made by the program, and not read.

extension CallServer {
    /// A server of SIP that does nothing yet.
    package init() { self.init(file: "", port: 0, framing: .sip, plan: [], answers: [], faults: []) }
}

extension CallServer.Answer {
    package init(to prefix: String, _ text: String) { self.init(prefix: prefix, text: text) }
}

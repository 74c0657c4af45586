import WakeBench

extension RecordCommand {
    static let calls = WakebenchProgram.Verb(
        "record voip",
        "HOST:PORT -o DEVICE.yaml",
        "record what apps and a SIP server say to each other: a capture, and a call server made of it",
        voip,
        options: voipOptions
    )

    static let voipOptions: [Arguments.Option] =
        [
            out,
            .value("--listen", "PORT", "where apps are to find the server, on 127.0.0.1; default any that is free"),
            time,
        ] + closing

    /// What apps that connect here and the server say to each other.
    static func voip(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: voipOptions)
        let wish = try Wish(arguments)
        guard let text = try wish.source("HOST:PORT") else {
            throw CommandFailure(.usage, "HOST:PORT is missing", hint: "name the server, such as sip.example.com:5060")
        }
        let (host, port) = try server(text)
        let listening = try arguments.value("--listen").map { (text) throws(CommandFailure) in
            guard let port = UInt16(text), port > 0 else {
                throw CommandFailure(.usage, "--listen \(text): no port", hint: "give one from 1 to 65535")
            }
            return port
        }
        let file = try wish.beside(".pcapng")
        let recorder = StreamRecorder(time: wish.time, follow: wish.follow, tell: wish.progress)
        let outcome = try wish.record(to: [file]) { () throws(CommandFailure) in
            try recorder.record(server: host, port: port, listening: listening ?? 0, to: file)
        }
        guard outcome.bytes + outcome.written > 0 else {
            throw wish.failure(outcome.end, (["nothing was said"] + outcome.notes).joined(separator: "; "), [file])
        }
        let page = Page(
            captures: [file],
            end: word(outcome.end),
            seconds: seconds(outcome.time),
            counts: [
                "connections": outcome.connections, "bytes of the server": outcome.bytes,
                "bytes of apps": outcome.written,
            ],
            device: text,
            notes: outcome.notes
        )
        let made: ImportCommand.Made
        do { made = try ImportCommand.calls(of: [file], to: wish.out) } catch {
            guard error.code == .invalidFile else { throw error }
            throw CommandFailure(.notFound, "no SIP in what was said", hint: "\(file) has what was said")
        }
        return try tell(wish, made, page, outcome.end)
    }

    private static func server(_ text: String) throws(CommandFailure) -> (host: String, port: UInt16) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw CommandFailure(
                .usage,
                "\(text): no HOST:PORT",
                hint: "write it as sip.example.com:5060 or [::1]:5060"
            )
        }
        let host = text[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
        guard !host.isEmpty, text.first == "[" || !host.contains(":") else {
            throw CommandFailure(
                .usage,
                "\(text): no HOST:PORT",
                hint: "write it as sip.example.com:5060 or [::1]:5060"
            )
        }
        return (String(host), port)
    }
}

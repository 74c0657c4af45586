import WakeHTTP
import WakeJSON
import WakeReports
import WakeSystem

/// The page of a daemon on 127.0.0.1: a timeline that moves, and the verbs of running phones.
///
/// Whoever asks is a process of the daemon's user or of root, and shows the token of the state folder. A name that somebody else
/// has pointed at this machine, and the page of somebody else that a browser has open, are turned away even with it.
final class PageServer {
    private unowned let daemon: Daemon
    private let server: HTTPServer
    private let token: PageToken
    private var peers = PeerCheck()
    /// Of the page, with the token that opens it.
    let address: String
    /// Those who wait for an answer, or listen, by their exchange.
    private var clients: [ObjectIdentifier: PageClient] = [:]
    private let beat: Timer

    /// How often a silent stream says something, so that one whose reader has gone is noticed, in milliseconds.
    private static let beatPause: Int64 = 15_000
    /// Those who listen at once, so that there is room for questions beside them.
    private static let mostStreams = 24

    init(_ daemon: Daemon, port: UInt16) throws(CommandFailure) {
        self.daemon = daemon
        token = try PageToken(in: daemon.settings.state)
        do throws(SystemError) {
            server = try HTTPServer(port: port, on: daemon.loop)
            beat = try daemon.loop.timer(on: .monotonic)
        } catch {
            throw CommandFailure(.environment, error.description, hint: "give another port with --http")
        }
        address = "http://127.0.0.1:\(server.port)/?token=\(token.text)"
        beat.handler = { [unowned self] in sayNothing() }
        beat.arm(after: Self.beatPause)
        server.admit = { [unowned self] in admit($0) }
        server.asked = { [unowned self] in hear($0) }
        daemon.settings.note("page at \(address)")
    }

    deinit {
        server.admit = { _ in nil }
        server.asked = { _ in }
    }

    /// Those who listen.
    var followers: [any Client] { clients.values.filter { $0.followed != nil } }

    private func sayNothing() {
        for client in clients.values { client.beat() }
        beat.arm(after: Self.beatPause)
    }

    // MARK: Who may ask

    private func admit(_ exchange: HTTPExchange) -> HTTPAnswer? {
        if let stranger = peers.stranger(at: exchange.descriptor) {
            if let line = peers.line(refusing: "page: a request", of: stranger) { daemon.settings.note(line) }
            return Self.refusal(403, peers.refusal(of: stranger))
        }
        let hosts = ["127.0.0.1", "localhost"].map { "\($0):\(server.port)" }
        guard let host = exchange.field("Host"), hosts.contains(host.lowercased()) else {
            return Self.refusal(403, "the page is at 127.0.0.1:\(server.port) alone")
        }
        if let origin = exchange.field("Origin"), origin != "http://\(host)" {
            return Self.refusal(403, "pages from elsewhere have no part in this one")
        }
        guard let given = exchange.argument("token") ?? bearer(exchange), token.matches(given) else {
            return Self.refusal(403, "the address lacks the token; wakebench serve prints it with the address")
        }
        switch (exchange.method, exchange.path) {
        case ("GET", "/"), ("GET", "/events"): return nil
        case ("POST", "/ask"):
            let isJSON = exchange.field("Content-Type")?.lowercased().hasPrefix("application/json") == true
            return isJSON ? nil : Self.refusal(415, "a request is application/json")
        case (_, "/"), (_, "/events"), (_, "/ask"): return Self.refusal(405, "not by \(exchange.method)")
        default: return Self.refusal(404, "there is /, /events and /ask")
        }
    }

    private func bearer(_ exchange: HTTPExchange) -> String? {
        let parts = (exchange.field("Authorization") ?? "").split(separator: " ", maxSplits: 1)
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
    }

    private static func refusal(_ status: UInt32, _ text: String) -> HTTPAnswer {
        HTTPAnswer(status, "text/plain; charset=utf-8", Array((text + "\n").utf8), fields: fields)
    }

    /// Of every answer.
    static let fields = [
        (name: "Cache-Control", value: "no-store"), (name: "X-Content-Type-Options", value: "nosniff"),
        (name: "Referrer-Policy", value: "no-referrer"), (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
    ]

    // MARK: What is asked

    private func hear(_ exchange: HTTPExchange) {
        switch exchange.path {
        case "/": exchange.answer(page())
        case "/events": follow(exchange)
        default: ask(exchange)
        }
    }

    private func page() -> HTTPAnswer {
        let nonce = PageToken.random()
        let policy =
            "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; connect-src 'self'; img-src data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        let fields = Self.fields + [(name: "Content-Security-Policy", value: policy)]
        return HTTPAnswer(200, "text/html; charset=utf-8", LivePage.bytes(nonce: nonce), fields: fields)
    }

    private func keep(_ client: PageClient, of exchange: HTTPExchange) {
        let key = ObjectIdentifier(exchange)
        clients[key] = client
        exchange.ended = { [weak self] in
            guard let self, clients.removeValue(forKey: key)?.followed != nil else { return }
            daemon.retune()
        }
    }

    /// One request of the control socket, with its answer.
    private func ask(_ exchange: HTTPExchange) {
        let client = PageClient(exchange, isStream: false)
        keep(client, of: exchange)
        do throws(CommandFailure) {
            let request = try ControlRequest(exchange.body)
            guard request.op != "follow" else { throw CommandFailure(.usage, "'follow' is GET /events") }
            daemon.hear(request, from: client)
        } catch {
            client.refuse(nil, error)
        }
    }

    /// What `follow` tells, with the run so far in front of it. A phone that is off is followed too: it may be switched on.
    private func follow(_ exchange: HTTPExchange) {
        guard clients.values.count(where: \.isStream) < Self.mostStreams else {
            let text = "\(Self.mostStreams) listen already; end one of them first"
            return exchange.answer(Self.refusal(503, text))
        }
        let client = PageClient(exchange, isStream: true)
        keep(client, of: exchange)
        let name = exchange.argument("phone") ?? ""
        let members: [JSONValue.Member] = [
            .init(key: "op", value: .string("follow")), .init(key: "phone", value: .string(name)),
        ]
        do throws(CommandFailure) {
            let request = try ControlRequest(JSONValue.object(members).encoded)
            daemon.hear(request, from: client)
            if let phone = daemon.phones[name] { client.begin(try phone.pageData()) }
        } catch {
            client.refuse(nil, error)
        }
        if client.followed == nil, PhoneFolder.isName(name) { client.followed = name }
        daemon.retune()
    }
}

/// A client of the page: one answer, or a stream of events (Server-Sent Events).
private final class PageClient: Client {
    var followed: String?
    let isStream: Bool
    private let exchange: HTTPExchange
    private var gap = StreamGap()
    /// Where the run so far ends in the stream: it counts for nothing among what waits.
    private var beginning = 0

    init(_ exchange: HTTPExchange, isStream: Bool) {
        (self.exchange, self.isStream) = (exchange, isStream)
        guard isStream else { return }
        exchange.stream("text/event-stream; charset=utf-8", fields: PageServer.fields)
        exchange.drained = { [unowned self] in
            beginning = 0
            tellGap()
        }
    }

    func say(_ line: [UInt8]) {
        if isStream { return send(line) }
        exchange.answer(HTTPAnswer(200, "application/json", line, fields: PageServer.fields))
    }

    /// Tells the run so far.
    func begin(_ run: [UInt8]) {
        send(run, as: "run")
        beginning = exchange.unsent
    }

    func tell(_ line: [UInt8]) {
        if gap.admits(unsent: waiting) { send(line) } else { tellGap() }
    }

    func beat() {
        if isStream, exchange.unsent == 0 { exchange.send(Array(":\n\n".utf8)) }
    }

    private var waiting: Int { max(0, exchange.unsent - beginning) }

    private func tellGap() {
        if let line = gap.end(unsent: waiting) { send(line) }
    }

    private func send(_ text: [UInt8], as event: String? = nil) {
        var bytes: [UInt8] = []
        if let event { bytes += Array("event: \(event)\n".utf8) }
        for line in text.split(separator: 0x0a) { bytes += Array("data: ".utf8) + line + [0x0a] }
        exchange.send(bytes + [0x0a])
    }
}

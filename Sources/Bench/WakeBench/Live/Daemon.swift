import Glibc
import WakeBundles
import WakeJSON
import WakeJournal
import WakeModel
import WakePorts
import WakeReports
import WakeSystem

/// The running bench: phones that live side by side, and a control socket by which their owner drives them.
package final class Daemon {
    /// What a daemon is started with.
    package struct Settings {
        /// The folder of its phones.
        package var state: String
        /// Where its control socket is.
        package var socket: String
        /// The port of the page on this machine; 0 for one of the kernel's choice, nil for no page.
        package var page: UInt16?
        /// Reads the options of a phone's run: the words, its scenario and its folder.
        package var parse: ([String], String, String) throws(CommandFailure) -> RunOptions
        /// Told once that phones are served, and the address of the page; nil for none.
        package var ready: (_ page: String?) -> Void
        /// Told what is worth a line on stderr.
        package var note: (String) -> Void

        package init(
            state: String,
            socket: String,
            page: UInt16? = nil,
            parse: @escaping ([String], String, String) throws(CommandFailure) -> RunOptions,
            ready: @escaping (_ page: String?) -> Void,
            note: @escaping (String) -> Void
        ) {
            (self.state, self.socket, self.page) = (state, socket, page)
            (self.parse, self.ready, self.note) = (parse, ready, note)
        }
    }

    let settings: Settings
    let loop: EventLoop
    /// What its phones share.
    private let air: PhonesAir
    /// Those that are switched on, by name.
    var phones: [String: LivePhone] = [:]
    /// Why phones that are to be on are not, by name.
    var failures: [String: CommandFailure] = [:]
    private var connections: [ObjectIdentifier: ControlConnection] = [:]
    /// Let go at the end of the turn in which they ended.
    private var finished: [ControlConnection] = []
    private(set) var page: PageServer?
    private var listener: Watch?
    private var socket: ControlSocket?
    private var signals: [SignalWatch] = []
    private let lock: FolderLock
    /// The folder of the phones as it was found; what takes its name later is another's.
    private let stateFolder: Descriptor
    /// When phones whose journal found no space are tried again, and clients who could not be let in.
    private let retry: Timer
    /// When the clocks of phones at which nothing happens are kept.
    private let keeping: Timer

    /// The most clients at once.
    private static let mostConnections = 256
    /// The most clients beyond these, who may find out that the daemon runs, and end it: clients that follow keep their places
    /// for as long as they like.
    private static let mostExtra = 8
    private static let forExtra = ["hello", "stop"]
    /// So long a client asks nothing, or takes nothing of what it is told, before it may have to give way, in nanoseconds.
    private static let idleSpan: Int64 = 2_000_000_000
    /// In milliseconds.
    private static let retryPause: Int64 = 5_000
    /// What a phone at which nothing happens loses of its time at most when the daemon is killed, in milliseconds. So seldom a
    /// write for each phone costs nothing.
    private static let keepingPause: Int64 = 600_000

    /// Makes the folder, and keeps others away from it.
    package init(_ settings: Settings) throws(CommandFailure) {
        self.settings = settings
        for folder in [settings.state, settings.state + "/phones"] {
            try RunFolder.requireUndisturbed(RunFolder.absolute(folder), option: PhoneFolder.option)
            try RunFolder.make(folder, option: PhoneFolder.option)
        }
        do throws(JournalError) { lock = try FolderLock(journal: settings.state + "/daemon") } catch {
            guard case .inUse(let pid) = error.kind else { throw CommandFailure(error) }
            throw CommandFailure(
                .wrongState,
                "\(settings.state): \(pid == 0 ? "another process" : "process \(pid)") serves these phones already",
                hint: "stop it first, or give another --state"
            )
        }
        do throws(SystemError) {
            try raiseDescriptorLimit()
            stateFolder = try Descriptor.open(settings.state, O_RDONLY | O_DIRECTORY)
            loop = try EventLoop()
            retry = try loop.timer(on: .monotonic)
            keeping = try loop.timer(on: .monotonic)
        } catch {
            throw CommandFailure(.internal, error.description)
        }
        air = PhonesAir(state: settings.state, loop: loop)
        PhoneFolder.sweep(settings.state + "/phones")
        retry.handler = { [unowned self] in tryAgain() }
        keeping.handler = { [unowned self] in keepClocks() }
        keeping.arm(after: Self.keepingPause)
    }

    /// `$XDG_RUNTIME_DIR/wakebench/control.sock`, or the same below the state folder.
    package static func usualSocket(state: String) -> String {
        if let path = unsafe getenv("WAKEBENCH_SOCKET") { return unsafe String(cString: path) }
        guard let folder = unsafe getenv("XDG_RUNTIME_DIR") else { return state + "/control.sock" }
        return unsafe String(cString: folder) + "/wakebench/control.sock"
    }

    /// `$XDG_STATE_HOME/wakebench`, by default `~/.local/state/wakebench`.
    package static func usualState() -> String {
        if let path = unsafe getenv("WAKEBENCH_STATE") { return unsafe String(cString: path) }
        if let folder = unsafe getenv("XDG_STATE_HOME") { return unsafe String(cString: folder) + "/wakebench" }
        let home = unsafe getenv("HOME").map { unsafe String(cString: $0) } ?? "."
        return home + "/.local/state/wakebench"
    }

    /// The run of a phone in a state folder; nil when there is no such phone.
    package static func runFolder(of phone: String, state: String) -> String? {
        let folder = PhoneFolder(path: "\(state)/phones/\(phone)")
        return PhoneFolder.isName(phone) && folder.isThere ? folder.run : nil
    }

    // MARK: Running

    /// Switches on what was on, listens, and serves until SIGTERM, SIGINT or a client ends it. Phones go on from where they were
    /// when the daemon is started again.
    package func run() throws(CommandFailure) {
        do throws(SystemError) {
            for number in [SIGTERM, SIGINT] {
                signals.append(try loop.signal(number) { [unowned self] in loop.exit() })
            }
            try loop.feedWatchdog()
            try loop.atTurnEnd { [unowned self] in finished.removeAll() }
        } catch {
            throw CommandFailure(.internal, error.description)
        }
        try listen()
        defer { stopListening() }
        if let port = settings.page { page = try PageServer(self, port: port) }
        defer { page = nil }
        for name in phoneNames where (try? folder(of: name).readSettings())?.isBooted == true {
            bootOrKeepFailure(name)
        }
        ServiceManager.isReady(status)
        settings.ready(page?.address)
        do throws(SystemError) { _ = try loop.run() } catch {
            throw CommandFailure(.internal, error.description)
        }
        ServiceManager.isStopping()
        for name in phones.keys.sorted() {
            do throws(CommandFailure) { try phones.removeValue(forKey: name)?.stop() } catch {
                settings.note("\(name): \(error.line)")
            }
        }
    }

    var status: String { "\(phones.count) of \(phoneNames.count) phones booted" }

    /// Ends the service after the answer that is under way.
    func stop() { loop.exit() }

    private func listen() throws(CommandFailure) {
        let socket = try ControlSocket(at: settings.socket)
        do throws(SystemError) {
            listener = try loop.watch(socket.descriptor, for: .readable) { [unowned self] _ in accept() }
        } catch {
            throw CommandFailure(.internal, error.description)
        }
        self.socket = socket
    }

    private func stopListening() {
        listener?.cancel()
        connections.removeAll()
        socket?.removeFile()
        socket = nil
    }

    private func accept() {
        guard let socket else { return }
        do throws(SystemError) {
            while let number = try UnixSocket.accept(on: socket.descriptor) {
                let user = UnixSocket.user(of: number)
                let connection = try ControlConnection(Descriptor(owning: number), loop: loop)
                connection.ended = { [unowned self] in
                    connections[ObjectIdentifier($0)] = nil
                    finished.append($0)
                }
                connections[ObjectIdentifier(connection)] = connection
                if let refusal = refusal(of: user) ?? refusal(of: connection) {
                    connection.refuseAll(refusal)
                } else {
                    connection.asked = { [unowned self] in hear($0, of: $1) }
                }
            }
        } catch {
            // Whoever waits would wake the loop again and again: one that has no descriptors left has some later.
            settings.note("control socket: \(error.description)")
            listener?.disable()
            retry.arm(after: Self.retryPause)
        }
    }

    /// Only the owner of the bench, and root, command it.
    private func refusal(of user: UInt32?) -> CommandFailure? {
        guard user == geteuid() || user == 0 else {
            return CommandFailure(
                .environment,
                "this bench is user \(geteuid())'s, and not yours",
                hint: "serve one of your own"
            )
        }
        return nil
    }

    /// Why a client that has connected is not heard; nil when there is a place for it.
    private func refusal(of connection: ControlConnection) -> CommandFailure? {
        admit(connection) || count(isExtra: true) <= Self.mostExtra || makePlace(isExtra: true) ? nil : Self.crowded
    }

    private func hear(_ request: ControlRequest, of connection: ControlConnection) {
        guard Self.forExtra.contains(request.op) || admit(connection) else {
            return connection.refuseAll(Self.crowded, request.request)
        }
        hear(request, from: connection)
    }

    /// Gives a client one of the places for all that can be asked, where there is one.
    private func admit(_ connection: ControlConnection) -> Bool {
        guard connection.isExtra else { return true }
        guard count(isExtra: false) < Self.mostConnections || makePlace(isExtra: false) else { return false }
        connection.isExtra = false
        return true
    }

    private func count(isExtra: Bool) -> Int { connections.values.count { $0.isExtra == isExtra } }

    private static var crowded: CommandFailure {
        CommandFailure(.wrongState, "\(mostConnections) clients are connected", hint: "try again later")
    }

    /// Ends the client that has been idle the longest, so that clients that are forgotten keep nobody out; false where none has
    /// been for long.
    private func makePlace(isExtra: Bool) -> Bool {
        let limit = MonotonicClock.now() - Self.idleSpan
        let idle = connections.values.filter { $0.isExtra == isExtra && $0.idleSince <= limit }
        guard let longest = idle.min(by: { $0.idleSince < $1.idleSince }) else { return false }
        longest.giveWay(
            CommandFailure(
                .wrongState,
                "\(Self.mostConnections) clients are connected, and this one was idle for the longest",
                hint: "connect again"
            )
        )
        return true
    }

    // MARK: Phones

    /// Of all phones, in order: those that have a folder, and those that were served when theirs was removed.
    var phoneNames: [String] {
        let found = FolderTree.names(in: settings.state + "/phones")
        let kept = found.filter { PhoneFolder.isName($0) && folder(of: $0).isThere }
        return Set(kept).union(phones.keys).union(failures.keys).sorted()
    }

    func folder(of phone: String) -> PhoneFolder { PhoneFolder(path: settings.state + "/phones/" + phone) }

    /// - Throws: ``CommandFailure`` with exit code 12 where the folder of the phones, or its lock, was removed or replaced:
    ///   another daemon may serve what is there now.
    func requireState() throws(CommandFailure) {
        let isSame = FileIdentity(of: stateFolder.number) == FileIdentity(at: settings.state, followsLinks: true)
        if isSame, lock.isInPlace { return }
        throw CommandFailure(
            .environment,
            in: isSame ? settings.state + "/daemon.lock" : settings.state,
            "removed or replaced since it is served",
            hint: "stop the daemon, and start it again"
        )
    }

    /// - Throws: ``CommandFailure`` with exit code 4 where a phone had begun its run, and the journal was removed: it does not
    ///   begin anew without a word.
    func requireRun(of known: PhoneFolder.Settings) throws(CommandFailure) {
        let journal = RunFolder(of: folder(of: known.name).run).journal
        guard known.hasBegun, !PhoneFolder.exists(journal) else { return }
        throw CommandFailure(
            .wrongState,
            in: journal,
            "removed since the phone began its run",
            hint: folder(of: known.name).wayBack
        )
    }

    /// The options of a phone's run.
    func options(of known: PhoneFolder.Settings) throws(CommandFailure) -> RunOptions {
        let folder = folder(of: known.name)
        var options: RunOptions
        do throws(CommandFailure) { options = try settings.parse(known.options, known.scenario, folder.run) } catch {
            // They were in order when the phone was made.
            guard error.code == .usage else { throw error }
            throw folder.damage("its options: \(error.message)")
        }
        options.phoneName = known.name
        options.clock = options.clock ?? .real
        return options
    }

    /// Switches a phone on, from where it was.
    func boot(_ name: String, _ known: PhoneFolder.Settings) throws(CommandFailure) {
        let folder = folder(of: name)
        try folder.settle()
        try requireRun(of: known)
        let options = try options(of: known)
        let phone: LivePhone
        do throws(CommandFailure) { phone = try LivePhone(name, folder, options, beside: loop, on: air) } catch {
            throw Self.failure(error, of: folder)
        }
        for note in phone.run.notes { settings.note("\(name): \(note)") }
        phone.failed = { [unowned self, unowned phone] in failed(phone, $0) }
        phones[name] = phone
        failures[name] = nil
        retune()
        tellState(of: name)
    }

    private func bootOrKeepFailure(_ name: String) {
        do throws(CommandFailure) {
            guard let known = try folder(of: name).readSettings() else { return }
            try boot(name, known)
        } catch {
            // One that is tried again and again says the same again and again.
            if failures[name] != error { settings.note("\(name): \(error.line)") }
            failures[name] = error
        }
    }

    /// Finds out whether somebody removed or replaced what a phone writes to: it cannot go on then.
    func look(after name: String) {
        guard let phone = phones[name] else { return }
        do throws(CommandFailure) { try phone.run.requireInPlace() } catch { failed(phone, error) }
    }

    /// The same of a phone. It has no other place, nor an `--out` that could be another.
    ///
    /// - Parameter remedy: what to do where its run cannot be resumed; nil for what its folder says.
    static func failure(
        _ failure: CommandFailure,
        of phone: PhoneFolder,
        remedy: String? = nil
    ) -> CommandFailure {
        guard let hint = failure.hint else { return failure }
        var failure = failure
        let others = ["--out", "--force", "--run", "the folder of a run", "a file that wakebench wrote"]
        failure.hint = hint.replacing(" or give another --out", with: "").replacing(", or give another place", with: "")
        if others.contains(where: { failure.hint?.firstRange(of: $0) != nil }) {
            failure.hint = remedy ?? phone.wayBack
        }
        return failure
    }

    /// A phone cannot go on. It is switched on again when there is space for its journal; the others go on.
    private func failed(_ phone: LivePhone, _ found: CommandFailure) {
        guard phones[phone.name] === phone else { return }
        let failure = Self.failure(found, of: phone.folder)
        phones[phone.name] = nil
        failures[phone.name] = failure
        tellState(of: phone.name)
        settings.note("\(phone.name): \(failure.line)")
        try? phone.stop(suddenly: true)
        if failure.code == .environment { retry.arm(after: Self.retryPause) }
    }

    private func tryAgain() {
        listener?.enable()
        for name in failures.keys.sorted() where failures[name]?.code == .environment { bootOrKeepFailure(name) }
        if failures.values.contains(where: { $0.code == .environment }) { retry.arm(after: Self.retryPause) }
    }

    private func keepClocks() {
        for phone in phones.values { phone.tellTime() }
        keeping.arm(after: Self.keepingPause)
    }

    // MARK: Followers

    private var clients: [any Client] { Array(connections.values) + (page?.followers ?? []) }

    /// Has phones tell what somebody follows, and nothing else.
    func retune() {
        for (name, phone) in phones {
            guard clients.contains(where: { $0.follows(name) }) else {
                phone.news = nil
                continue
            }
            phone.news = { [unowned self] news in
                let line = Self.line(news, of: name)
                for client in clients where client.follows(name) { client.tell(line) }
            }
        }
    }

    /// Tells all who follow something that a phone was switched on or off, or cannot go on.
    func tellState(of name: String) {
        var writer = JSONWriter()
        writer.openObject()
        writer.key("type")
        writer.string("phone")
        writer.key("phone")
        writer.string(name)
        writer.key("state")
        writer.string(state(of: name))
        writer.closeObject()
        for client in clients where client.followed != nil { client.tell(writer.bytes) }
    }

    func state(of name: String) -> String {
        phones[name] != nil ? "booted" : failures[name] != nil ? "failed" : "shutdown"
    }

    static func line(_ news: LivePhone.News, of phone: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.openObject()
        writer.key("type")
        switch news {
        case .decision(let number, let record):
            writer.string("decision")
            writer.key("phone")
            writer.string(phone)
            writer.key("seq")
            writer.unsigned(number.number)
            writer.key("record")
            writer.encoded(record)
        case .row(let row):
            writer.string("row")
            writer.key("phone")
            writer.string(phone)
            row.write(into: &writer)
        case .move(let move):
            writer.string("state")
            writer.key("phone")
            writer.string(phone)
            writer.key("at")
            writer.string(LogTime.text(move.at))
            writer.key("app")
            writer.string(move.app)
            writer.key("from")
            writer.string(move.from.word)
            writer.key("to")
            writer.string(move.to.word)
            writer.key("pid")
            writer.integer(Int64(move.pid))
            if let cause = move.cause {
                writer.key("cause")
                writer.string(cause.word)
            }
        }
        writer.closeObject()
        return writer.bytes
    }
}

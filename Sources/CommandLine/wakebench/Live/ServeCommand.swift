import Foundation
import Glibc
import WakeBench
import WakeJSON
import WakeReports
import WakeSystem

/// `wakebench serve` and the verbs about the daemon itself.
enum ServeCommand {
    static let verbs: [WakebenchProgram.Verb] = [
        WakebenchProgram.Verb(
            "serve",
            "",
            "serve phones until interrupted: the daemon that the verbs of running phones speak to",
            run,
            options: options + [logOption]
        ),
        WakebenchProgram.Verb(
            "daemon start",
            "",
            "the same in the background: returns when the phones are served; what it says is added to daemon.log in their folder",
            start,
            options: options
        ),
        LiveVerb.ask("daemon status", "", "say whether the daemon runs, and what it has", of: LiveCall.daemonOptions) {
            call throws(CommandFailure) in
            let answer = try call.ask("hello")
            if call.printed(answer) { return .done }
            let (phones, booted) = (answer["phones"]?.integer ?? 0, answer["booted"]?.integer ?? 0)
            print(
                "wakebench \(answer["version"]?.string ?? "") pid \(answer["pid"]?.integer ?? 0): \(booted) of \(phones) phones booted"
            )
            if let page = answer["page"]?.string { print(pageLine(page)) }
            return .done
        },
        LiveVerb.ask(
            "daemon stop",
            "",
            "end the daemon; its phones go on when it is started again",
            of: LiveCall.daemonOptions
        ) {
            call throws(CommandFailure) in
            let answer = try call.ask("stop")
            // It is gone when it says no more.
            while try call.client.nextLine(isDue: true) != nil {}
            _ = call.printed(answer)
            return .done
        },
    ]

    private static let options: [Arguments.Option] = [
        .value("--state", "DIR", "the folder of the phones; default $WAKEBENCH_STATE or ~/.local/state/wakebench"),
        .value("--socket", "PATH", "where the control socket is; default $WAKEBENCH_SOCKET or the usual place"),
        .value(
            "--http",
            "[PORT]",
            "a page on 127.0.0.1 too, at an address with a token that is printed; default any free port"
        ),
        .flag("--json", "print one JSON object when the phones are served, or why they are not"),
    ]

    private static let logOption = Arguments.Option.value(
        "--log",
        "FILE",
        "what is said is added to a file and not printed, but for why the phones cannot be served"
    )

    private static func pageLine(_ address: String) -> String { "page at \(TerminalText.escaped(address))" }

    // MARK: In the background

    /// Starts `serve` in a session of its own, and waits until it says that it serves, or why it does not.
    private static func start(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let log = Paths.absolute(arguments.value("--state") ?? Daemon.usualState()) + "/daemon.log"
        let said = Pipe()
        do {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            process.arguments = [program, "serve", "--log=\(log)", "--json"] + words
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = said
            try process.run()
        } catch {
            throw CommandFailure(.environment, "the daemon cannot be started: \(error.localizedDescription)")
        }
        let line = firstLine(said.fileHandleForReading)
        guard let answer = JSONValue(parsing: Array(line)) else {
            throw CommandFailure(.wrongState, "the daemon ended at once", hint: "see \(log)")
        }
        guard answer["ok"]?.bool == true else { throw CommandFailure(answer["error"]) }
        if arguments.has("--json") {
            print(String(decoding: line, as: UTF8.self))
        } else {
            print("serving \(answer["state"]?.string ?? "") at \(answer["socket"]?.string ?? "")")
            if let page = answer["page"]?.string { print(pageLine(page)) }
        }
        return .done
    }

    /// Without its end; what there is where the other end closes before.
    private static func firstLine(_ file: FileHandle) -> Data {
        var line = Data()
        while true {
            let more = file.availableData
            if let end = more.firstIndex(of: 0x0a) { return line + more[..<end] }
            if more.isEmpty { return line }
            line += more
        }
    }

    // MARK: In the foreground

    private static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options + [logOption])
        if let word = arguments.rest.first { throw CommandFailure(.usage, "'\(word)' is one word too many") }
        let state = Paths.absolute(arguments.value("--state") ?? Daemon.usualState())
        let socket = Paths.absolute(arguments.value("--socket") ?? Daemon.usualSocket(state: state))
        let log = arguments.value("--log").map { ServeLog(Paths.absolute($0), of: state) }
        let settings = Daemon.Settings(
            state: state,
            socket: socket,
            page: try arguments.value("--http").map(port),
            parse: { (words, scenario, out) throws(CommandFailure) in
                let arguments = try Arguments(words, options: LivePhoneVerbs.runOptions)
                if let word = arguments.rest.first { throw CommandFailure(.usage, "'\(word)' is no option of a phone") }
                var options = try RunCommand.options(arguments, scenario: scenario)
                (options.out, options.followsLatest) = (out, false)
                return options
            },
            ready: { page in
                log?.takeErrors()
                say(state, socket, page, asJSON: arguments.has("--json"), hasLog: log != nil)
            },
            note: { line in if let log { log.add(line) } else { Output.complain(line) } }
        )
        let daemon = try Daemon(settings)
        // Before the phones are this daemon's, the log may be another's.
        try log?.open()
        do throws(CommandFailure) { try daemon.run() } catch {
            // On stderr it is said as well, unless it goes to stdout.
            if arguments.has("--json") || log?.hasErrors == false { log?.add(error.line) }
            throw error
        }
        return .done
    }

    /// Says that the phones are served. On stderr the address of the page has been said.
    private static func say(_ state: String, _ socket: String, _ page: String?, asJSON: Bool, hasLog: Bool) {
        if asJSON {
            var members: [JSONValue.Member] = [
                .init("ok", .bool(true)), .init("schema", "wake.serve/1"), .init("pid", .integer(Int64(getpid()))),
                .init("state", state), .init("socket", socket),
            ]
            if let page { members.append(.init("page", page)) }
            print(String(decoding: JSONValue.object(members).encoded, as: UTF8.self))
        } else {
            print("serving \(state) at \(socket)")
            if hasLog, let page { print(pageLine(page)) }
        }
        fflush(nil)
    }

    private static func port(_ text: String) throws(CommandFailure) -> UInt16 {
        if text.isEmpty { return 0 }
        guard let port = UInt16(text) else {
            throw CommandFailure(
                .usage,
                "--http \(text): expected a port",
                hint: "0 to 65535, or none for any that is free"
            )
        }
        return port
    }
}

/// The file to which `serve --log` adds what it says.
private final class ServeLog {
    private let path: String
    /// The folder of the phones.
    private let state: String
    /// Negative before it is open.
    private var descriptor: Int32 = -1
    /// Whether what goes to stderr is added, too.
    private(set) var hasErrors = false

    init(_ path: String, of state: String) {
        (self.path, self.state) = (path, state)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Opens the file behind what it holds, or makes it for its owner alone.
    func open() throws(CommandFailure) {
        do throws(SystemError) {
            // A pipe in its place does not block, whether it is read or not.
            let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
            descriptor = try Descriptor.open(path, flags, mode: 0o600).release()
        } catch {
            let found =
                switch error.code {
                case EISDIR: "a folder, and no file"
                case ENXIO: "a pipe that is not read, or a socket, and no file"
                case ELOOP: "a symbolic link, which is not followed"
                default: "\(error.call): \(error.reason)"
                }
            // That of 'daemon start', which has no option for it.
            let isUsual = path == state + "/daemon.log"
            let hint = isUsual ? "remove it, or give another folder with --state" : "give another file with --log"
            throw CommandFailure(.environment, in: path, found, hint: hint)
        }
    }

    /// Adds a line, as far as there is space.
    func add(_ line: String) {
        if descriptor >= 0 { StandardStreams.complain(Output.complaint(line), on: descriptor) }
    }

    /// From now on what goes to stderr is added: it is read nowhere else.
    func takeErrors() { hasErrors = descriptor >= 0 && dup2(descriptor, STDERR_FILENO) >= 0 }
}

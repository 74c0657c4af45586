import Foundation
import WakeBench
import WakeJSON

/// `wakebench serve` and the verbs about the daemon itself.
enum ServeCommand {
    static let verbs: [WakebenchProgram.Verb] = [
        WakebenchProgram.Verb(
            "serve",
            "",
            "serve phones until interrupted: the daemon that the verbs of running phones speak to",
            run,
            options: options
        ),
        WakebenchProgram.Verb(
            "daemon start",
            "",
            "the same in the background: returns when the phones are served; what it says goes to daemon.log in their folder",
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
            return .done
        },
        LiveVerb.ask(
            "daemon stop",
            "",
            "end the daemon; its phones go on when it is started again",
            of: LiveCall.daemonOptions
        ) {
            call throws(CommandFailure) in
            _ = call.printed(try call.ask("stop"))
            // It is gone when it says no more.
            while try call.client.nextLine() != nil {}
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
    ]

    /// Starts `serve` in a session of its own, and waits until it says that it serves.
    private static func start(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let state = Paths.absolute(arguments.value("--state") ?? Daemon.usualState())
        let log = state + "/daemon.log"
        let said = Pipe()
        do {
            try FileManager.default.createDirectory(
                atPath: state,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            _ = FileManager.default.createFile(atPath: log, contents: nil, attributes: [.posixPermissions: 0o600])
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            process.arguments = [program, "serve"] + words
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = said
            process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
            try process.run()
        } catch {
            throw CommandFailure(.environment, "the daemon cannot be started: \(error.localizedDescription)")
        }
        let line = String(decoding: said.fileHandleForReading.availableData, as: UTF8.self)
        guard !line.isEmpty else {
            let why = (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n").last
            throw CommandFailure(
                .wrongState,
                "the daemon ended at once: \(why?.replacing("wakebench: ", with: "") ?? "see \(log)")"
            )
        }
        print(line, terminator: "")
        return .done
    }

    private static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        if let word = arguments.rest.first { throw CommandFailure(.usage, "'\(word)' is one word too many") }
        let state = Paths.absolute(arguments.value("--state") ?? Daemon.usualState())
        let socket = Paths.absolute(arguments.value("--socket") ?? Daemon.usualSocket(state: state))
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
            ready: {
                print("serving \(state) at \(socket)")
                fflush(nil)
            },
            note: { Output.complain($0) }
        )
        try Daemon(settings).run()
        return .done
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

import Foundation
import WakeBench
import WakeDevices
import WakeJSON
import WakeModel
import WakeReports

/// The verbs about whole phones.
enum LivePhoneVerbs {
    static let all: [WakebenchProgram.Verb] = [create, list] + power + copies + changes + [wait] + time + [step, tail]

    /// The options of a run that a phone can be made with.
    static let runOptions = RunCommand.options.filter { option in
        [
            "--backend", "--clock", "--freezer", "--memory-pressure", "--profile", "--set", "--seed", "--apps",
            "--patience",
            "--date", "--app-log",
        ].contains(option.name) || RunOptions.ofAreas.contains { $0.name == option.name && $0.name != "--capture" }
    }

    private static let create = LiveVerb.ask(
        "phone create",
        "NAME",
        "make a phone for the daemon, shut down; it goes by the machine's clock unless --clock virtual",
        options: [.value("--scenario", "FILE", "the apps, devices and settings that it begins with; default none")]
            + runOptions,
        of: LiveCall.daemonOptions
    ) { call throws(CommandFailure) in
        let names = Set(runOptions.map(\.name)).subtracting(["--apps"])
        let others = Set(call.arguments.names).subtracting(names)
        var options = call.arguments.words(without: others)
        options += (call.arguments.all("--apps") + RunCommand.defaultAppFolders).map { "--apps=\(Paths.absolute($0))" }
        var members: LiveCall.Members = [
            .init("phone", call.arguments.rest[0]), .init("options", .array(options.map { .string($0) })),
        ]
        if let file = call.arguments.value("--scenario") { members.append(.init("scenario", Paths.absolute(file))) }
        let answer = try call.ask("create", members)
        if !call.printed(answer) { print(answer["phone"]?["udid"]?.string ?? "") }
        return .done
    }

    private static let list = LiveVerb.ask("phone list", "", "list the daemon's phones", of: LiveCall.daemonOptions) {
        call throws(CommandFailure) in
        let answer = try call.ask("phones")
        if call.printed(answer) { return .done }
        let rows = (answer["phones"]?.array ?? []).map { phone in
            [
                phone["name"]?.string, phone["state"]?.string, phone["clock"]?.string, phone["profile"]?.string,
                phone["at"]?.string, phone["apps"]?.integer.map { "\($0)" }, phone["error"]?["message"]?.string,
            ].map { TerminalText.escaped($0 ?? "-") }
        }
        let head = ["NAME", "STATE", "CLOCK", "PROFILE", "AT", "APPS", "ERROR"]
        for line in TextTable.lines([head] + rows, width: Terminal.width) { print(line) }
        return .done
    }

    // MARK: On and off

    private static let power = [
        named("phone boot", "boot", "switch a phone on, from where it was shut down", note: "is booted already"),
        named("phone shutdown", "shutdown", "shut a phone down; its apps' processes end", note: "is shut down already"),
        named("phone erase", "erase", "bring a phone back to how it was made; it must be shut down"),
        named("phone delete", "delete", "remove a phone and its runs; it must be shut down"),
    ]

    /// A verb whose one word is a phone.
    private static func named(_ words: String, _ op: String, _ help: String, note: String? = nil)
        -> WakebenchProgram.Verb
    {
        LiveVerb.ask(
            words,
            "[NAME]",
            help,
            options: [.flag("--strict", "exit code 4 when there is nothing to do")]
        ) { call throws(CommandFailure) in
            let name = call.arguments.rest.first ?? call.phone
            let answer = try call.ask(op, [.init("phone", name)])
            if answer["already"]?.bool == true, let note {
                if call.arguments.has("--strict") { throw CommandFailure(.wrongState, "\(name) \(note)") }
                Output.complain("\(name) \(note)")
            }
            _ = call.printed(answer)
            return .done
        }
    }

    private static let copies = [
        LiveVerb.ask("phone clone", "NAME NEW", "copy a phone that is shut down, with its run") {
            call throws(CommandFailure) in
            let answer = try call.ask(
                "clone",
                [.init("phone", call.arguments.rest[0]), .init("to", call.arguments.rest[1])]
            )
            if !call.printed(answer) { print(answer["phone"]?["udid"]?.string ?? "") }
            return .done
        },
        LiveVerb.ask(
            "phone snapshot",
            "save|load|list|remove [NAME]",
            "keep a phone that is shut down as it is, or bring it back to how it was"
        ) { call throws(CommandFailure) in
            let action = try call.arguments.word(0, "action", of: ["save", "load", "list", "remove"])
            var members: LiveCall.Members = [.init("action", action)]
            if action != "list" {
                guard call.arguments.rest.count == 2 else { throw CommandFailure(.usage, "NAME is missing") }
                members.append(.init("name", call.arguments.rest[1]))
            }
            let answer = try call.askPhone("snapshot", members)
            guard !call.printed(answer), action == "list" else { return .done }
            for name in answer["snapshots"]?.array ?? [] { print(name.string ?? "") }
            return .done
        },
    ]

    // MARK: What happens to it

    private static func change(_ words: String, _ change: PhoneChange, _ help: String) -> WakebenchProgram.Verb {
        LiveVerb.step(words, "", help) { _ in [.init("phone", change.word)] }
    }

    private static let changes = [
        change("phone lock", .lock, "lock the phone"),
        change("phone unlock", .unlock, "unlock the phone"),
        change("phone reboot", .reboot, "reboot; the phone is locked until 'phone unlock'"),
        LiveVerb.step(
            "phone change",
            "CHANGE",
            "something else happens to the phone: " + PhoneChange.allCases.map(\.word).joined(separator: ", ")
        ) { arguments throws(CommandFailure) in
            [.init("phone", try arguments.word(0, "change", of: PhoneChange.allCases.map(\.word)))]
        },
        LiveVerb.step("power set", "WHAT on|off", "charger, low-power-mode, wifi or cellular") {
            arguments throws(CommandFailure) in
            let (on, off) = try state(arguments.word(0, "thing", of: states.map(\.key)))
            return [.init("phone", (try arguments.word(1, "state", of: ["on", "off"]) == "on" ? on : off).word)]
        },
        LiveVerb.step(
            "call",
            "begin|end",
            "a telephone call begins, or ends",
            options: [
                .value("--interruption", "END", "what apps hear of the end: resume, without-resume or never")
            ]
        ) { arguments throws(CommandFailure) in
            [.init("call", try arguments.word(0, "change", of: ["begin", "end"]))]
                + (arguments.value("--interruption").map { [.init("interruption", $0)] } ?? [])
        },
    ]

    private static let states: KeyValuePairs<String, (PhoneChange, PhoneChange)> = [
        "charger": (.chargerConnected, .chargerDisconnected), "low-power-mode": (.lowPowerModeOn, .lowPowerModeOff),
        "wifi": (.wifiJoined, .wifiLeft), "cellular": (.cellularOn, .cellularOff),
    ]

    private static func state(_ word: String) -> (PhoneChange, PhoneChange) { states.first { $0.key == word }!.value }

    private static let wait = LiveVerb.ask(
        "phone wait",
        "booted|idle",
        "wait until the phone is booted, or until no events or answers are pending",
        options: [.value("--timeout", "TIME", "the longest wait; default 10s. Exit code 6 when it is over")]
    ) { call throws(CommandFailure) in
        _ = try call.arguments.word(0, "condition", of: ["booted", "idle"])
        var members: LiveCall.Members = []
        if let text = call.arguments.value("--timeout") {
            members.append(.init("timeout", .number(try LiveCall.seconds(text))))
        }
        // A phone is booted once the daemon says so.
        _ = call.printed(try call.askPhone(call.arguments.rest[0] == "idle" ? "wait" : "apps", members))
        return .done
    }

    // MARK: Time

    private static let time = [
        LiveVerb.ask("time now", "", "say how far the phone's clock is") { call throws(CommandFailure) in
            let answer = try call.askPhone("apps")
            if !call.printed(answer) { print(answer["at"]?.string ?? "") }
            return .done
        },
        advance("time advance", "by", "let the clock of a virtual phone go on by so much, such as 8h") {
            $0.advanced(by: $1)
        },
        advance("time until", "to", "let the clock of a virtual phone go on to a time of its own, such as T+08:00:00") {
            max($0, Instant.zero.advanced(by: $1))
        },
    ]

    /// - Parameter said: the key of the time that is given, by which an `--id` knows the command again.
    private static func advance(
        _ words: String,
        _ said: String,
        _ help: String,
        _ target: @escaping @Sendable (Instant, Instant.Span) -> Instant
    ) -> WakebenchProgram.Verb {
        LiveVerb.ask(words, "TIME", help, of: LiveCall.commandOptions) { call throws(CommandFailure) in
            let text = call.arguments.rest[0]
            guard let span = DurationText.span(text) else {
                throw CommandFailure(.usage, "'\(text)' is no time", hint: "such as 30s, 8h or T+08:00:00")
            }
            let now = try call.askPhone("apps")["at"]?.string.flatMap(LogTime.instant) ?? .zero
            let instant = target(now, span)
            return try call.command(
                .init("advance", .integer(instant.nanoseconds)),
                .init(said, .integer(span.nanoseconds))
            )
        }
    }

    // MARK: Anything

    private static let step = LiveVerb.step(
        "event inject",
        "STEP",
        "carry out any step of a scenario, as JSON without a time: '{\"notify\": \"belt\", ...}'; - reads stdin"
    ) { arguments throws(CommandFailure) in
        let bytes =
            arguments.rest[0] == "-"
            ? Array(FileHandle.standardInput.readDataToEndOfFile()) : Array(arguments.rest[0].utf8)
        guard let value = JSONValue(parsing: bytes), case .object(let members) = value else {
            throw CommandFailure(.invalidFile, "the step is no JSON object")
        }
        // What the control socket takes has the step in it.
        if let key = members.first(where: { ["op", "command", "step"].contains($0.key) })?.key {
            throw CommandFailure(
                .invalidFile,
                "'\(key)' is of a request to the socket, and no step",
                hint: "give what is in its 'step' alone: '{\"notify\": \"belt\", ...}'"
            )
        }
        return members
    }

    private static let tail = LiveVerb.ask(
        "event tail",
        "",
        "print what happens to a phone, or with --all to every one, as it happens: NDJSON with a header, until interrupted",
        options: [
            .flag("--all", "of every phone"),
            .value("--after", "SEQ", "begin with the decisions after this one, as far as the log has them"),
        ]
    ) { call throws(CommandFailure) in
        var members: LiveCall.Members = [
            .init("op", "follow"), .init("phone", call.arguments.has("--all") ? "all" : call.phone),
        ]
        if let text = call.arguments.value("--after") {
            guard let number = UInt64(text) else {
                throw CommandFailure(.usage, "--after \(text): expected a whole number")
            }
            members.append(.init("after", .large(number)))
        }
        let header = try call.client.ask(members)
        var line: [UInt8]? = header.encoded
        while let next = line {
            print(String(decoding: next, as: UTF8.self))
            fflush(nil)
            line = try call.client.nextLine()
        }
        return .done
    }
}

/// Paths as another process can use them.
enum Paths {
    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}

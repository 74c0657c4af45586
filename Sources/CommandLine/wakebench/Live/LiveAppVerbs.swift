import WakeBench
import WakeJSON
import WakeModel
import WakeReports

/// The verbs about apps of a running phone.
enum LiveAppVerbs {
    static let all: [WakebenchProgram.Verb] =
        [install, list] + user + [terminate, debug, state, wait, canWakeVerb] + others

    private static let install = LiveVerb.ask(
        "app install",
        "NAME.app",
        "install an app on the running phone, or another version over it",
        of: LiveCall.commandOptions
    ) { call throws(CommandFailure) in
        let path = Paths.absolute(call.arguments.rest[0])
        return try call.command(.init("install", .object([.init("bundle", path)])))
    }

    private static let list = LiveVerb.ask("app list", "", "list the apps of the running phone, and how each stands") {
        call throws(CommandFailure) in
        let answer = try call.askPhone("apps")
        if call.printed(answer) { return .done }
        let rows = (answer["apps"]?.array ?? []).map { app in
            [
                app["name"]?.string, app["bundle"]?.string,
                app["installed"]?.bool == false ? "uninstalled" : app["state"]?.string,
                app["pid"]?.integer.map { $0 == 0 ? "-" : "\($0)" },
                app["window"]?.double.map { "\(($0 * 10).rounded() / 10) s" },
                app["last"].map {
                    "\($0["event"]?.string ?? "") \($0["verdict"]?.string ?? "") \($0["reason"]?.string ?? "")"
                },
            ].map { TerminalText.escaped($0 ?? "-") }
        }
        let head = ["NAME", "BUNDLE", "STATE", "PID", "LEFT", "LAST"]
        for line in TextTable.lines([head] + rows, width: Terminal.width) { print(line) }
        return .done
    }

    /// What the user does to an app, by the step's own word.
    private static let user = [
        acts("app launch", "launch", "the user opens an app"),
        acts("app home", "home", "the user leaves an app for the home screen"),
        acts("app force-quit", "force-quit", "the user swipes an app away: it is not woken until the user opens it"),
        acts("app uninstall", "uninstall", "the user removes an app"),
    ]

    private static func acts(_ words: String, _ step: String, _ help: String) -> WakebenchProgram.Verb {
        LiveVerb.step(words, "APP", help) { [.init(step, $0.rest[0])] }
    }

    private static let terminate = LiveVerb.step(
        "app terminate",
        "APP",
        "the system ends an app's process",
        options: [.value("--cause", "CAUSE", "memory, cpu, watchdog, policy, system, update or crash; default memory")]
    ) { arguments in
        [.init("terminate", arguments.rest[0])] + (arguments.value("--cause").map { [.init("cause", $0)] } ?? [])
    }

    private static let debug = LiveVerb.step(
        "app debug",
        "APP attached|exempting|detached",
        "a debugger is attached to an app, which keeps it from being suspended where it is exempting, or detached"
    ) { [.init("debug", $0.rest[0]), .init("debugger", $0.rest[1])] }

    private static let state = LiveVerb.ask("app state", "APP", "print the state of an app") {
        call throws(CommandFailure) in
        let answer = try call.askPhone("apps", [.init("app", call.arguments.rest[0])])
        if call.printed(answer) { return .done }
        for app in answer["apps"]?.array ?? [] { print(app["state"]?.string ?? "") }
        return .done
    }

    private static let wait = LiveVerb.ask(
        "app wait",
        "APP STATE",
        "wait until an app is in a state: " + AppState.allCases.map(\.word).joined(separator: ", "),
        options: [.value("--timeout", "TIME", "the longest wait; default 10s. Exit code 6 when it is over")]
    ) { call throws(CommandFailure) in
        var members: LiveCall.Members = [
            .init("app", call.arguments.rest[0]), .init("state", call.arguments.rest[1]),
        ]
        if let text = call.arguments.value("--timeout") {
            members.append(.init("timeout", .number(try LiveCall.seconds(text))))
        }
        _ = call.printed(try call.askPhone("wait", members))
        return .done
    }

    private static let canWakeVerb = LiveVerb.ask(
        "app can-wake",
        "APP [EVENT] [SUBJECT...]",
        "say whether an app of the running phone would wake if an event that it has had came again now, exit code 7 if not; "
            + "without EVENT which kinds there were"
    ) { call throws(CommandFailure) in try canWake(call) }

    /// Asks the phone that the command line names, and says what it answers.
    static func canWake(_ call: LiveCall) throws(CommandFailure) -> ExitCode {
        let words = call.arguments.rest.dropFirst().joined(separator: " ")
        var members: LiveCall.Members = [.init("app", call.arguments.rest[0])]
        if !words.isEmpty { members.append(.init("event", words)) }
        let answer = try call.askPhone("can-wake", members)
        let isGood = (answer["page"]?["ok"] ?? answer["wakes"])?.bool == true
        if !call.printed(answer["page"] ?? answer, isGood: isGood) {
            print(TextTable.prose(answer["text"]?.string ?? "", width: Terminal.width))
        }
        return isGood ? .done : .expectationFailed
    }

    // MARK: Tasks

    private static let others = [
        LiveVerb.step(
            "task run",
            "APP [ID]",
            "have the scheduler run a task, or without ID a background fetch, now (BGT-12)",
            options: [
                .flag("--satisfied", "as if all that it waits for were so"),
                .flag("--force", "whatever stands against it"),
            ]
        ) { arguments in
            var step: LiveCall.Members = [.init("simulate-launch", arguments.rest[0])]
            if arguments.rest.count == 2 { step.append(.init("task", arguments.rest[1])) }
            if arguments.has("--satisfied") { step.append(.init("strength", "allowed")) }
            if arguments.has("--force") { step.append(.init("strength", "regardless")) }
            return step
        },
        LiveVerb.step("task expire", "APP ID", "have the system end a task that runs (BGT-12)") {
            [.init("simulate-expiration", $0.rest[0]), .init("task", $0.rest[1])]
        },
        LiveVerb.step("notification tap", "APP ID", "the user taps a notification of an app") {
            [.init("tap", .object([.init("app", $0.rest[0]), .init("notification", $0.rest[1])]))]
        },
    ]
}

import WakeBench

/// `wakebench simctl`: the spellings of simctl, whose first word after the verb is the device.
enum SimctlCommand {
    static let verb = WakebenchProgram.Verb(
        "simctl",
        "VERB DEVICE...",
        "say it as to simctl: " + verbs.joined(separator: ", ") + "; 'booted' is a device",
        run
    )

    /// What a verb of simctl is here, where the device is a phone and the rest means the same.
    private static let spellings: KeyValuePairs<String, [String]> = [
        "boot": ["phone", "boot"], "shutdown": ["phone", "shutdown"], "erase": ["phone", "erase"],
        "delete": ["phone", "delete"], "list": ["phone", "list"], "create": ["phone", "create"],
        "clone": ["phone", "clone"], "bootstatus": ["phone", "wait", "booted"], "install": ["app", "install"],
        "uninstall": ["app", "uninstall"], "launch": ["app", "launch"], "terminate": ["app", "terminate"],
        "push": ["push", "send"],
    ]

    /// All that are known.
    private static var verbs: [String] { spellings.map(\.key) + others.map(\.key) }

    /// Verbs whose word is the phone itself.
    private static let ofPhones = ["boot", "shutdown", "erase", "delete", "create", "clone"]

    private static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let line = try line(words)
        let verb = try WakebenchProgram.find(line)
        return try verb.run(Array(line.dropFirst(verb.words.count)))
    }

    /// The same as a command line of wakebench's own.
    static func line(_ words: [String]) throws(CommandFailure) -> [String] {
        guard let verb = words.first else { throw CommandFailure(.usage, "VERB is missing", hint: "see 'help simctl'") }
        if verb == "list" { return ["phone", "list"] + words.dropFirst() }
        guard words.count > 1 else { throw CommandFailure(.usage, "DEVICE is missing", hint: "'booted' is one") }
        let (phone, rest) = (["--phone", words[1]], Array(words.dropFirst(2)))
        if let translate = others.first(where: { $0.key == verb })?.value { return try translate(rest) + phone }
        guard let own = spellings.first(where: { $0.key == verb })?.value else {
            throw CommandFailure(
                unknown: "verb '\(verb)' of simctl",
                known: verbs
            )
        }
        return ofPhones.contains(verb) ? own + words.dropFirst() : own + rest + phone
    }
}

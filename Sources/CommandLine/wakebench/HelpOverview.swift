import WakeReports

/// What `wakebench help` shows: the verbs by what they are for, a line or two each.
enum HelpOverview {
    /// Verbs of one purpose.
    struct Row {
        /// A verb with what follows it, or a noun with its verbs: `app new, bundle, verify`.
        var names: String
        var text: String

        init(_ names: String, _ text: String) { (self.names, self.text) = (names, text) }

        /// A noun with all of its verbs.
        init(noun: String, _ text: String = "") {
            let verbs = WakebenchProgram.verbs.filter { $0.words[0] == noun }
            self.init(
                "\(noun) " + verbs.map { $0.words.count > 1 ? $0.words[1] : $0.usage }.joined(separator: ", "),
                text
            )
        }
    }

    /// The column that texts begin in, and the width where there is no terminal.
    private static let (column, width) = (28, 100)

    static let groups: [(title: String, rows: [Row])] = [
        (
            "Play scenarios",
            [
                Row("run SCENARIO.yaml|FOLDER...", "play scenarios, and say which expectations were not met"),
                Row("scenario run, check", "the same as run; read a scenario, and say whether it is valid"),
                Row("shrink SCENARIO.yaml", "write the smallest scenario that still fails in the same way"),
            ]
        ),
        (
            "Explain a run",
            [
                Row("why APP [EVENT]", "say why an app was woken, or was not"),
                Row("can-wake APP [EVENT]", "say whether an app would wake if an event came again"),
                Row("app exits", "show when the processes of apps ended, and how"),
                Row("task list, history", "show which background tasks wait, and which ran, day by day"),
                Row("blame [RUN]", "show the energy use of each app"),
                Row("report [RUN [RUN]]", "write the page of a run, another form of it, or a page of two runs"),
                Row("log [RUN]", "print the decisions of a run, each in full"),
                Row("compare RUN RUN", "show where the verdicts of two runs differ, and the likely causes"),
                Row("rules [ID]", "list the rules, or show one with its sources"),
            ]
        ),
        (
            "Write an app",
            [Row("app new, bundle, verify", "write a small app; make a bundle of a program; check a bundle")]
        ),
        (
            "Devices and captures",
            [
                Row("import FILE...", "make a device file of captures"),
                Row(noun: "record", "record real hardware, and make a device file of it"),
                Row("device check, fuzz", "compare a device with Apple's guidelines; fuzz a real one"),
                Row("air DEVICE.yaml...", "play device files on the air"),
            ]
        ),
        (
            "Running phones",
            [
                Row("serve", "serve phones until interrupted: the daemon of the verbs below"),
                Row("daemon start, status, stop", "the same in the background"),
                Row("top", "show phones, apps, devices and events in a terminal"),
                Row("phone create, list, clone, erase, delete, snapshot", "make, copy and remove phones"),
                Row(
                    "phone boot, shutdown, reboot, lock, unlock, change, wait",
                    "change a phone, and wait for what comes of it"
                ),
                Row("time now, advance, until", "show the phone's clock, or move a virtual one"),
                Row("device list", "list the devices of the phone"),
                Row("event inject, tail", "carry out any step of a scenario; print what happens as NDJSON"),
                Row("simctl VERB", "the verbs of running phones as simctl spells them"),
            ]
        ),
        (
            "Apps of a running phone",
            [
                Row("app install, uninstall, list, state, wait, can-wake", "install apps, and ask about them"),
                Row("app launch, home, force-quit, terminate, debug", "what the user or the system does to an app"),
                Row("task run, expire", "run a background task now, or end one"),
                Row("notification tap", "the user taps a notification"),
                Row("perm set", "the user decides what an app may do"),
            ]
        ),
        (
            "This machine",
            [
                Row("doctor", "say what this machine can do, and what is missing"),
                Row("completion SHELL", "print completions for bash, zsh or fish"),
                Row("exit-codes", "list the exit codes"),
                Row("help [VERB]", "show this, or the options of a verb"),
            ]
        ),
    ]

    /// The nouns that no row names: those of the areas, whose verbs say what their devices do.
    private static var others: [Row] {
        let named = Set(groups.flatMap(\.rows).map { $0.names.prefix { $0 != " " } })
        var nouns: [String] = []
        for verb in WakebenchProgram.verbs
        where !named.contains(Substring(verb.words[0])) && nouns.last != verb.words[0] {
            nouns.append(verb.words[0])
        }
        return nouns.map { Row(noun: $0) }
    }

    private static func show(_ row: Row) {
        let width = Terminal.width ?? Self.width
        let space = column - row.names.count - 2
        if row.text.isEmpty || space < 2 {
            print(TextTable.prose("  \(row.names)", width: width, hanging: 6))
        }
        guard !row.text.isEmpty else { return }
        let head =
            space < 2 ? String(repeating: " ", count: column) : "  \(row.names)" + String(repeating: " ", count: space)
        print(TextTable.prose(head + row.text, width: width, hanging: column))
    }

    static func show() {
        Terminal.print("Wakebench decides, as iOS does, when an app may run, and says why.", hanging: 0)
        for group in groups {
            print("\n\(group.title)")
            group.rows.forEach(show)
        }
        print("\nDevices of a running phone")
        others.forEach(show)
        print()
        Terminal.print("wakebench help VERB shows the options of a verb; wakebench help NOUN its verbs.", hanging: 0)
    }
}

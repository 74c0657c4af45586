import WakeBench

extension RecordCommand {
    static let serialPorts = WakebenchProgram.Verb(
        "record accessory",
        "[TTY] -o DEVICE.yaml",
        "record an accessory on a tty, and what is said to it: a script of umockdev's, and a device file made of it",
        accessory,
        options: accessoryOptions
    )

    static let accessoryOptions: [Arguments.Option] =
        [
            out,
            .value(
                "--through",
                "LINK",
                "make a tty there that programs open in the place of the accessory's, and record what they say to it, too"
            ),
            baud(115_200),
            .value("--protocol", "NAME", "what apps call its protocol, such as com.example.log"),
            time,
        ] + closing

    /// What an accessory on a tty says, and what is said to it.
    static func accessory(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: accessoryOptions)
        let wish = try Wish(arguments)
        let path = try wish.source("TTY")
        let baud = try speed(arguments, usual: 115_200)
        let file = try wish.beside(".script")
        let dump = try wish.beside(".umockdev")
        _ = try ImportCommand.protocolName(arguments)
        let place = try StreamRecorder.accessory(path)
        let recorder = StreamRecorder(time: wish.time, follow: wish.follow, tell: wish.progress)
        let through = arguments.value("--through")
        let outcome = try wish.record(to: [file]) { () throws(CommandFailure) in
            try recorder.record(place, baud: baud, through: through, to: file)
        }
        guard outcome.bytes + outcome.written > 0 else { throw wish.failure(outcome.end, "nothing was said", [file]) }
        var files = [file]
        if let text = place.dump {
            try ImportCommand.write(text, to: dump)
            files.insert(dump, at: 0)
        }
        let page = Page(
            captures: files,
            end: word(outcome.end),
            seconds: seconds(outcome.time),
            counts: ["bytes read": outcome.bytes, "bytes written": outcome.written],
            device: place.node,
            notes: outcome.notes
        )
        return try tell(wish, try ImportCommand.accessory(of: files, arguments, to: wish.out), page, outcome.end)
    }
}

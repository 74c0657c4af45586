import WakeBench

extension RecordCommand {
    static func baud(_ usual: Int) -> Arguments.Option {
        .value("--baud", "N", "the tty's speed, from 4800 to 921600; default \(usual), and nothing to a tty on USB")
    }

    static func speed(_ arguments: Arguments, usual: Int) throws(CommandFailure) -> Int {
        guard let text = arguments.value("--baud") else { return usual }
        guard let baud = Int(text), StreamRecorder.speeds.contains(baud) else {
            let known = StreamRecorder.speeds.map(String.init).joined(separator: ", ")
            throw CommandFailure(.usage, "--baud \(text): no speed of a tty", hint: "expected one of \(known)")
        }
        return baud
    }
}

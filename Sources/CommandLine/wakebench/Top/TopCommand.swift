import WakeBench
import WakeJSON

/// `wakebench top`: the daemon's phones in a terminal, as they go on.
enum TopCommand {
    static let verb = WakebenchProgram.Verb(
        "top",
        "",
        "show the daemon's phones, their apps and devices and what happens to them, as it happens; keys do the commonest verbs",
        run,
        options: options
    )

    private static let options: [Arguments.Option] = [
        .value(
            "--phone",
            "NAME|UDID|booted",
            short: "-p",
            "the phone to begin with; default $WAKEBENCH_PHONE, or the first that is booted"
        ),
        .value("--socket", "PATH", "the daemon's control socket; default $WAKEBENCH_SOCKET or the usual place"),
        .flag("--once", "print how all stands now, and end"),
        .flag("--json", "print it as one JSON object, of all phones, and end"),
    ]

    private static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        try LiveVerb.check(arguments, "")
        if arguments.has("--json") || arguments.has("--once") { return try printOnce(LiveCall(arguments)) }
        let view = try TopView(
            socket: LiveCall.socket(arguments),
            phone: try begin(LiveCall(arguments)),
            colours: Terminal.isColoured
        )
        try view.run()
        return .done
    }

    /// The name of the phone that is asked for; nil where none is.
    private static func begin(_ call: LiveCall) throws(CommandFailure) -> String? {
        guard call.phone != "booted" else { return nil }
        let phones = try call.ask("phones")["phones"]?.array ?? []
        let found = phones.first { $0["name"]?.string == call.phone || $0["udid"]?.string == call.phone }
        guard let name = found?["name"]?.string else {
            throw CommandFailure(unknown: "phone '\(call.phone)'", known: phones.compactMap { $0["name"]?.string })
        }
        return name
    }

    private static func printOnce(_ call: LiveCall) throws(CommandFailure) -> ExitCode {
        let answer = try call.ask("phones")
        if call.arguments.has("--json") {
            var phones: [JSONValue] = []
            for phone in answer["phones"]?.array ?? [] { phones.append(try whole(phone, call)) }
            print(
                String(
                    decoding: JSONValue.object([
                        .init("schema", "wake.top/1"), .init("ok", .bool(true)), .init("phones", .array(phones)),
                    ]).encoded,
                    as: UTF8.self
                )
            )
            return .done
        }
        var model = TopModel(phone: try begin(call))
        model.take(phones: answer)
        if let phone = model.chosenPhone, phone.isBooted {
            model.take(apps: try call.ask("apps", [.init("phone", phone.name)]))
            model.take(devices: try call.ask("devices", [.init("phone", phone.name)]))
        }
        for line in TopPage.text(model) { print(line) }
        return .done
    }

    /// A phone with its apps and devices, where it is booted.
    private static func whole(_ phone: JSONValue, _ call: LiveCall) throws(CommandFailure) -> JSONValue {
        guard phone["state"]?.string == "booted", let name = phone["name"] else { return phone }
        let apps = try call.ask("apps", [.init("phone", name)])["apps"] ?? .array([])
        let devices = try call.ask("devices", [.init("phone", name)])["devices"] ?? .array([])
        return .object(phone.members + [.init("app_list", apps), .init("device_list", devices)])
    }
}

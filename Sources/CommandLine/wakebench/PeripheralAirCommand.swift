import Glibc
import WakeBench

/// `wakebench air`: device files as true Bluetooth devices on HCI transports, by the program Scripts/radio/air.
enum PeripheralAirCommand {
    static let verb = WakebenchProgram.Verb(
        "air",
        "DEVICE.yaml[=NAME]...",
        "play device files as true Bluetooth LE peripherals, centrals and beacons, on HCI transports or on linked controllers: a "
            + "phone, another bench or firmware sees them; lines on standard input are orders, such as notify 2A37 0048",
        run,
        options: options
    )

    private static let options: [Arguments.Option] = [
        .value(
            "--hci",
            "TRANSPORT",
            "the controller of a device, by its transport: usb:0, tcp-client:HOST:PORT or another of Bumble's; one for each "
                + "device, in their order"
        ),
        .value(
            "--link",
            "FOLDER|tcp:HOST:PORT",
            "linked controllers of its own: unix:FOLDER/0 is for the bench, FOLDER/1 and on are the devices'; or TCP ports from "
                + "PORT on in that order"
        ),
        .value("--strangers", "N", "with --link, so many controllers more, for other stacks; at most 200"),
        .value("--local-name", "NAME=TEXT", "the name of a device on the air, in place of the file's"),
        .value("--address", "NAME=ADDRESS", "the address of a device, in place of the file's"),
        .value("--bug", "NAME=BUG", "what a long value does that is written: hang:LENGTH, vanish:LENGTH or none"),
        .value("--fault", "NAME=FAULT", "a fault of a device that is armed from the beginning; may be given again"),
        .value("--capture", "NAME=FILE", "a btsnoop file of what goes between a device and its controller"),
        .value("--again", "SECONDS", "advertise and scan anew so often, for controllers that advertise once"),
        .flag("--no-security", "ask for no encryption, whatever a file says"),
        .value("--ready", "FD", "write a line there once all are on the air: a JSON object"),
        .value("--parent", "FD", "end when this pipe ends"),
    ]

    private static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        guard !arguments.rest.isEmpty || arguments.has("--strangers") else {
            throw CommandFailure(
                .usage,
                "DEVICE.yaml is missing",
                hint: "see wakebench air --help; controllers alone are made by --link with --strangers"
            )
        }
        guard let program = Installation.radio(.air) else {
            throw CommandFailure(.environment, RadioChoice.missing("air"))
        }
        // This program ignores them, and the next would go on ignoring them.
        signal(SIGPIPE, SIG_DFL)
        signal(SIGXFSZ, SIG_DFL)
        let texts = unsafe ([program] + words).map { unsafe strdup($0) } + [nil]
        unsafe execv(program, texts)
        let reason = unsafe String(cString: strerror(errno))
        throw CommandFailure(.environment, "\(program): \(reason)")
    }
}

import WakeBench
import WakeJSON

/// The verbs about accessories of a running phone.
extension LiveWorldVerbs {
    static let dockVerbs = [
        device("accessory attach", "attach", "DEVICE", "a simulated accessory is plugged in"),
        device("accessory detach", "detach", "DEVICE", "a simulated accessory is pulled"),
        LiveVerb.step(
            "accessory send",
            "DEVICE",
            "a simulated accessory sends bytes",
            options: [
                .value("--text", "TEXT", "the bytes of a text"), .value("--hex", "HEX", "bytes"),
                .value("--protocol", "NAME", "over the sessions of this protocol; default of any"),
            ]
        ) { arguments in
            var step: LiveCall.Members = [.init("send", arguments.rest[0])]
            for key in ["text", "hex", "protocol"] {
                if let text = arguments.value("--\(key)") { step.append(.init(key, text)) }
            }
            return step
        },
    ]
}

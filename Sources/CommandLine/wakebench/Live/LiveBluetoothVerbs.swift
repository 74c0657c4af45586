import WakeBench
import WakeJSON

/// The verbs about the radio of a running phone, and what is on it.
extension LiveWorldVerbs {
    static let radioVerbs = [
        LiveVerb.step(
            "ble notify",
            "DEVICE|APP CHARACTERISTIC HEX",
            "a simulated peripheral, or a scripted app that is one, notifies its subscribers of a value"
        ) { [.init("notify", $0.rest[0]), .init("characteristic", $0.rest[1]), .init("value", $0.rest[2])] },
        LiveVerb.step(
            "ble connect",
            "DEVICE [SERVICE]",
            "a simulated central looks for the service, or for what its script looks for first, and connects"
        ) { arguments in
            let service = arguments.rest.dropFirst().first.map { [JSONValue.Member("service", .string($0))] }
            return [.init("connect", arguments.rest[0])] + (service ?? [])
        },
        LiveVerb.step("ble read", "DEVICE CHARACTERISTIC", "a simulated central reads from what an app publishes") {
            [.init("read", $0.rest[0]), .init("characteristic", $0.rest[1])]
        },
        LiveVerb.step(
            "ble write",
            "DEVICE CHARACTERISTIC HEX",
            "a simulated central writes to what an app publishes",
            options: [.value("--how", "WAY", "request, command (no response) or prepared; default request")]
        ) { arguments in
            let how = arguments.value("--how").map { [JSONValue.Member("how", .string($0))] }
            return [
                .init("write", arguments.rest[0]), .init("characteristic", arguments.rest[1]),
                .init("value", arguments.rest[2]),
            ] + (how ?? [])
        },
        LiveVerb.step(
            "ble subscribe",
            "DEVICE CHARACTERISTIC",
            "a simulated central subscribes to values that an app notifies"
        ) { [.init("subscribe", $0.rest[0]), .init("characteristic", $0.rest[1])] },
        device("ble disconnect", "disconnect", "DEVICE", "a simulated peripheral or central drops its link"),
        device("ble in-range", "in-range", "DEVICE", "a simulated device comes into reach: what waits for it connects"),
        device("ble out-of-range", "out-of-range", "DEVICE", "a simulated device leaves the phone's reach"),
        LiveVerb.step("ble arm", "DEVICE FAULT", "a fault of a device's file is what it does next") {
            [.init("arm", $0.rest[0]), .init("fault", $0.rest[1])]
        },
        device(
            "ble forget-attributes",
            "forget-attributes",
            "DEVICE",
            "the phone forgets what it found on a peripheral (BTC-14)"
        ),
        LiveVerb.step("ble power", "on|off|off-in-control-centre", "the user switches Bluetooth") {
            [.init("bluetooth", $0.rest[0])]
        },
        LiveVerb.step(
            "ble set-up",
            "APP DEVICE",
            "the user sets a peripheral up for an app in the system's picker (BTC-8)"
        ) {
            [.init("set-up", $0.rest[0]), .init("device", $0.rest[1])]
        },
    ]
}

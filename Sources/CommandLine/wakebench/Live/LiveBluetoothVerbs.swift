import WakeBench
import WakeJSON

/// The verbs about the radio of a running phone, and what is on it.
extension LiveWorldVerbs {
    static let radioVerbs = [
        LiveVerb.step(
            "ble notify",
            "DEVICE CHARACTERISTIC HEX",
            "a simulated peripheral notifies a value to whoever has subscribed"
        ) { [.init("notify", $0.rest[0]), .init("characteristic", $0.rest[1]), .init("value", $0.rest[2])] },
        device("ble disconnect", "disconnect", "DEVICE", "a simulated peripheral drops its link"),
        device("ble in-range", "in-range", "DEVICE", "a simulated device comes into reach: what waits for it connects"),
        device("ble out-of-range", "out-of-range", "DEVICE", "a simulated device leaves the phone's reach"),
        LiveVerb.step("ble arm", "DEVICE FAULT", "a fault of a device's file is what it does next") {
            [.init("arm", $0.rest[0]), .init("fault", $0.rest[1])]
        },
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

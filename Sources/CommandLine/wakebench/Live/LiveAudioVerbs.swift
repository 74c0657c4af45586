import WakeBench
import WakeJSON

/// The verbs about sound on a running phone.
extension LiveWorldVerbs {
    static let soundVerbs = [
        device("audio plug", "plug", "DEVICE", "a sound device is plugged in"),
        device("audio unplug", "unplug", "DEVICE", "a sound device is plugged out"),
        LiveVerb.step(
            "audio sound",
            "APP play|stop|tone|silence",
            "what a scripted app does with its sound from now on"
        ) {
            [.init("sound", $0.rest[0]), .init("do", $0.rest[1])]
        },
    ]
}

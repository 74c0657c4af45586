import WakeDevices
import WakeModel
import WakePorts
import WakeSystem
import WakeVoIP

extension Run {
    /// The watch over VoIP sockets of a backend's word.
    static func voip(
        _ backend: String,
        _ scenario: Scenario,
        names: NameTable,
        seed: UInt64,
        loop: EventLoop,
        hasProcesses: Bool
    ) -> any VoIPPort {
        let servers = scenario.devices.compactMap { device in device.form.callServer.map { (device.name, $0) } }
        guard backend == "socket" else {
            return SimulatedVoIP(
                servers: servers,
                names: names,
                seed: seed,
                loop: loop,
                listens: hasProcesses
            )
        }
        return SocketVoIP(servers: servers, names: names, loop: loop)
    }

    /// The profile with what the scenario says of VoIP.
    static func profile(_ profile: Profile, _ settings: VoIPSettings) -> Profile {
        var profile = profile
        if settings.legacySockets == false { profile.legacyVoIP = false }
        if settings.wakeLimit == false { profile.voipWakeLimit = nil }
        return profile
    }
}

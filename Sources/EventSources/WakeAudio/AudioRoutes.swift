import WakeDevices
import WakeModel
import WakePorts

/// The sound devices of a scenario and the way of sound through them: the one plugged in last plays and hears, and the
/// phone itself when there is none.
package struct AudioRoutes {
    private let devices: [(name: String, device: AudioDevice)]
    /// Positions in `devices`, in the order in which they were plugged in.
    private var plugged: [Int] = []

    package init(devices: [(name: String, device: AudioDevice)]) {
        self.devices = devices
        plugged = devices.indices.filter { devices[$0].device.plugged }
    }

    package var route: AudioRoute {
        let output = plugged.last { devices[$0].device.output != nil }.map { devices[$0].device }
        let input = plugged.last { devices[$0].device.input != nil }.map { devices[$0].device }
        return AudioRoute(
            output: output.map { AudioRoute.End($0.output ?? .speaker, name: $0.name) } ?? AudioRoute.builtIn.output,
            input: input.map { AudioRoute.End($0.input ?? .builtInMicrophone, name: $0.name) }
                ?? AudioRoute.builtIn.input
        )
    }

    /// What the microphone in use hears.
    package var hears: AudioDevice.Sound {
        plugged.last { devices[$0].device.input != nil }.map { devices[$0].device.hears } ?? .silence
    }

    /// Whether a device is plugged in; false for one that is none of these.
    package func isPlugged(_ name: String) -> Bool { plugged.contains { devices[$0].name == name } }

    /// Plugs a device in or out. The route before, when it is another now.
    ///
    /// - Throws: ``SourceFailure`` when there is no such device.
    package mutating func plug(_ name: String, _ isPlugged: Bool) throws(SourceFailure) -> AudioRoute? {
        let place = try place(name)
        let before = route
        plugged.removeAll { $0 == place }
        if isPlugged { plugged.append(place) }
        return before == route ? nil : before
    }

    /// What is plugged in, and in which order.
    package mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&plugged)
        guard plugged.allSatisfy(devices.indices.contains) else { throw coder.fault }
    }

    /// What an armed fault of a device does.
    ///
    /// - Throws: ``SourceFailure`` when there is no such device or fault.
    package func effect(of fault: String, _ name: String) throws(SourceFailure) -> AudioDevice.Effect {
        let device = devices[try place(name)].device
        guard let found = device.faults.first(where: { $0.name == fault }) else {
            throw SourceFailure(.unknown, "\(name) has no fault '\(fault)'")
        }
        return found.effect
    }

    private func place(_ name: String) throws(SourceFailure) -> Int {
        guard let place = devices.firstIndex(where: { $0.name == name }) else {
            throw SourceFailure(.unknown, "no sound device is called '\(name)'")
        }
        return place
    }
}

import WakeBluetooth
import WakeExternalAccessory
import WakeModel
import WakePorts
import WakeSystem
import WakeVoIP

/// What hears whom in a run.
extension Run {
    static func channelKeeper(
        of bench: Bench,
        _ radio: any BluetoothCentralPort,
        loop: EventLoop
    ) -> ChannelKeeper {
        ChannelKeeper(
            loop: loop,
            names: bench.names,
            take: { radio.takeChannel($0) },
            report: { [unowned bench] in bench.submit($0) }
        )
    }

    /// Ties the sources and the apps to the bench.
    func connect() throws(CommandFailure) {
        bench.peripheralRole = sources.peripheralRole
        bench.location = sources.location
        bench.audio = sources.audio
        bench.voip = sources.voip
        scripted.pretend = { [audio] in audio.pretend($0, of: $1, at: $2) }
        bluetooth.note = { [recorder, unowned bench] in recorder.note($0, at: bench.now) }
        audio.note = { [recorder] app, text in recorder.note(.fault(text), of: app) }
        bench.listen(to: scripted)
        bench.add(driver)
        recorder.isLocked = { [unowned bench] in bench.router.isLocked }
        bench.add(recorder)
        if let processes { try connect(processes) }
        connectAccessories()
    }

    /// Says how much from the air there was no name for.
    func noteUnnamed() {
        let count = bluetooth.unnamed
        if count > 0 { recorder.note("Bluetooth: \(count) times there was no name for what came", at: reached) }
    }

    private func connect(_ processes: RealApps) throws(CommandFailure) {
        try processes.open(in: folder)
        bench.listen(to: processes.host)
        processes.host.surroundings = self
        if !realTime {
            bench.keeper?.tellRunning = { [unowned processes] app, manager in
                processes.host.channelHoldsBytes(of: app, manager: manager)
            }
            (bluetooth as? SimulatedBluetooth)?.table.written = { [weak bench] in bench?.keeper?.wrote(to: $0) }
            (voip as? SimulatedVoIP)?.tellRunning = { [unowned processes] app, socket in
                processes.host.socketHoldsBytes(of: app, socket: socket)
            }
        }
        notes += processes.notes
    }

    /// Ties the accessories to the bench, and their sessions to the apps.
    private func connectAccessories() {
        bench.accessory = accessory
        bench.sessionKeeper = ChannelKeeper(
            loop: loop,
            names: names,
            kind: .accessoryDataAvailable,
            take: { [accessory] in accessory.takeSession($0) },
            report: { [unowned bench] in bench.submit($0) }
        )
        scripted.visibleAccessories = { [unowned self] in accessories(of: $0) }
        scripted.wroteToSession = { [unowned self] in accessory.lookAtSessions(at: bench.now) }
        guard let processes, !realTime else { return }
        bench.sessionKeeper?.tellRunning = { [unowned processes] app, manager in
            processes.host.sessionHoldsBytes(of: app, session: manager)
        }
        (accessory as? SimulatedAccessories)?.written = { [weak bench] in bench?.sessionKeeper?.wrote(to: $0) }
    }
}

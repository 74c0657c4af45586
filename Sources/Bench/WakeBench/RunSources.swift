import WakeModel
import WakePorts
import WakeSystem
import WakeVoIP

/// Puts another radio before the one that a run made.
package typealias RadioWrap = (any BluetoothCentralPort, EventLoop) throws(SystemError) -> any BluetoothCentralPort

/// The sources of a run: the real or simulated ends that events come from.
struct RunSources {
    let bluetooth: any BluetoothCentralPort
    let peripheralRole: any BluetoothPeripheralPort
    let location: any LocationPort
    let audio: any AudioPort
    let accessory: any AccessoryPort
    let voip: any VoIPPort
    /// In the order in which they start.
    let all: [any SourcePort]

    init(_ maker: SourceMaker, wrap: RadioWrap?) throws(CommandFailure) {
        do throws(SystemError) {
            let radio = try maker.bluetooth()
            bluetooth = try wrap?(radio, maker.loop) ?? radio
            peripheralRole = try maker.peripheralRole(beside: radio)
            location = try maker.location()
            audio = try maker.audio()
            accessory = try maker.accessory(beside: radio)
            voip = maker.voip()
        } catch {
            throw CommandFailure(.internal, error.description)
        }
        all = [bluetooth, peripheralRole, location, audio, accessory, voip]
    }

    func start() throws(CommandFailure) {
        do throws(SourceFailure) {
            for source in all { try source.start(at: .zero) }
        } catch {
            throw CommandFailure(error.exitCode, error.message)
        }
    }

    /// The radio goes last: others may share its adapter.
    func stop() {
        audio.stop()
        accessory.stop()
        location.stop()
        voip.stop()
        peripheralRole.stop()
        bluetooth.stop()
    }

    /// The next instant at which one of them has something to do of its own.
    var nextDeadline: Instant {
        var next = Instant.distantFuture
        for source in all { if let other = source.nextDeadline { next = min(next, other) } }
        return next
    }

    func timeReached(_ now: Instant) {
        for source in all { source.timeReached(now) }
    }
}

extension SourceFailure {
    /// The exit code of a command that ends with it.
    var exitCode: ExitCode {
        switch kind {
        case .environment: .environment
        case .unknown: .invalidFile
        case .unsupported: .usage
        }
    }
}

import WakeBluetooth
import WakeModel
import WakePorts
import WakeSystem

/// Which radio is used without a run.
package struct RadioChoice: Sendable {
    /// The adapter's own address; nil for any.
    package var adapter: String?
    /// HCI transports, an adapter each, as Bumble names them; none for bluetoothd's adapters.
    package var transports: [String]
    /// The program that is org.bluez on such transports; nil where it is not installed.
    package var program: String?

    /// Why a program of Scripts/radio cannot be used where it is not found, and the remedy.
    package static func missing(_ program: String) -> String {
        "Scripts/radio/\(program) is not here; use a wakebench that was built in a clone, or name its folder Scripts/radio with "
            + "WAKEBENCH_RADIO"
    }

    package init(adapter: String? = nil, transports: [String] = [], program: String? = nil) {
        (self.adapter, self.transports, self.program) = (adapter, transports, program)
    }

    /// Does something with the adapter, which is followed for as long as that takes.
    ///
    /// - Parameters:
    ///   - stop: ends what is waited for.
    ///   - tell: takes what the start waits for, when that takes long.
    /// - Throws: ``LiveFailure``, and what `body` throws.
    func withAdapter<Result>(
        on loop: EventLoop,
        stop: StopFlag? = nil,
        tell: @escaping (String) -> Void,
        _ body: (LiveAdapter) throws -> Result
    ) throws -> Result {
        guard !transports.isEmpty else { return try body(LiveAdapter(address: adapter, on: loop, stop: stop)) }
        let bridge = try bridge(on: loop)
        do throws(SourceFailure) { try bridge.join(loop, tell: tell) } catch {
            throw bridge.isInterrupted ? LiveFailure.interrupted : .missing(error.message)
        }
        defer { bridge.leave(loop) }
        return try body(LiveAdapter(address: adapter, bus: bridge.address, of: .bridge, on: loop, stop: stop))
    }

    private func bridge(on loop: EventLoop) throws(LiveFailure) -> BluetoothBridge {
        guard let program else { throw .missing(BluetoothBridge.missingProgram) }
        do throws(SystemError) {
            return try BluetoothBridge(program: program, transports: transports, keys: nil, loop: loop)
        } catch {
            throw .missing("bluetooth=hci: \(error.description)")
        }
    }
}

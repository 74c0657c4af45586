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

    package init(adapter: String? = nil, transports: [String] = [], program: String? = nil) {
        (self.adapter, self.transports, self.program) = (adapter, transports, program)
    }

    /// Where org.bluez is.
    ///
    /// - Parameter tell: hears what is waited for, when that takes long.
    /// - Returns: the bus, which lasts as long as what else is returned; that is nil for bluetoothd's own.
    /// - Throws: ``LiveFailure/missing(_:)``.
    func open(
        on loop: EventLoop,
        tell: @escaping (String) -> Void
    ) throws(LiveFailure) -> (bus: BlueZBus, bridge: BluetoothBridge.Started?) {
        guard !transports.isEmpty else { return (.system, nil) }
        guard let program else { throw .missing(BluetoothBridge.missingProgram) }
        do {
            let bridge = try BluetoothBridge(
                program: program,
                transports: transports,
                keys: nil,
                loop: loop,
                tell: tell
            )
            return (bridge.address, try .init(bridge))
        } catch let failure as SourceFailure {
            throw .missing(failure.message)
        } catch {
            throw .missing("\(error)")
        }
    }
}

extension BluetoothBridge {
    /// One that ends when nothing holds it any more.
    final class Started {
        private let bridge: BluetoothBridge

        init(_ bridge: BluetoothBridge) throws(SourceFailure) {
            self.bridge = bridge
            try bridge.start(at: .zero)
        }

        deinit { bridge.stop() }
    }
}

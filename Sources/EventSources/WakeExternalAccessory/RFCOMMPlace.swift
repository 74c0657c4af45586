import WakeBlueZ
import WakeDevices
import WakeModel
import WakeSystem

/// An accessory of the scenario that is to be found over Bluetooth.
package final class RFCOMMPlace: AccessoryPlace {
    /// A session whose channel is being opened.
    struct Waiting {
        var number: AccessorySession
        var subject: LinkedSessions.Subject
        /// Of its protocol.
        var index: Int
        var timer: Timer?
    }

    package let name: String
    package let description: ExternalAccessory
    let device: BlueZDeviceID
    /// For each protocol its service, in BlueZ's spelling.
    let profiles: [String]
    /// The channel of the first protocol while no session has it.
    var carrier: SocketLink? {
        didSet {
            carrierWatch?.cancel()
            carrierWatch = nil
        }
    }
    var carrierWatch: Watch?
    package var connection: AccessoryConnection?
    var waiting: [Waiting] = []
    /// The sessions that are open.
    var open: Set<AccessorySession> = []
    /// Ends its being there when its channel is not open again in time.
    var absence: Timer?

    /// Nil for an accessory that is not on Bluetooth.
    init?(name: String, _ description: ExternalAccessory) {
        guard let address = description.addressText else { return nil }
        self.name = name
        self.description = description
        device = BlueZDeviceID(address: address, isRandom: false)
        profiles = description.protocols.compactMap { one in
            guard case .rfcomm(let service, _) = one.link else { return nil }
            return BluetoothUUID.long(service).lowercased()
        }
    }

    func stopWaiting(for index: Int) -> Waiting? {
        waiting.firstIndex { $0.index == index }.map { waiting.remove(at: $0) }
    }

    func isConcerned(with number: AccessorySession) -> Bool {
        open.contains(number) || waiting.contains { $0.number == number }
    }
}

import Foundation
import WakeClient
import WakeModel
import WakeWire

/// The connection of an accessory that has none.
public let EAConnectionIDNone = 0

/// Hears when an accessory is gone.
public protocol EAAccessoryDelegate: NSObjectProtocol {
    /// The accessory is not connected any more.
    func accessoryDidDisconnect(_ accessory: EAAccessory)
}

extension EAAccessoryDelegate {
    /// Most only close their session, which ends by itself.
    public func accessoryDidDisconnect(_ accessory: EAAccessory) {}
}

/// An accessory that is, or was, connected to the phone, and offers a protocol that the app lists.
open class EAAccessory: NSObject, @unchecked Sendable {
    private let wire: Accessory
    private let lock = NSLock()
    private var isThere = true
    private weak var heldDelegate: (any EAAccessoryDelegate)?

    init(_ wire: Accessory) {
        self.wire = wire
        super.init()
    }

    /// Whether it is connected now.
    open var isConnected: Bool { lock.withLock { isThere } }
    /// The number of this connection; an accessory that comes back has another.
    open var connectionID: Int { Int(wire.connection) }
    /// Who made it.
    open var manufacturer: String { wire.manufacturer }
    /// What it calls itself.
    open var name: String { wire.name }
    /// Its model.
    open var modelNumber: String { wire.model }
    /// Its serial number.
    open var serialNumber: String { wire.serialNumber }
    /// The version of its firmware.
    open var firmwareRevision: String { wire.firmwareRevision }
    /// The version of its hardware.
    open var hardwareRevision: String { wire.hardwareRevision }
    /// What kind of dock it is; empty, as on any iOS since 9.
    open var dockType: String { "" }
    /// The protocols it offers.
    open var protocolStrings: [String] { wire.protocols }

    /// Who hears when it is gone, on the main queue.
    open weak var delegate: (any EAAccessoryDelegate)? {
        get { lock.withLock { heldDelegate } }
        set { lock.withLock { heldDelegate = newValue } }
    }

    open override var description: String {
        "<EAAccessory connectionID=\(connectionID) name=\(name) protocolStrings=\(protocolStrings)>"
    }

    func disconnect() {
        lock.withLock { isThere = false }
        delegate?.accessoryDidDisconnect(self)
    }
}

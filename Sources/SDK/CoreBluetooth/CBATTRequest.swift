import Foundation
import WakeWire

/// A central that speaks to the app's services.
open class CBCentral: CBPeer {
    private let lock = NSLock()
    private var storedLength: Int

    init(identifier: UUID, maximumUpdateValueLength: Int) {
        storedLength = maximumUpdateValueLength
        super.init(identifier: identifier)
    }

    /// The longest value that one notification or indication to it carries, in bytes.
    open internal(set) var maximumUpdateValueLength: Int {
        get { lock.withLock { storedLength } }
        set { lock.withLock { storedLength = newValue } }
    }

    /// Whether the other is a central with the same identifier.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CBCentral)?.identifier == identifier
    }

    /// The same for centrals with the same identifier.
    open override var hash: Int {
        identifier.hashValue
    }
}

/// A central's wish to read or write a value, which it waits for the answer to.
open class CBATTRequest: NSObject {
    let number: UInt32
    /// Whether the answer carries a value.
    let isRead: Bool
    /// Who asks.
    open private(set) var central: CBCentral
    /// Whose value it is about.
    open private(set) var characteristic: CBCharacteristic
    /// Where in the value it begins, in bytes.
    open private(set) var offset: Int

    /// What is written, or, to be set before a read is answered, what is read from ``offset`` on.
    open var value: Data?

    init(
        number: UInt32,
        central: CBCentral,
        characteristic: CBMutableCharacteristic,
        offset: Int,
        value: Data?
    ) {
        self.number = number
        self.value = value
        isRead = value == nil
        self.central = central
        self.characteristic = characteristic
        self.offset = offset
        super.init()
    }
}

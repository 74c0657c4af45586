import Foundation

/// A call as it was at a moment.
open class CXCall: NSObject, @unchecked Sendable {
    /// Its name.
    public let uuid: UUID
    /// Whether it was made here.
    public let isOutgoing: Bool
    /// Whether it is held.
    public let isOnHold: Bool
    /// Whether both ends can speak with each other, or could.
    public let hasConnected: Bool
    /// Whether it is over.
    public let hasEnded: Bool

    init(_ call: Calls.Call, hasEnded: Bool) {
        uuid = call.uuid
        isOutgoing = call.isOutgoing
        isOnHold = call.isOnHold
        hasConnected = call.hasConnected
        self.hasEnded = hasEnded
        super.init()
    }

    /// Whether another one is the same call, as it was at the same moment.
    open func isEqual(to call: CXCall) -> Bool {
        uuid == call.uuid && isOutgoing == call.isOutgoing && isOnHold == call.isOnHold
            && hasConnected == call.hasConnected && hasEnded == call.hasEnded
    }

    open override func isEqual(_ object: Any?) -> Bool { (object as? CXCall).map(isEqual(to:)) ?? false }

    open override var hash: Int { uuid.hashValue }
}

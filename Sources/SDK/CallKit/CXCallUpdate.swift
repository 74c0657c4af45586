import Foundation

/// Whom a call is with.
open class CXHandle: NSObject, NSCopying, @unchecked Sendable {
    /// What a handle is.
    public enum HandleType: Int, Sendable {
        /// A name of the app's own.
        case generic = 1
        /// A phone number.
        case phoneNumber = 2
        /// An address of electronic mail.
        case emailAddress = 3
    }

    /// What it is.
    public let type: HandleType
    /// The name, number or address.
    public let value: String

    /// A handle.
    public init(type: HandleType, value: String) {
        self.type = type
        self.value = value
        super.init()
    }

    /// The same handle.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CXHandle else { return false }
        return other.type == type && other.value == value
    }

    open override var hash: Int { value.hashValue }
}

/// What is known of a call; noted with the call, nothing else.
open class CXCallUpdate: NSObject, NSCopying, @unchecked Sendable {
    /// Whom it is with.
    open var remoteHandle: CXHandle?
    /// The name that the user would read.
    open var localizedCallerName: String?
    /// Whether it can be held.
    open var supportsHolding = true
    /// Whether it can be put together with others.
    open var supportsGrouping = true
    /// Whether it can be taken out of a group.
    open var supportsUngrouping = true
    /// Whether it takes tones.
    open var supportsDTMF = true
    /// Whether it has pictures.
    open var hasVideo = false

    /// What is known of a call: nothing yet.
    public override init() { super.init() }

    /// The same again, to be changed by itself.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = CXCallUpdate()
        copy.remoteHandle = remoteHandle
        copy.localizedCallerName = localizedCallerName
        copy.supportsHolding = supportsHolding
        copy.supportsGrouping = supportsGrouping
        copy.supportsUngrouping = supportsUngrouping
        copy.supportsDTMF = supportsDTMF
        copy.hasVideo = hasVideo
        return copy
    }

    open override func copy() -> Any { copy(with: nil) }
}

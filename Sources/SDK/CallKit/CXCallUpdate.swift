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

/// What has become known of a call: what is set here, and nothing of the rest.
open class CXCallUpdate: NSObject, NSCopying, @unchecked Sendable {
    private var holding: Bool?
    private var grouping: Bool?
    private var ungrouping: Bool?
    private var tones: Bool?
    private var pictures: Bool?

    /// Whom it is with.
    open var remoteHandle: CXHandle?
    /// The name that the user would read.
    open var localizedCallerName: String?

    /// Whether it can be held: one that cannot is ended in place of that.
    open var supportsHolding: Bool {
        get { holding ?? true }
        set { holding = newValue }
    }

    /// Whether it can be put together with others.
    open var supportsGrouping: Bool {
        get { grouping ?? true }
        set { grouping = newValue }
    }

    /// Whether it can be taken out of a group.
    open var supportsUngrouping: Bool {
        get { ungrouping ?? true }
        set { ungrouping = newValue }
    }

    /// Whether it takes tones.
    open var supportsDTMF: Bool {
        get { tones ?? true }
        set { tones = newValue }
    }

    /// Whether it has pictures.
    open var hasVideo: Bool {
        get { pictures ?? false }
        set { pictures = newValue }
    }

    /// What is known of a call: nothing yet.
    public override init() { super.init() }

    /// The same again, to be changed by itself.
    public func copy(with zone: NSZone? = nil) -> Any { filled(from: CXCallUpdate()) }

    open override func copy() -> Any { copy(with: nil) }

    /// Another one with the same, and with what an older one has where this one has nothing.
    func filled(from older: CXCallUpdate) -> CXCallUpdate {
        let all = CXCallUpdate()
        all.remoteHandle = remoteHandle ?? older.remoteHandle
        all.localizedCallerName = localizedCallerName ?? older.localizedCallerName
        all.holding = holding ?? older.holding
        all.grouping = grouping ?? older.grouping
        all.ungrouping = ungrouping ?? older.ungrouping
        all.tones = tones ?? older.tones
        all.pictures = pictures ?? older.pictures
        return all
    }
}

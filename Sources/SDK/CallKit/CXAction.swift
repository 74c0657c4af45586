import Foundation

/// Something that is to be done with the app's calls.
open class CXAction: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private var isDone = false
    /// Its own name.
    public let uuid: UUID

    /// An action.
    public override init() {
        uuid = UUID()
        super.init()
    }

    /// Whether it was carried out, or failed.
    open var isComplete: Bool { lock.withLock { isDone } }

    /// It was carried out.
    open func fulfill() {
        if end() { haveDone() }
    }

    /// It cannot be carried out.
    open func fail() { _ = end() }

    private func end() -> Bool {
        lock.withLock {
            defer { isDone = true }
            return !isDone
        }
    }

    /// What comes of it.
    func haveDone() {}
}

/// Something that is to be done with one call.
open class CXCallAction: CXAction, @unchecked Sendable {
    /// The call.
    public let callUUID: UUID

    /// An action on a call.
    public init(call callUUID: UUID) {
        self.callUUID = callUUID
        super.init()
    }
}

/// A call is to be answered.
open class CXAnswerCallAction: CXCallAction, @unchecked Sendable {
    override func haveDone() { Calls.answer(callUUID) }
}

/// A call is to be ended.
open class CXEndCallAction: CXCallAction, @unchecked Sendable {
    override func haveDone() { Calls.end(callUUID) }
}

/// Actions that belong together.
open class CXTransaction: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private var heldActions: [CXAction]
    /// Its own name.
    public let uuid = UUID()

    /// A transaction.
    public init(actions: [CXAction]) {
        heldActions = actions
        super.init()
    }

    /// A transaction of one action.
    public convenience init(action: CXAction) { self.init(actions: [action]) }

    /// A transaction without actions.
    public convenience override init() { self.init(actions: []) }

    /// What is to be done, in this order.
    open var actions: [CXAction] { lock.withLock { heldActions } }

    /// Whether all of it is done.
    open var isComplete: Bool { actions.allSatisfy(\.isComplete) }

    /// Adds an action.
    open func addAction(_ action: CXAction) { lock.withLock { heldActions.append(action) } }
}

import Foundation

/// Something that is to be done with the app's calls.
///
/// Who performs it fulfills it, or lets it fail, before its time is over.
open class CXAction: NSObject, @unchecked Sendable {
    /// Seconds that an action may take. Apple's documents give no figure; a minute is what was seen on a phone.
    static let patience: TimeInterval = 60

    private let lock = NSLock()
    private var isDone = false
    private var deadline = Date(timeIntervalSinceNow: CXAction.patience)
    private var timer: (any DispatchSourceTimer)?
    private var afterwards: (@Sendable () -> Void)?
    /// Its own name.
    public let uuid: UUID

    /// An action.
    public override init() {
        uuid = UUID()
        super.init()
    }

    /// Whether it was carried out, has failed, or is out of time.
    open var isComplete: Bool { lock.withLock { isDone } }

    /// When it is out of time: it cannot be completed then any more.
    open var timeoutDate: Date { lock.withLock { deadline } }

    /// It was carried out.
    open func fulfill() { _ = end(haveDone) }

    /// It cannot be carried out.
    open func fail() { _ = end(haveFailed) }

    /// Completes it, once.
    private func end(_ consequence: () -> Void) -> Bool {
        let (isFirst, then) = lock.withLock { () -> (Bool, (@Sendable () -> Void)?) in
            guard !isDone else { return (false, nil) }
            isDone = true
            timer?.cancel()
            timer = nil
            defer { afterwards = nil }
            return (true, afterwards)
        }
        guard isFirst else { return false }
        consequence()
        then?()
        return true
    }

    /// Its time begins. Once that is over the action is complete, and the handler is called on the queue.
    func begin(for seconds: TimeInterval, on queue: DispatchQueue, late: @escaping @Sendable () -> Void) {
        lock.withLock {
            guard !isDone else { return }
            deadline = Date(timeIntervalSinceNow: seconds)
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + seconds)
            // Nobody else need hold it meanwhile; whatever completes it ends the timer.
            timer.setEventHandler { if self.end(self.haveTimedOut) { late() } }
            timer.resume()
            self.timer = timer
        }
    }

    /// Calls the handler as soon as the action is complete.
    func whenEnded(_ then: @escaping @Sendable () -> Void) {
        let isOver = lock.withLock { () -> Bool in
            if !isDone { afterwards = then }
            return isDone
        }
        if isOver { then() }
    }

    /// What comes of it.
    func haveDone() {}

    /// What comes of its failure.
    func haveFailed() {}

    /// What comes of its taking too long.
    func haveTimedOut() {}
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

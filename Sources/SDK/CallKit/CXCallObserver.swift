import Foundation

/// Hears how the calls of the phone stand: those of this app, for it knows of no other app's.
open class CXCallObserver: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private weak var delegate: (any CXCallObserverDelegate)?
    private var queue = DispatchQueue.main

    /// An observer without a delegate.
    public override init() {
        super.init()
        Calls.add(self)
    }

    /// The calls that are not over, oldest first.
    open var calls: [CXCall] { Calls.list }

    /// Says who hears of changes, and on which queue; nil for the main queue.
    open func setDelegate(_ delegate: (any CXCallObserverDelegate)?, queue: DispatchQueue?) {
        lock.withLock {
            self.delegate = delegate
            self.queue = queue ?? .main
        }
    }

    func tell(_ call: CXCall) {
        lock.withLock { queue }.async { [self] in
            lock.withLock { delegate }?.callObserver(self, callChanged: call)
        }
    }
}

/// Hears how calls change.
public protocol CXCallObserverDelegate: NSObjectProtocol {
    /// A call is new, or stands otherwise than before.
    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall)
}

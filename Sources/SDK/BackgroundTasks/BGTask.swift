import Foundation
import WakeClient
import WakeWire

/// What an app is run for. The app says when it is done with it: who says nothing until the time is over is ended (BGT-8).
open class BGTask: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private var handler: (() -> Void)?
    private var isCompleted = false
    private let number: UInt32

    /// The name by which it was asked for.
    public let identifier: String

    /// Called shortly before the time is over, or earlier, on a queue of the system's; it is to end the work and to call
    /// ``setTaskCompleted(success:)``.
    ///
    /// A task without one is taken for completed, and failed, in its place. It is nil again once it was called, or the task completed.
    open var expirationHandler: (() -> Void)? {
        get { lock.withLock { handler } }
        set { lock.withLock { if !isCompleted { handler = newValue } } }
    }

    init(_ identifier: String, number: UInt32) {
        self.identifier = identifier
        self.number = number
        super.init()
    }

    /// Says that the work is done, once; the app may be suspended from then on.
    ///
    /// - Parameter success: Whether it succeeded; a failed task is not tried again by itself.
    open func setTaskCompleted(success: Bool) {
        let isFirst = lock.withLock {
            defer { (isCompleted, handler) = (true, nil) }
            return !isCompleted
        }
        guard isFirst else { return }
        BGTaskScheduler.shared.forget(self)
        BenchClient.shared.send(.backgroundTask(.completed(number: number, success: success)))
    }

    /// Its time is nearly over.
    func expire() {
        guard let handler = expirationHandler else { return setTaskCompleted(success: false) }
        handler()
        lock.withLock { self.handler = nil }
    }
}

/// A short time in the background, to refresh what the app shows (BGT-6).
open class BGAppRefreshTask: BGTask, @unchecked Sendable {}

/// Minutes in the background while nobody uses the phone (BGT-7).
open class BGProcessingTask: BGTask, @unchecked Sendable {}

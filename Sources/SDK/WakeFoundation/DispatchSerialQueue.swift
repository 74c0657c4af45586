import Dispatch

/// A queue that does one thing at a time, which can be the executor of an actor.
///
/// Linux's Dispatch has one class for all queues, and lets nobody make another: so any queue is one here. An actor on a
/// concurrent queue, which a phone's compiler refuses, is not kept from running twice at a time.
public typealias DispatchSerialQueue = DispatchQueue

extension DispatchQueue: @retroactive Executor, @retroactive SerialExecutor {
    /// Does a job of an actor's on the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Ends the process where the caller does not run on the queue.
    public func checkIsolated() { dispatchPrecondition(condition: .onQueue(self)) }
}

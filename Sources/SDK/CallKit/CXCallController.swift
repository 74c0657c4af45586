import Foundation

/// Asks for something to be done with the app's calls.
///
/// The phone checks that there are such calls, and has their provider's delegate do it.
open class CXCallController: NSObject, @unchecked Sendable {
    private let queue: DispatchQueue

    /// Hears how the calls stand.
    public let callObserver = CXCallObserver()

    /// A controller whose handlers are called on the main queue.
    public convenience override init() { self.init(queue: .main) }

    /// A controller.
    ///
    /// - Parameter queue: On which its handlers are called.
    public init(queue: DispatchQueue) {
        self.queue = queue
        super.init()
    }

    /// Asks for a transaction. The handler gets a ``CXErrorCodeRequestTransactionError`` when nothing of it will be done.
    @preconcurrency
    open func request(_ transaction: CXTransaction, completion: @escaping @Sendable ((any Error)?) -> Void) {
        let error = perform(transaction)
        queue.async { completion(error) }
    }

    /// Asks for a transaction.
    ///
    /// - Throws: ``CXErrorCodeRequestTransactionError`` when nothing of it will be done.
    open func request(_ transaction: CXTransaction) async throws {
        if let error = perform(transaction) { throw error }
    }

    /// Asks for actions. The handler gets a ``CXErrorCodeRequestTransactionError`` when none of them will be done.
    @preconcurrency
    open func requestTransaction(
        with actions: [CXAction],
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        request(CXTransaction(actions: actions), completion: completion)
    }

    /// Asks for actions.
    ///
    /// - Throws: ``CXErrorCodeRequestTransactionError`` when none of them will be done.
    open func requestTransaction(with actions: [CXAction]) async throws {
        try await request(CXTransaction(actions: actions))
    }

    /// Asks for an action. The handler gets a ``CXErrorCodeRequestTransactionError`` when it will not be done.
    @preconcurrency
    open func requestTransaction(with action: CXAction, completion: @escaping @Sendable ((any Error)?) -> Void) {
        request(CXTransaction(action: action), completion: completion)
    }

    /// Asks for an action.
    ///
    /// - Throws: ``CXErrorCodeRequestTransactionError`` when it will not be done.
    open func requestTransaction(with action: CXAction) async throws {
        try await request(CXTransaction(action: action))
    }

    private func perform(_ transaction: CXTransaction) -> CXErrorCodeRequestTransactionError? {
        switch Calls.take(transaction.actions) {
        case .failure(let error): return error
        case .success(let taken):
            let all: [CXAction] = taken.before + transaction.actions
            taken.provider.perform(taken.before.isEmpty ? transaction : CXTransaction(actions: all))
            return nil
        }
    }
}

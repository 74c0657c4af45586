import Foundation

/// Asks for something to be done with the app's calls.
///
/// The phone checks that there are such calls, and has their provider's delegate do it.
open class CXCallController: NSObject, @unchecked Sendable {
    private let queue: DispatchQueue

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
    open func requestTransaction(
        with actions: [CXAction],
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        request(CXTransaction(actions: actions), completion: completion)
    }

    /// Asks for an action. The handler gets a ``CXErrorCodeRequestTransactionError`` when it will not be done.
    open func requestTransaction(with action: CXAction, completion: @escaping @Sendable ((any Error)?) -> Void) {
        request(CXTransaction(action: action), completion: completion)
    }

    private func perform(_ transaction: CXTransaction) -> CXErrorCodeRequestTransactionError? {
        let actions = transaction.actions
        guard !actions.isEmpty else { return .init(.emptyTransaction) }
        var providers: [CXProvider] = []
        for action in actions {
            guard let action = action as? CXCallAction else { return .init(.invalidAction) }
            switch Calls.provider(for: action) {
            case .success(let provider): if !providers.contains(provider) { providers.append(provider) }
            case .failure(let error): return error
            }
        }
        guard providers.count == 1 else { return .init(.unknownCallProvider) }
        providers[0].later { delegate, provider in
            guard !delegate.provider(provider, execute: transaction) else { return }
            for action in actions {
                switch action {
                case let action as CXAnswerCallAction: delegate.provider(provider, perform: action)
                case let action as CXEndCallAction: delegate.provider(provider, perform: action)
                default: action.fail()
                }
            }
        }
        return nil
    }
}

import Foundation
import Synchronization

/// The calls of this process, as the phone has them.
enum Calls {
    private struct Call {
        let provider: ObjectIdentifier
        var update: CXCallUpdate
        var isAnswered = false
        weak var owner: CXProvider?
    }

    private static let all = Mutex<[UUID: Call]>([:])

    /// - Returns: whether there was none of that name.
    static func add(_ call: UUID, _ update: CXCallUpdate, of provider: CXProvider) -> Bool {
        let known = Call(provider: ObjectIdentifier(provider), update: copied(update), owner: provider)
        return all.withLock { all in
            guard all[call] == nil else { return false }
            all[call] = known
            return true
        }
    }

    static func update(_ call: UUID, _ update: CXCallUpdate) {
        let update = copied(update)
        all.withLock { $0[call]?.update = update }
    }

    static func end(_ call: UUID) { all.withLock { _ = $0.removeValue(forKey: call) } }

    static func endAll(of provider: CXProvider) {
        let number = ObjectIdentifier(provider)
        all.withLock { all in all = all.filter { $0.value.provider != number } }
    }

    static func answer(_ call: UUID) { all.withLock { $0[call]?.isAnswered = true } }

    /// Who is to carry out an action on a call, or why nobody is.
    static func provider(for action: CXCallAction) -> Result<CXProvider, CXErrorCodeRequestTransactionError> {
        all.withLock { all in
            guard let call = all[action.callUUID] else { return .failure(.init(.unknownCallUUID)) }
            guard let owner = call.owner else { return .failure(.init(.unknownCallProvider)) }
            if action is CXAnswerCallAction, call.isAnswered { return .failure(.init(.invalidAction)) }
            return .success(owner)
        }
    }

    private static func copied(_ update: CXCallUpdate) -> CXCallUpdate { update.copy() as? CXCallUpdate ?? update }
}

import Foundation
import Synchronization
import WakeClient

/// The calls of this process, as the phone has them. Those of a provider that nobody holds any more are over.
enum Calls {
    typealias Refusal = CXErrorCodeRequestTransactionError

    /// A call.
    struct Call: Sendable {
        let uuid: UUID
        let isOutgoing: Bool
        private let owner: Weak<CXProvider>
        var update: CXCallUpdate
        /// It was answered, or its start was carried out.
        var hasBegun = false
        var hasConnected = false
        var isOnHold = false
        /// The name of its group: a call by itself is one of its own.
        var group: UUID

        init(_ uuid: UUID, isOutgoing: Bool, of provider: CXProvider, update: CXCallUpdate) {
            self.uuid = uuid
            self.isOutgoing = isOutgoing
            owner = Weak(provider)
            self.update = update
            group = uuid
        }

        var provider: CXProvider? { owner.object }
        var hasSound: Bool { hasBegun && !isOnHold }
    }

    /// Who carries actions out, and what the phone has done before.
    struct Taken: Sendable {
        let provider: CXProvider
        let before: [CXCallAction]
    }

    fileprivate struct State: Sendable {
        var calls: [Call] = []
        var providers: [Weak<CXProvider>] = []
        var observers: [Weak<CXCallObserver>] = []
    }

    private static let state = Mutex(State())

    /// Changes calls; observers hear of it, and providers whose sound begins or ends with it.
    private static func change<Answer: Sendable>(_ body: (inout State) -> Answer) -> Answer {
        let (answer, changes, observers) = state.withLock { state -> (Answer, Changes, [CXCallObserver]) in
            let known = state.calls
            state.forgetGone()
            let before = state.calls
            let answer = body(&state)
            tellPhone(known, state.calls)
            return (answer, Changes(from: before, to: state.calls), state.observers.compactMap(\.object))
        }
        for call in changes.calls {
            for observer in observers { observer.tell(call) }
        }
        for provider in changes.providers { provider.settleSound() }
        return answer
    }

    /// The phone counts the calls that go on (PUSH-10); of one that comes in it was told by the report.
    private static func tellPhone(_ before: [Call], _ after: [Call]) {
        for call in after where call.isOutgoing && !before.contains(where: { $0.uuid == call.uuid }) {
            PushHandlers.callBegan()
        }
        for call in before where !after.contains(where: { $0.uuid == call.uuid }) { PushHandlers.callEnded() }
    }

    private static func change(_ call: UUID, _ body: (inout Call) -> Void) {
        change { state in
            if let place = state.place(of: call) { body(&state.calls[place]) }
        }
    }

    // MARK: Who there is

    static func add(_ provider: CXProvider) { state.withLock { $0.providers.append(Weak(provider)) } }

    static func add(_ observer: CXCallObserver) { state.withLock { $0.observers.append(Weak(observer)) } }

    /// The provider is to do nothing any more.
    static func remove(_ provider: CXProvider) {
        change { state in
            state.calls.removeAll { $0.provider === provider }
            state.providers.removeAll { $0.object === provider }
        }
    }

    /// The calls that are not over, oldest first.
    static var list: [CXCall] {
        state.withLock { state in state.calls.filter { $0.provider != nil }.map { CXCall($0, hasEnded: false) } }
    }

    /// Whether a call of the provider has sound.
    static func haveSound(of provider: CXProvider) -> Bool {
        state.withLock { state in state.calls.contains { $0.provider === provider && $0.hasSound } }
    }

    // MARK: What becomes of calls

    /// - Returns: whether there was none of that name.
    static func add(_ call: UUID, _ update: CXCallUpdate, of provider: CXProvider) -> Bool {
        let update = update.filled(from: CXCallUpdate())
        return change { state in
            guard state.place(of: call) == nil else { return false }
            state.calls.append(Call(call, isOutgoing: false, of: provider, update: update))
            return true
        }
    }

    static func update(_ call: UUID, _ update: CXCallUpdate) {
        change(call) { $0.update = update.filled(from: $0.update) }
    }

    /// An outgoing call is under way.
    static func begin(_ call: UUID) { change(call) { $0.hasBegun = true } }

    static func answer(_ call: UUID) {
        change(call) { call in
            call.hasBegun = true
            call.hasConnected = true
        }
    }

    /// The other end of an outgoing call has answered.
    static func connect(_ call: UUID) { change(call) { if $0.isOutgoing { $0.hasConnected = true } } }

    static func hold(_ call: UUID, _ holds: Bool) { change(call) { $0.isOnHold = holds } }

    /// - Parameter other: a call of the group; nil for a group of its own.
    static func group(_ call: UUID, with other: UUID?) {
        change { state in
            guard let place = state.place(of: call) else { return }
            state.calls[place].group = other.flatMap { state.place(of: $0) }.map { state.calls[$0].group } ?? call
        }
    }

    static func end(_ call: UUID) {
        change { state in state.calls.removeAll { $0.uuid == call } }
    }

    /// Has the provider of a call end it.
    static func askForEnd(of call: UUID) {
        let provider = state.withLock { state in state.place(of: call).flatMap { state.calls[$0].provider } }
        provider?.perform(CXTransaction(action: CXEndCallAction(call: call)))
    }

    // MARK: What apps ask for

    /// Takes actions, or says why none of them will be done. A call that is to be made is one from now on.
    ///
    /// One call at a time has sound: what gives it to another has the phone hold the one that has it, or end one that cannot be
    /// held, and one where there would be more groups than the provider may have, as its buttons for answering do.
    static func take(_ actions: [CXAction]) -> Result<Taken, Refusal> {
        change { state -> Result<Taken, Refusal> in
            do throws(Refusal) { return .success(try state.take(actions)) } catch { return .failure(error) }
        }
    }
}

extension Calls {
    /// What observers and providers hear of a change.
    private struct Changes {
        var calls: [CXCall] = []
        var providers: [CXProvider] = []

        init(from before: [Call], to after: [Call]) {
            for old in before where !after.contains(where: { $0.uuid == old.uuid }) {
                calls.append(CXCall(old, hasEnded: true))
                if old.hasSound, let provider = old.provider { providers.append(provider) }
            }
            for call in after {
                let old = before.first { $0.uuid == call.uuid }
                if old?.isOnHold != call.isOnHold || old?.hasConnected != call.hasConnected {
                    calls.append(CXCall(call, hasEnded: false))
                }
                let hadSound = old?.hasSound ?? false
                if hadSound != call.hasSound, let provider = call.provider { providers.append(provider) }
            }
        }
    }
}

extension Calls.State {
    mutating func forgetGone() {
        calls.removeAll { $0.provider == nil }
        providers.removeAll { $0.object == nil }
        observers.removeAll { $0.object == nil }
    }

    func place(of call: UUID) -> Int? { calls.firstIndex { $0.uuid == call } }

    /// How many groups a provider's calls make.
    private func groups(of provider: CXProvider) -> Int {
        Set(calls.filter { $0.provider === provider }.map(\.group)).count
    }

    mutating func take(_ actions: [CXAction]) throws(Calls.Refusal) -> Calls.Taken {
        guard !actions.isEmpty else { throw Calls.Refusal(.emptyTransaction) }
        var began: [Calls.Call] = []
        var owners: [CXProvider] = []
        for action in actions {
            guard let action = action as? CXCallAction else { throw Calls.Refusal(.invalidAction) }
            let call: Calls.Call
            if let start = action as? CXStartCallAction {
                call = try callToMake(start, beside: began)
                began.append(call)
            } else if let known = (calls + began).first(where: { $0.uuid == action.callUUID }) {
                try check(action, known)
                call = known
            } else {
                throw Calls.Refusal(.unknownCallUUID)
            }
            guard let owner = call.provider else { throw Calls.Refusal(.unknownCallProvider) }
            if !owners.contains(owner) { owners.append(owner) }
        }
        guard owners.count == 1 else { throw Calls.Refusal(.unknownCallProvider) }
        calls += began
        return Calls.Taken(provider: owners[0], before: room(for: actions, of: owners[0]))
    }

    /// A call that is to be made, of the provider that was made last.
    private func callToMake(
        _ action: CXStartCallAction,
        beside others: [Calls.Call]
    ) throws(Calls.Refusal) -> Calls.Call {
        guard let provider = providers.compactMap(\.object).last else { throw Calls.Refusal(.unknownCallProvider) }
        guard !(calls + others).contains(where: { $0.uuid == action.callUUID }) else {
            throw Calls.Refusal(.callUUIDAlreadyExists)
        }
        guard groups(of: provider) + others.count < provider.configuration.maximumCallGroups else {
            throw Calls.Refusal(.maximumCallGroupsReached)
        }
        let update = CXCallUpdate()
        update.remoteHandle = action.handle
        update.hasVideo = action.isVideo
        return Calls.Call(action.callUUID, isOutgoing: true, of: provider, update: update)
    }

    /// Whether a call is in a state for an action.
    private func check(_ action: CXCallAction, _ call: Calls.Call) throws(Calls.Refusal) {
        let isPossible: Bool
        switch action {
        case is CXAnswerCallAction: isPossible = !call.isOutgoing && !call.hasConnected
        case is CXSetHeldCallAction: isPossible = call.update.supportsHolding && call.hasBegun
        case let action as CXSetGroupCallAction: isPossible = try canGroup(call, with: action.callUUIDToGroupWith)
        case is CXPlayDTMFCallAction: isPossible = call.update.supportsDTMF
        default: isPossible = true
        }
        if !isPossible { throw Calls.Refusal(.invalidAction) }
    }

    private func canGroup(_ call: Calls.Call, with name: UUID?) throws(Calls.Refusal) -> Bool {
        guard let name else { return call.update.supportsUngrouping }
        guard let place = place(of: name), let provider = call.provider else { throw Calls.Refusal(.unknownCallUUID) }
        let other = calls[place]
        let size = calls.count { $0.group == other.group && $0.uuid != call.uuid }
        return other.provider === provider && call.uuid != name && call.update.supportsGrouping
            && other.update.supportsGrouping && size < provider.configuration.maximumCallsPerCallGroup
    }

    /// What the phone has done before actions that give a call sound.
    private func room(for actions: [CXAction], of provider: CXProvider) -> [CXCallAction] {
        let givesSound = actions.contains { action in
            action is CXStartCallAction || action is CXAnswerCallAction
                || (action as? CXSetHeldCallAction)?.isOnHold == false
        }
        guard givesSound else { return [] }
        let named = Set(actions.compactMap { ($0 as? CXCallAction)?.callUUID })
        let groups = Set(calls.filter { named.contains($0.uuid) }.map(\.group))
        let fits = self.groups(of: provider) <= provider.configuration.maximumCallGroups
        let others = calls.filter { call in
            call.provider === provider && call.hasSound && !named.contains(call.uuid) && !groups.contains(call.group)
        }
        return others.map { other -> CXCallAction in
            fits && other.update.supportsHolding
                ? CXSetHeldCallAction(call: other.uuid, onHold: true) : CXEndCallAction(call: other.uuid)
        }
    }
}

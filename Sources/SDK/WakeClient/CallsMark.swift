import Foundation

/// Whether a connection of two streams is one of the app's calls.
final class CallsMark: @unchecked Sendable {
    private let lock = NSLock()
    private var isWanted = false
    private var mark: VoIPMark?

    /// Marks the socket, or takes the mark back.
    ///
    /// - Returns: whether that was possible; a connection that is still in the making counts as one that can be.
    func set(_ wanted: Bool, _ descriptor: Int32, _ connection: StreamConnection?) -> Bool {
        let (isNew, old) = lock.withLock { () -> (Bool, VoIPMark?) in
            defer { isWanted = wanted }
            let old = wanted ? nil : mark
            if !wanted { mark = nil }
            return (wanted && !isWanted, old)
        }
        old?.end()
        guard isNew else {
            return true
        }
        guard let connection else {
            return place(on: descriptor)
        }
        var outcome: Bool?
        connection.whenDecided { [self] code in
            outcome = code == 0 && place(on: descriptor)
        }
        return outcome ?? true
    }

    private func place(on descriptor: Int32) -> Bool {
        guard lock.withLock({ isWanted }), let mark = VoIPMark(descriptor: descriptor) else {
            lock.withLock { isWanted = false }
            return false
        }
        let isStillWanted = lock.withLock {
            if isWanted { self.mark = mark }
            return isWanted
        }
        if !isStillWanted { mark.end() }
        return true
    }

    /// The connection is over.
    func end() { _ = set(false, -1, nil) }
}

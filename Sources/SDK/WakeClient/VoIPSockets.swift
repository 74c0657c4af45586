import Foundation
import Synchronization
import WakeWire

/// A socket that the bench watches while the app is suspended, until it is ended or let go.
final class VoIPMark: Sendable {
    private let number: UInt32
    private let isWatched: Mutex<Bool>

    private static let lastNumber = Mutex<UInt32>(0)

    /// Sends the bench a duplicate of the socket; nil when it does not watch it.
    init?(descriptor: Int32) {
        number = Self.lastNumber.withLock { number in
            number += 1
            return number
        }
        isWatched = Mutex(true)
        let number = number
        let reply = BenchClient.shared.request(with: descriptor) { .voip(.watch(id: $0, socket: number)) }
        guard reply.granted == true else {
            isWatched.withLock { $0 = false }
            return nil
        }
    }

    deinit {
        end()
    }

    /// The bench lets go of its duplicate.
    func end() {
        if isWatched.withLock({ exchange(&$0, with: false) }) {
            BenchClient.shared.send(.voip(.unwatch(socket: number)))
        }
    }
}

/// What the app is called for beside its sockets.
package enum VoIPHandlers {
    private static let keepAliveHandler = Mutex<(@MainActor @Sendable () -> Void)?>(nil)

    /// Asks for a call of the handler once in each period, in seconds; says whether it will be called.
    package static func setKeepAlive(_ period: Double, handler: (@MainActor @Sendable () -> Void)?) -> Bool {
        guard period >= 0, period <= WireLimits.largestDistance else {
            return false
        }
        keepAliveHandler.withLock { $0 = handler }
        let reply = BenchClient.shared.request { .voip(.setKeepAlive(id: $0, period: period)) }
        return reply.granted == true
    }

    /// Asks for no call any more.
    package static func clearKeepAlive() {
        keepAliveHandler.withLock { $0 = nil }
        BenchClient.shared.send(.voip(.clearKeepAlive))
    }

    /// Takes an event; on the main queue.
    static func receive(_ body: WireDeliveryBody) {
        guard case .voip(.keepAlive) = body, let handler = keepAliveHandler.withLock({ $0 }) else {
            return
        }
        MainActor.assumeIsolated { handler() }
    }
}

extension Wakebench {
    private static let marks = Mutex<[Int32: VoIPMark]>([:])

    /// Marks a connected stream socket as one of the app's calls: bytes, the end or an error on it wake the suspended app.
    ///
    /// For sockets that no stream of the SDK has; the corresponding stream property is
    /// `StreamNetworkServiceTypeValue.voIP`. The app goes on reading the socket itself, and shuts it down before it
    /// closes it, since the bench has a duplicate. Without `voip` among the app's background modes the socket wakes nobody.
    ///
    /// - Returns: whether the bench watches it: not one that is no stream socket, or one of too many.
    @discardableResult
    public static func watchVoIPSocket(_ descriptor: Int32) -> Bool {
        guard let mark = VoIPMark(descriptor: descriptor) else {
            return false
        }
        marks.withLock { $0[descriptor] = mark }
        return true
    }

    /// Takes the mark back; to be called before the descriptor is closed.
    public static func unwatchVoIPSocket(_ descriptor: Int32) {
        marks.withLock { $0.removeValue(forKey: descriptor) }?.end()
    }
}

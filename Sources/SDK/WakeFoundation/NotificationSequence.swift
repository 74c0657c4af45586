import Foundation

extension NotificationCenter {
    /// Notifications of a name as they are posted, from each iteration's begin to its end.
    ///
    /// - Parameter object: Whose notifications; nil for anybody's.
    @preconcurrency
    public func notifications(
        named name: Notification.Name,
        object: (any AnyObject & Sendable)? = nil
    ) -> Notifications {
        Notifications(center: self, name: name, object: object)
    }

    /// A sequence of notifications.
    ///
    /// What is posted while nobody waits for it is kept, up to seven notifications: then the oldest is dropped. Apple's documents
    /// give no figure; this one was seen.
    public final class Notifications: AsyncSequence, Sendable {
        /// A notification.
        public typealias Element = Notification

        private static let kept = 7

        private let center: NotificationCenter
        private let name: Notification.Name
        private let object: (any AnyObject & Sendable)?

        fileprivate init(center: NotificationCenter, name: Notification.Name, object: (any AnyObject & Sendable)?) {
            self.center = center
            self.name = name
            self.object = object
        }

        /// Begins to listen.
        public func makeAsyncIterator() -> Iterator {
            let (stream, continuation) = AsyncStream.makeStream(
                of: Posted.self,
                bufferingPolicy: .bufferingNewest(Self.kept)
            )
            let token = center.addObserver(forName: name, object: object, queue: nil) { notification in
                continuation.yield(Posted(notification: notification))
            }
            return Iterator(stream: stream.makeAsyncIterator(), listening: Listening(center: center, token: token))
        }

        /// Takes one notification after the other.
        public struct Iterator: AsyncIteratorProtocol {
            private var stream: AsyncStream<Posted>.Iterator
            private let listening: Listening

            fileprivate init(stream: AsyncStream<Posted>.Iterator, listening: Listening) {
                self.stream = stream
                self.listening = listening
            }

            /// The next notification, which this waits for; nil once the task is cancelled.
            public mutating func next() async -> Notification? { await stream.next()?.notification }

            /// The next notification, which this waits for; nil once the task is cancelled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
                await stream.next(isolation: actor)?.notification
            }
        }
    }
}

/// A notification on its way from who posts it to who listens, one at a time.
private struct Posted: @unchecked Sendable {
    let notification: Notification
}

/// Listens until it is let go.
private final class Listening {
    private let center: NotificationCenter
    private let token: any NSObjectProtocol

    init(center: NotificationCenter, token: any NSObjectProtocol) {
        self.center = center
        self.token = token
    }

    deinit { center.removeObserver(token) }
}

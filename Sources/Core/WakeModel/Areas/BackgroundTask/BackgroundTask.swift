/// What the system's scheduler runs for an app.
package enum BackgroundTaskKind: UInt8, Worded, Codable, Sendable {
    /// The fetch mode's performFetchWithCompletionHandler (FETCH-1).
    case fetch
    /// A BGAppRefreshTask.
    case refresh
    /// A BGProcessingTask.
    case processing
}

/// A BGTaskRequest, as an app submits it.
package struct BackgroundTaskSubmission: Hashable, Codable, Sendable {
    /// The interned identifier, which Info.plist must permit (BGT-1).
    package var identifier: NameID
    package var isProcessing: Bool
    /// earliestBeginDate on the bench's clock; nil for none (BGT-5).
    package var begins: Instant?
    /// requiresExternalPower (BGT-7).
    package var needsPower: Bool
    /// requiresNetworkConnectivity (BGT-7).
    package var needsNetwork: Bool
    /// An extension of the app submits it (BGT-9).
    package var isOfExtension: Bool

    package init(
        identifier: NameID,
        isProcessing: Bool,
        begins: Instant? = nil,
        needsPower: Bool = false,
        needsNetwork: Bool = false,
        isOfExtension: Bool = false
    ) {
        self.identifier = identifier
        self.isProcessing = isProcessing
        self.begins = begins
        self.needsPower = needsPower
        self.needsNetwork = needsNetwork
        self.isOfExtension = isOfExtension
    }
}

/// What an app asks of the system's scheduler. The clock is the phone's at that moment: of it the scheduler learns the times of day.
/// `answer` is the number of the app's own under which it waits for a ``TaskAnswer``; nil where it does not wait.
package enum BackgroundTaskRequest: Hashable, Codable, Sendable {
    /// A launch handler for an identifier (BGT-3).
    case register(NameID, answer: UInt64? = nil)
    /// In place of one with the same identifier (BGT-2).
    case submit(BackgroundTaskSubmission, clock: PhoneClock, answer: UInt64? = nil)
    case cancel(NameID)
    case cancelAll
    /// What is pending (BGT-2).
    case list(answer: UInt64)
    /// setTaskCompleted: the number is that of the event that handed the task over (BGT-8).
    case complete(UInt32, success: Bool)
    /// setMinimumBackgroundFetchInterval; nil for never (FETCH-1).
    case setFetchInterval(Instant.Span?, clock: PhoneClock)
    /// The completion handler of a fetch. `downloaded`: whether anything came over the network for it; nil where nobody looked
    /// (FETCH-3).
    case fetched(UInt32, FetchResult, downloaded: Bool?)
}

/// What an app hears that waits for an answer of the scheduler.
package enum TaskAnswer: Hashable, Sendable {
    /// The handler is registered, or the request is pending; or why it is not.
    case decided(RequestFault?)
    /// The requests that are pending, in the order in which the app submitted them.
    case pending([BackgroundTaskSubmission])
}

/// How strongly a developer's lever has a task run (BGT-12).
package enum TaskLever: UInt8, Worded, Codable, Sendable {
    /// No lever: the scheduler itself.
    case none
    /// The scheduler's next look is now; all that it looks at counts.
    case scheduled
    /// Now, if the app may run it at all: no time, no use and no state of the phone is waited for.
    case allowed
    /// Whatever the scheduler says to it; the request and the app's chances stay as they are.
    case regardless
}

/// What the scheduler knew of a task when it was decided about.
package struct TaskView: Hashable, Codable, Sendable {
    /// When the user last had the app before him; zero for never.
    package var lastUse: Instant = .zero
    /// When its request, its interval and its chances let it run at the earliest.
    package var opens: Instant = .zero
    /// When the user is expected to open the app next; the distant future when no habit is known (FETCH-4).
    package var expectedUse: Instant = .distantFuture
    /// On how many of the days remembered the user opened the app at that time.
    package var habitDays: UInt8 = 0
    /// How often the app's answers doubled the time between two runs (FETCH-3).
    package var doublings: UInt8 = 0
    package var lever: TaskLever = .none

    @inlinable
    package init() {}
}

extension WakeEvent {
    /// The number of a task that is handed over, for the app's answer.
    @inlinable
    package var task: UInt32 { local }

    /// How strongly a simulated launch has a task run.
    package var lever: TaskLever { TaskLever(rawValue: UInt8(truncatingIfNeeded: local)) ?? .scheduled }
}

/// The kinds of its events, each by its row of Tables/events.tsv.
extension EventKind {
    /// A good moment for an app with the fetch mode (FETCH-1).
    @inlinable package static var fetchDue: EventKind { EventKind(row: 78) }
    @inlinable package static var refreshTaskDue: EventKind { EventKind(row: 79) }
    @inlinable package static var processingTaskDue: EventKind { EventKind(row: 80) }
    /// A developer has a task run; its subject is the identifier, none for a fetch (BGT-12).
    @inlinable package static var taskLaunchSimulated: EventKind { EventKind(row: 81) }
    /// A developer has a running task expire (BGT-12).
    @inlinable package static var taskExpirationSimulated: EventKind { EventKind(row: 82) }
}

extension BackgroundTaskKind {
    /// The kind of event that hands it over.
    package var event: EventKind {
        switch self {
        case .fetch: .fetchDue
        case .refresh: .refreshTaskDue
        case .processing: .processingTaskDue
        }
    }

    package var registration: Registration {
        switch self {
        case .fetch: .fetch
        case .refresh: .refreshTask
        case .processing: .processingTask
        }
    }
}

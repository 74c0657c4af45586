import WakeModel

/// What an app asks of the task scheduler and of background fetch.
package enum WireBackgroundTaskRequest: Equatable, Sendable {
    /// A launch handler for the tasks of an identifier; answered by a reply with `granted`, false for an identifier that Info.plist
    /// does not permit (BGT-1). Later than the launch, or a second time in a process, it ends the app (BGT-3).
    case register(id: UInt64, identifier: String)
    /// A request, in place of one with the same identifier (BGT-2); answered by a reply, with `error` where it is refused.
    case submit(id: UInt64, WireTaskSubmission)
    case cancel(identifier: String)
    case cancelAll
    /// What is pending; answered by a reply with `tasks`.
    case list(id: UInt64)
    /// setTaskCompleted: the number is that of `backgroundTask.launched` (BGT-8).
    case completed(number: UInt32, success: Bool)
    /// Whether Background App Refresh is on for the app; answered by a reply with `granted`.
    case refreshStatus(id: UInt64)
    /// The minimum interval of background fetch in seconds; nil for never (FETCH-1).
    case setFetchInterval(Double?)
    /// The completion handler of the fetch with that number was called (FETCH-2).
    case fetched(number: UInt32, result: FetchResult)
}

/// What an app is told by the task scheduler and of background fetch.
package enum WireBackgroundTaskEvent: Equatable, Sendable {
    /// A task is to run: the app owes `backgroundTask.completed` with its number.
    case launched(number: UInt32, identifier: String, kind: WireTaskKind)
    /// The time of the task of the identifier is nearly over (BGT-8).
    case expired(identifier: String)
    /// The app is to fetch what is new: it owes `backgroundTask.fetched` with the number.
    case fetch(number: UInt32)
}

/// The kinds of task.
package enum WireTaskKind: String, CaseIterable, Sendable, WireWord {
    /// A BGAppRefreshTask.
    case refresh
    /// A BGProcessingTask.
    case processing
}

/// A BGTaskRequest.
package struct WireTaskSubmission: Equatable, Sendable {
    package var identifier: String
    package var kind: WireTaskKind
    /// earliestBeginDate in seconds since 1970; nil for none (BGT-5).
    package var earliestBegin: Double?
    /// Of processing (BGT-7).
    package var requiresExternalPower: Bool
    package var requiresNetworkConnectivity: Bool

    package init(
        identifier: String,
        kind: WireTaskKind,
        earliestBegin: Double? = nil,
        requiresExternalPower: Bool = false,
        requiresNetworkConnectivity: Bool = false
    ) {
        self.identifier = identifier
        self.kind = kind
        self.earliestBegin = earliestBegin
        self.requiresExternalPower = requiresExternalPower
        self.requiresNetworkConnectivity = requiresNetworkConnectivity
    }
}

extension WireLimits {
    /// The longest identifier of a task, in bytes.
    package static let taskIdentifierBytes = 255
    /// How many requests a reply lists at most: the phone has 11 of an app pending (BGT-2).
    package static let tasksListed = 32
    /// The longest minimum interval of background fetch, in seconds: ten years.
    package static let longestFetchInterval = 315_576_000.0
}

// MARK: Coding

extension WireBackgroundTaskRequest: AreaMessage {
    static let area = "backgroundTask"
    static let blanks: [Self] = [
        .register(id: 0, identifier: ""), .submit(id: 0, .blank), .cancel(identifier: ""), .cancelAll, .list(id: 0),
        .completed(number: 0, success: false), .refreshStatus(id: 0), .setFetchInterval(nil),
        .fetched(number: 0, result: .newData),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .register(let id, let identifier):
            self = try .register(
                id: coder.field("id", id, .whole),
                identifier: coder.field("identifier", identifier, .taskName)
            )
        case .submit(let id, let submission):
            self = try .submit(id: coder.field("id", id, .whole), coder.field("request", submission, .object))
        case .cancel(let identifier): self = try .cancel(identifier: coder.field("identifier", identifier, .taskName))
        case .list(let id): self = try .list(id: coder.field("id", id, .whole))
        case .completed(let number, let success):
            self = try .completed(
                number: coder.field("number", number, .whole),
                success: coder.field("success", success, .bool)
            )
        case .refreshStatus(let id): self = try .refreshStatus(id: coder.field("id", id, .whole))
        case .setFetchInterval(let interval):
            self = try .setFetchInterval(
                coder.field("interval", interval, .measure(in: 0...WireLimits.longestFetchInterval))
            )
        case .fetched(let number, let result):
            self = try .fetched(
                number: coder.field("number", number, .whole),
                result: coder.field("result", result, .word)
            )
        case .cancelAll: break
        }
    }
}

extension WireBackgroundTaskEvent: AreaMessage {
    static let area = "backgroundTask"
    static let blanks: [Self] = [
        .launched(number: 0, identifier: "", kind: .refresh), .expired(identifier: ""), .fetch(number: 0),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .launched(let number, let identifier, let kind):
            self = try .launched(
                number: coder.field("number", number, .whole),
                identifier: coder.field("identifier", identifier, .taskName),
                kind: coder.field("task", kind, .word)
            )
        case .expired(let identifier): self = try .expired(identifier: coder.field("identifier", identifier, .taskName))
        case .fetch(let number): self = try .fetch(number: coder.field("number", number, .whole))
        }
    }
}

extension WireTaskSubmission: Coded {
    static let blank = WireTaskSubmission(identifier: "", kind: .refresh)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("identifier", of: &identifier, .taskName)
        try coder.field("kind", of: &kind, .word)
        try coder.field("earliestBegin", of: &earliestBegin, .measure(in: 0...WireLimits.latestDate))
        try coder.field("requiresExternalPower", of: &requiresExternalPower, .bool, omitted: false)
        try coder.field("requiresNetworkConnectivity", of: &requiresNetworkConnectivity, .bool, omitted: false)
    }
}

extension FieldShape where Value == String {
    fileprivate static var taskName: FieldShape {
        .string { (found) throws(WireError) in
            let text = try found.text()
            guard (1...WireLimits.taskIdentifierBytes).contains(text.utf8.count) else {
                throw found.bad("1 to \(WireLimits.taskIdentifierBytes) bytes of text")
            }
            return text
        }
    }
}

import WakeModel

/// What the system keeps of an app's transfers: with no process, over a restart of the phone and of the bench (XFER-1, SYS-2).
struct TransferRecord: Equatable, Codable {
    /// What there is of a result that its app has not been told.
    enum Result: Equatable, Codable {
        /// An event of the source, whose payload the bench keeps.
        case event(EventID, TransferEnd)
        /// The system ended it by itself.
        case failure(TransferFailure)
    }

    enum Stage: Equatable, Codable {
        /// resume() was not called yet, or suspend() after it. Valid transitions to: `waiting`, `kept`, `telling`.
        case suspended
        /// The system waits for a moment. Valid transitions to: `running`, `suspended`, `over`, `kept`, `telling`.
        case waiting
        /// The source has it. Valid transitions to: `waiting`, `suspended`, `challenged`, `over`, `kept`, `telling`.
        case running
        /// The server wants a credential; the event is kept. Valid transitions to: `running`, `over`, `kept`, `telling`.
        case challenged(UInt32, EventID)
        /// Its end has come, and no verdict on it yet. Valid transitions to: `told`, `kept`.
        case over
        /// Its result is kept with the session (XFER-3). Valid transitions to: `telling`.
        case kept(Result)
        /// An event with its result is on its way. Valid transitions to: `told`, `kept`.
        case telling(Result, wasKept: Bool)
        /// A process of the app was given the result, by this event. Valid transitions to: `kept`, when that process ends before it
        /// has taken it.
        case told(EventID, Result)

        /// It was resumed, and has no end yet.
        var isUnderWay: Bool {
            switch self {
            case .waiting, .running, .challenged: true
            case .suspended, .over, .kept, .telling, .told: false
            }
        }

        /// A process was given the result, and may have it.
        var isTold: Bool { if case .told = self { true } else { false } }

        /// It has no end yet.
        var isOpen: Bool { self == .suspended || isUnderWay }
    }

    /// What a resumed task waits for.
    enum Hold: Equatable, Codable {
        case shutDown
        case beginDate
        case resumes
        case retry
        case lowPower
        case goodMoment
        case network
    }

    struct Task: Equatable, Codable {
        /// The app's number for it.
        var number: TransferTaskNumber
        var transfer: TransferNumber
        var order: TransferOrder
        var wishes = TransferWishes()
        var isDiscretionary: Bool
        /// Where the resume rate limiter lets it begin (XFER-8).
        var limitEnds = Instant.zero
        /// When it is tried again (XFER-7).
        var retriesAt = Instant.zero
        /// Its resource timer (XFER-7).
        var timesOutAt = Instant.distantFuture
        /// When to look again whether it may begin.
        var looksAt = Instant.distantFuture
        var stage = Stage.suspended
        var hold: Hold?
        /// The present process has its challenge.
        var hasAsked = false
        /// There is something of it to go on with.
        var resumes = false

        var due: Instant { stage.isUnderWay ? min(timesOutAt, looksAt) : .distantFuture }
    }

    struct Session: Equatable, Codable {
        var identifier: NameID
        /// What its completion handler is owed by.
        var number: UInt32
        var configuration: TransferConfiguration
        /// When it was made for the first time.
        var since: Instant
        /// The number by which the present process knows it; nil while none has joined it.
        var manager: ManagerNumber?
        var takesTasks = true
        /// The app was woken for it, and has not been told yet that it has had all.
        var owesFinish = false
        var tasks: [Task] = []

        /// Whether a new task may have a number: that of one whose process was given its result is free again.
        func isFree(_ number: TransferTaskNumber) -> Bool {
            !tasks.contains { $0.number == number && !$0.stage.isTold }
        }

        /// The place of the task that an app means by a number.
        func task(_ number: TransferTaskNumber) -> Int? { tasks.lastIndex { $0.number == number } }
    }

    /// In order of their making.
    var sessions: [Session] = [] {
        didSet { tasksDue = sessions.reduce(.distantFuture) { $1.tasks.reduce($0) { min($0, $1.due) } } }
    }
    /// When something about a task is due.
    private(set) var tasksDue = Instant.distantFuture
    var owed = OwedAnswers()
    var lastSession: UInt32 = 0
    /// The wait of the resume rate limiter, and from when on it passes (XFER-8).
    var resumeDelay = Instant.Span.zero
    var delaySince = Instant.zero

    /// The wait for what is created in the background now: none again, when it has passed without a resume (XFER-8).
    func resumeDelay(at now: Instant) -> Instant.Span {
        resumeDelay == .zero || delaySince.advanced(by: resumeDelay) <= now ? .zero : resumeDelay
    }

    /// Where a transfer is; nil when the app has none of that number.
    func place(of transfer: TransferNumber) -> TransferPlace? {
        for session in sessions.indices {
            if let task = sessions[session].tasks.firstIndex(where: { $0.transfer == transfer }) {
                return TransferPlace(session: session, task: task)
            }
        }
        return nil
    }

    /// Where the transfer is whose result a process was given by an event, and has not taken.
    func place(toldBy event: EventID) -> TransferPlace? {
        for session in sessions.indices {
            for task in sessions[session].tasks.indices {
                if case .told(event, _) = sessions[session].tasks[task].stage {
                    return TransferPlace(session: session, task: task)
                }
            }
        }
        return nil
    }

    subscript(place: TransferPlace) -> Task {
        get { sessions[place.session].tasks[place.task] }
        _modify { yield &sessions[place.session].tasks[place.task] }
    }
}

/// Which of an app's tasks.
struct TransferPlace: Equatable {
    var session: Int
    var task: Int
}

import WakeModel

/// What the scheduler keeps of one app: with no process, and over a restart (BGT-4).
struct BackgroundTaskRecord: Equatable, Codable {
    /// Something that the app waits to be run for.
    struct Item: Equatable, Codable {
        var kind: BackgroundTaskKind
        /// None for a fetch.
        var identifier: NameID
        var since: Instant
        /// earliestBeginDate; zero for none.
        var begins = Instant.zero
        /// Of a fetch: the app's minimum interval.
        var interval = Instant.Span.zero
        var needsPower = false
        var needsNetwork = false
        /// The app asked while it was in the foreground (BGT-11).
        var isOfForeground = false
        /// It was refused, and the record says why: there is no other try while something stands in the way.
        var wasRefused = false
        /// There is no other try before.
        var notBefore = Instant.zero
        /// The next try.
        var next = Instant.distantFuture

        func isSame(_ other: Item) -> Bool { kind == other.kind && identifier == other.identifier }
    }

    /// Something that is on its way to the app, or that the app has.
    struct Run: Equatable, Codable {
        /// The number of its event.
        var number: UInt32
        var item: Item
        var lever: TaskLever
        /// When the app got it; the distant future before, and again once the bench died while it had it.
        var at = Instant.distantFuture
        /// Its expiration handler was called.
        var isExpired = false

        var isHandedOver: Bool { at != .distantFuture }
    }

    /// BGTaskSchedulerPermittedIdentifiers; nil without the key.
    var permitted: [NameID]?
    /// The identifiers that the present process has launch handlers for, ascending (BGT-3).
    var handlers: [NameID] = []
    /// In the order in which the app asked.
    var pending: [Item] = [] {
        didSet { next = pending.reduce(.distantFuture) { min($0, $1.next) } }
    }
    /// The earliest try of any.
    private(set) var next = Instant.distantFuture
    /// What was last asked for by each identifier, for the lever that needs no request.
    var known: [Item] = []
    /// Those that no verdict was given on.
    var arriving: [Run] = []
    /// Those that the app has and has not answered for.
    var running: [Run] = []
    var owed = OwedAnswers()
    /// When the time of this launch ends (BGT-6); the distant future while nothing runs.
    var ends = Instant.distantFuture
    /// When expiration handlers run; the distant future when none is to.
    var expires = Instant.distantFuture

    // MARK: Chances

    /// When the user opened the app, oldest first.
    var uses: [Instant] = []
    /// When the user last opened it; nil for never.
    var lastOpened: Instant?
    /// When the user last had it before him; nil for never.
    var lastUse: Instant?
    /// When it was last run for a fetch or a refresh.
    var lastRefresh: Instant?
    var lastProcessing: Instant?
    /// How often its answers doubled the time between two runs (FETCH-3).
    var doublings: UInt8 = Self.usualDoublings

    static let usualDoublings: UInt8 = 2
    static let mostDoublings: UInt8 = 6
    /// The most uses that are remembered.
    static let usesLimit = 512

    /// The earliest instant at which something of it is due.
    @inline(__always)
    var due: Instant { min(next, min(owed.due, expires)) }

    var isConsistent: Bool {
        owed.isConsistent && doublings <= Self.mostDoublings && uses.count <= Self.usesLimit
            && pending.allSatisfy { $0.interval >= .zero }
    }

    /// Takes out what is on its way with a number.
    mutating func take(_ number: UInt32) -> Run? {
        guard let place = arriving.firstIndex(where: { $0.number == number }) else { return nil }
        return arriving.remove(at: place)
    }

    /// Whether it is on its way, or running.
    func isUnderWay(_ item: Item) -> Bool {
        arriving.contains { $0.item.isSame(item) } || running.contains { $0.isHandedOver && $0.item.isSame(item) }
    }

    /// The process is gone.
    ///
    /// - Parameter keepsRuns: The bench went with it: what the app had may be handed over once more.
    mutating func endProcess(keepsRuns: Bool) {
        handlers = []
        if !keepsRuns { running = [] }
        for place in running.indices { running[place].at = .distantFuture }
        endTime()
    }

    /// Nothing runs any more.
    mutating func endTime() {
        owed.removeAll()
        ends = .distantFuture
        expires = .distantFuture
    }
}

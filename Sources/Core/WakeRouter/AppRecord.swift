import WakeModel

/// All that the router keeps of one app.
struct AppRecord: Equatable {
    /// What the process is about to do, beside the state.
    enum Phase: Equatable {
        /// No process, or a frozen one.
        case resting
        /// Valid transitions to: `running`, `ending`, `resting`.
        case launching(deadline: Instant)
        /// Valid transitions to: `leaving`, `freezing`, `ending`, `resting`.
        case running
        /// didEnterBackground has not returned (LIFE-2). Valid transitions to: `running`, `ending`, `resting`.
        case leaving(deadline: Instant)
        /// The host is freezing the process. Valid transitions to: `resting`, `running`.
        case freezing
        /// willTerminate has not returned (LIFE-6). Valid transitions to: `resting`.
        case ending(deadline: Instant, cause: ExitCause, code: Int64, by: EventID)
    }

    /// The window of the wake that runs (LIFE-11).
    struct Window: Equatable {
        var began: Instant
        var ends: Instant
    }

    /// An open background task (TASK-1).
    struct BackgroundTask: Equatable {
        var token: UInt64
        /// Its expiration handler was called, which happens once (TASK-3).
        var expired = false
    }

    /// An event that was decided and waits for the app to be able to take it.
    struct Waiting: Equatable {
        var event: WakeEvent
        /// Its slots are those of the managers that it waits for.
        var interest: Interest
        var decision: DecisionID
        /// The app could not be woken for it: it gets a second decision when it runs (BTC-2).
        var deferred: Bool
        /// No manager has it yet: if it goes away, a record must say so.
        var undelivered: Bool
    }

    /// An event that is not decided yet, and the interest it met.
    struct Held: Equatable {
        var event: WakeEvent
        var interest: Interest
        /// The record that the decision replaces, for an event that was decided before a restart of the bench.
        var supersedes: DecisionID
        var restarted: Bool
    }

    /// A central or peripheral manager, alive or preserved (BTC-6, BTP-4).
    struct Manager: Equatable {
        var inUse = false
        /// The process has created it; false while preserved for a relaunch.
        var attached = false
        var number: ManagerNumber = 0
        var restoreIdentifier: NameID = .none
        var createdAt: Instant = .zero
        var scan: Scan?
        /// The peripherals with a ``Link``, in order of connection.
        var peripherals: [NameID] = []
        /// What it holds in the peripheral role; nil for a central manager.
        var local: LocalPeripheral?
        var watch: ConnectionWatch?

        /// Whether the system keeps what the manager holds: its process lives, or it is preserved (BTC-6).
        func isKept(_ profile: borrowing Profile) -> Bool {
            inUse && (attached || profile.restoration && restoreIdentifier != .none)
        }
    }

    /// The links that a manager wants to hear of, whoever holds them.
    struct ConnectionWatch: Equatable {
        var peripherals: [NameID]
        var services: [NameID]
        var since: Instant
    }

    /// A running scan.
    struct Scan: Equatable {
        var services: [NameID]
        var allowDuplicates: Bool
        var since: Instant
        /// The peripherals reported since the scan began (BTC-4).
        var seen: Set<NameID> = []
        /// A sighting was denied; the radio must look afresh when the app may hear of it.
        var missed = false
    }

    var installed = true
    /// When it was installed last: what its Info.plist asks for counts from then.
    var installedAt = Instant.zero
    /// The state and the observed values that every decision shows.
    var face = AppSnapshot()
    var phase = Phase.resting
    var window: Window?
    /// The open background tasks, in order of beginning (TASK-1).
    var tasks: [BackgroundTask] = []
    /// When the task budget ends; nil while none runs (TASK-2).
    var taskBudgetEnds: Instant?
    /// Where the app is to be once it is launched: the user may have brought it forward, or sent it away, meanwhile.
    var launchTarget = AppState.background
    /// The user tapped the icon while the old process was ending: a new one follows, bound for ``launchTarget``.
    var userLaunchAfterEnd: EventID?
    /// When the app was last seen by the user (BTC-9).
    var leftForeground = Instant.zero
    var managers: [Manager] = []
    /// The app declares that accessories may be set up for it (BTC-8).
    var mayBeSetUp = false
    /// The peripherals that the user has set up for it, ascending (BTC-8).
    var accessoriesSetUp: [NameID] = []
    var location = LocationRecord()
    var audio = AudioRecord()
    var accessory = AccessoryRecord()
    var voip = VoIPRecord()
    var waiting: [Waiting] = []
    /// Events that arrived while the process was being frozen or ended: decided when that is over.
    var held: [Held] = []
    /// Events that were denied because the phone was not unlocked since boot, and are decided anew when it is (LAUNCH-5).
    var awaitingUnlock: [Held] = []
    /// When the first central that waits for an answer waits no more; nil when none does.
    var requestDeadline: Instant?

    var state: AppState { face.state }

    /// The index of a live manager of the present process.
    func slot(of number: ManagerNumber) -> Int? {
        managers.firstIndex { $0.attached && $0.number == number }
    }

    /// The window that runs; one that ended while the app was launching or leaving is over.
    @inline(__always)
    func window(at now: Instant) -> Window? {
        guard let window, window.ends > now else { return nil }
        return window
    }

    /// Whether a process exists, running or frozen.
    var hasProcess: Bool { face.state != .notRunning }
}

/// All that apps hold on one peripheral.
struct PeripheralRecord: Equatable {
    /// Ascending by client.
    var links: [Link] = []
    /// Ascending by characteristic, then by client.
    var subscriptions: [Subscription] = []

    /// The position of a client's link; nil when it has none.
    func position(of client: BluetoothClient) -> Int? {
        links.firstIndex { $0.client == client }
    }

    /// The position of the first link of an app with this or a higher number.
    func firstLink(from app: UInt32) -> Int {
        partition(links.count) { links[$0].client.app.number >= app }
    }

    /// The position of the first subscription to a characteristic by an app with this or a higher number.
    func firstSubscription(to attribute: AttributeHandle, from app: UInt32) -> Int {
        partition(subscriptions.count) {
            let other = subscriptions[$0]
            return other.attribute != attribute ? other.attribute > attribute : other.client.app.number >= app
        }
    }

    mutating func insert(_ link: Link) {
        links.insert(link, at: partition(links.count) { links[$0].client > link.client })
    }

    /// Adds a subscription unless it is there.
    mutating func insert(_ subscription: Subscription) {
        let place = partition(subscriptions.count) {
            let other = subscriptions[$0]
            return (other.attribute, other.client) >= (subscription.attribute, subscription.client)
        }
        if place < subscriptions.count, subscriptions[place].attribute == subscription.attribute,
            subscriptions[place].client == subscription.client
        {
            return
        }
        subscriptions.insert(subscription, at: place)
    }

    /// Removes a client's link and its subscriptions.
    mutating func remove(_ client: BluetoothClient) {
        links.removeAll { $0.client == client }
        subscriptions.removeAll { $0.client == client }
    }

    mutating func removeSubscription(of client: BluetoothClient, to attribute: AttributeHandle) {
        subscriptions.removeAll { $0.client == client && $0.attribute == attribute }
    }

    /// The characteristics that a client is subscribed to, ascending.
    func subscriptions(of client: BluetoothClient) -> [AttributeHandle] {
        subscriptions.compactMap { $0.client == client ? $0.attribute : nil }
    }

    /// The first position at which a condition holds that goes on holding.
    @inline(__always)
    private func partition(_ count: Int, _ holds: (Int) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// One client's connection to one peripheral, or its wish for one.
struct Link: Equatable {
    var client: BluetoothClient
    var connected: Bool
    var since: Instant
    var options: ConnectOptions = []
}

/// One client's subscription to one characteristic.
struct Subscription: Equatable {
    var attribute: AttributeHandle
    var client: BluetoothClient
    var since: Instant
}

/// One app's interest in an event.
struct Interest: Equatable {
    /// The manager that the decision looks at.
    var client: BluetoothClient
    /// All managers of the app that are interested.
    var slots: SlotSet
    var via: Registration
    var since: Instant
    /// False for the answer to a process that is gone.
    var wanted = true

    init(_ client: BluetoothClient, via: Registration, since: Instant, wanted: Bool = true) {
        self.client = client
        self.slots = SlotSet(client.slot)
        self.via = via
        self.since = since
        self.wanted = wanted
    }
}

/// A set of an app's managers by their slots, of which there are at most 64; iterates in ascending order.
struct SlotSet: Equatable, Sequence, IteratorProtocol {
    var bits: UInt64 = 0

    init() {}

    init(_ slot: UInt16) { bits = 1 << UInt64(slot) }

    var isEmpty: Bool { bits == 0 }

    /// The lowest slot; a precondition failure when there is none.
    var lowest: UInt16 {
        precondition(bits != 0, "a set of no managers has no lowest")
        return UInt16(bits.trailingZeroBitCount)
    }

    func contains(_ slot: Int) -> Bool { bits & (1 << UInt64(slot)) != 0 }

    mutating func insert(_ slot: UInt16) { bits |= 1 << UInt64(slot) }

    mutating func remove(_ slot: Int) { bits &= ~(1 << UInt64(slot)) }

    mutating func subtract(_ other: SlotSet) { bits &= ~other.bits }

    mutating func next() -> Int? {
        if bits == 0 { return nil }
        let slot = bits.trailingZeroBitCount
        bits &= bits &- 1
        return slot
    }
}

import Testing
import WakeModel

@testable import WakeRouter

@Suite("Memory, processor time, locks, sockets and the screen")
struct CitizenRuleTests {
    /// An app that a notification woke: it runs in the background.
    private func awake(_ profile: Profile = .ios17) -> (Phone, AppID) {
        var phone = Phone(profile)
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.forget()
        return (phone, app)
    }

    // MARK: Drawing

    @Test("RESP-1: who draws in the background is ended at once")
    func drawsInBackground() {
        var (phone, app) = awake()
        phone.request(app, .measured(.drew))
        #expect(phone.deeds(.endedForDrawing) == [app])
        #expect(phone.exits.map(\.cause) == [.policy])
    }

    @Test("RESP-1: who draws in the foreground goes on")
    func drawsInForeground() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .measured(.drew))
        #expect(phone.exits.isEmpty)
        #expect(phone.deeds(.endedForDrawing) == [])
    }

    // MARK: Suspension

    @Test(
        "RESP-2: what an app listens on is closed when it is suspended, once",
        arguments: [ProcessMeasure.listeners(1), .services(2)]
    )
    func listens(measure: ProcessMeasure) {
        var (phone, app) = awake()
        phone.request(app, .measured(measure))
        #expect(phone.deeds(.closedListeners) == [])
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        #expect(phone.deeds(.closedListeners) == [app])
        // Services are nobody's socket.
        #expect(phone.actions.contains(.closeListeners(app)) == (measure == .listeners(1)))
        phone.notify()
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        #expect(phone.deeds(.closedListeners) == [app])
    }

    @Test("RESP-2: nothing is closed of an app that listens on nothing")
    func listensOnNothing() {
        var (phone, app) = awake()
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        #expect(phone.deeds(.closedListeners) == [])
    }

    @Test(
        "RESP-3: the connections of a suspended app go after the setting, and never without it",
        arguments: [true, false]
    )
    func connections(ends: Bool) {
        var profile = Profile.ios17
        profile.areas.voip.connectionsLast = ends ? .seconds(600) : nil
        var phone = Phone(profile)
        let app = phone.suspendedCaller([])
        phone.wait(.seconds(3_600))
        #expect(phone.deeds(.toreDownConnections) == (ends ? [app] : []))
    }

    @Test("RESP-4: who holds a shared lock when it is to be suspended is ended with 0xdead10cc")
    func lock() {
        var (phone, app) = awake()
        phone.request(app, .measured(.locks(1)))
        #expect(phone.exits.isEmpty)
        phone.wait(.seconds(10))
        #expect(phone.deeds(.endedForLocks) == [app])
        #expect(phone.exits.map(\.code) == [0xdead_10cc])
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("RESP-4: a lock that was let go of is none")
    func unlocked() {
        var (phone, app) = awake()
        phone.request(app, .measured(.locks(1)))
        phone.request(app, .measured(.locks(0)))
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("RESP-4: a lock that is found while the app is being frozen ends it as well")
    func lockWhileFreezing() {
        var (phone, app) = awake()
        phone.wait(.seconds(10))
        phone.request(app, .measured(.locks(1)))
        #expect(phone.exits.map(\.code) == [0xdead_10cc])
    }

    @Test("RESP-4: a lock on a file of its own costs an app nothing, which is said when it is suspended")
    func privateLock() {
        var (phone, app) = awake()
        phone.request(app, .measured(.privateLocks(1)))
        #expect(phone.deeds(.sparedPrivateLocks) == [])
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        #expect(phone.router.state(of: app) == .suspended)
        #expect(phone.deeds(.sparedPrivateLocks) == [app])
        #expect(phone.exits.isEmpty)
    }

    @Test("RESP-4: an app in the foreground may hold what it likes")
    func lockInForeground() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .measured(.locks(3)))
        phone.wait(.seconds(600))
        #expect(phone.exits.isEmpty)
    }

    @Test("RESP-5: the view is kept once didEnterBackground has returned, and not before")
    func viewSnapshot() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.user(.home, app)
        #expect(phone.deeds(.tookViewSnapshot) == [])
        phone.report(app, .returned(.didEnterBackground))
        #expect(phone.deeds(.tookViewSnapshot) == [app])
    }

    // MARK: Memory

    @Test("RESP-6: who runs in the background hears that memory is short, and who is suspended does not")
    func warning() {
        var (phone, app) = awake()
        let asleep = phone.suspendedSubscriber()
        phone.forget()
        phone.hear(.phone(.memoryWarning))
        #expect(phone.deeds(.warnedOfMemory) == [app])
        #expect(phone.callbacks == [.didReceiveMemoryWarning])
        #expect(phone.router.state(of: asleep) == .suspended)
    }

    @Test("MEM-1: a suspended app goes first, at once and without a word")
    func suspendedFirst() {
        var (phone, app) = awake()
        let asleep = phone.suspendedSubscriber()
        phone.forget()
        phone.hear(.phone(.memoryShortage))
        #expect(phone.deeds(.purgedForMemory) == [asleep])
        #expect(phone.callbacks == [])
        #expect(phone.exits.map(\.cause) == [.memory])
        #expect(phone.router.state(of: app) == .background)
    }

    @Test("MEM-1: who runs in the background goes after a warning, and after it has had its time")
    func backgroundAfterWarning() {
        var (phone, app) = awake()
        phone.hear(.phone(.memoryShortage))
        #expect(phone.deeds(.warnedOfMemory) == [app])
        #expect(phone.exits.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.deeds(.purgedForMemory) == [app])
    }

    @Test("MEM-1: nobody goes when there is memory again in time")
    func relief() {
        var (phone, app) = awake()
        phone.hear(.phone(.memoryShortage))
        phone.hear(.phone(.memoryRelief))
        phone.wait(.seconds(5))
        #expect(phone.deeds(.purgedForMemory) == [])
        #expect(phone.router.state(of: app) == .background)
    }

    @Test("MEM-1: the foreground goes after the background")
    func foregroundLast() {
        var (phone, app) = awake()
        let front = phone.install()
        phone.open(front)
        phone.hear(.phone(.memoryShortage))
        phone.wait(.seconds(1))
        #expect(phone.deeds(.purgedForMemory) == [app])
        phone.hear(.phone(.memoryShortage))
        phone.wait(.seconds(1))
        #expect(phone.deeds(.purgedForMemory) == [app, front])
    }

    @Test("MEM-1: who sounds in the background outlives the foreground")
    func soundOutlives() {
        var phone = Phone()
        let player = phone.player()
        phone.leavePlaying(player)
        let front = phone.install()
        phone.open(front)
        #expect(phone.router.memoryBand(player) == 12)
        #expect(phone.router.memoryBand(front) == 10)
        phone.hear(.phone(.memoryShortage))
        phone.wait(.seconds(1))
        #expect(phone.deeds(.purgedForMemory) == [front])
    }

    @Test("MEM-2: of suspended apps the largest goes first")
    func largest() {
        var phone = Phone()
        let apps = [UInt32(200), 500, 300].map { size in
            let app = phone.install()
            phone.open(app)
            phone.request(app, .measured(.footprint(size)))
            phone.leave(app)
            return app
        }
        for _ in apps { phone.hear(.phone(.memoryShortage)) }
        #expect(phone.deeds(.purgedForMemory) == [apps[1], apps[2], apps[0]])
        #expect(phone.deeds(.purgedLargest) == [apps[1], apps[2]])
    }

    @Test("MEM-2: of apps of one size the least recently used goes first")
    func leastRecentlyUsed() {
        var phone = Phone()
        let apps = (0..<3).map { _ in phone.install() }
        for app in [apps[1], apps[0], apps[2]] {
            phone.open(app)
            phone.wait(.seconds(10))
            phone.leave(app)
        }
        for _ in apps { phone.hear(.phone(.memoryShortage)) }
        #expect(phone.deeds(.purgedForMemory) == [apps[1], apps[0], apps[2]])
    }

    @Test("MEM-3: an app over its own limit is ended wherever it is", arguments: [true, false])
    func ownLimit(inFront: Bool) {
        var (phone, app) = awake()
        if inFront { phone.user(.launch, app) }
        phone.request(app, .measured(.footprint(1_400)))
        #expect(phone.exits.isEmpty)
        phone.request(app, .measured(.footprint(1_401)))
        #expect(phone.deeds(.endedForFootprint) == [app])
        #expect(phone.exits.map(\.cause) == [.memory])
    }

    // MARK: Processor time

    /// An app that runs in the background for as long as its task lasts.
    private func working() -> (Phone, AppID) {
        var profile = Profile.ios17
        profile.taskBudget = .seconds(600)
        var phone = Phone(profile)
        let app = phone.install()
        phone.open(app)
        phone.request(app, .beginTask(token: 1))
        return (phone, app)
    }

    @Test("CPU-1: 80 per cent for a minute in the background is too much")
    func busy() {
        var (phone, app) = working()
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.request(app, .measured(.processor(81)))
        phone.wait(.seconds(59))
        #expect(phone.exits.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.deeds(.endedForProcessorTime) == [app])
        #expect(phone.exits.map(\.cause) == [.cpu])
    }

    @Test("CPU-1: what an app did in the foreground does not count")
    func busyInForeground() {
        var (phone, app) = working()
        phone.request(app, .measured(.processor(100)))
        phone.wait(.seconds(50))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.wait(.seconds(59))
        #expect(phone.exits.isEmpty)
        phone.wait(.seconds(1))
        #expect(phone.deeds(.endedForProcessorTime) == [app])
    }

    @Test("CPU-1: the share itself is allowed, and rest in time ends the count")
    func restsInTime() {
        var (phone, app) = working()
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.request(app, .measured(.processor(80)))
        phone.wait(.seconds(120))
        phone.request(app, .measured(.processor(100)))
        phone.wait(.seconds(50))
        phone.request(app, .measured(.processor(5)))
        phone.wait(.seconds(20))
        phone.request(app, .measured(.processor(100)))
        phone.wait(.seconds(50))
        #expect(phone.exits.isEmpty)
        _ = app
    }

    // MARK: Time

    @Test("TASK-5: an app that asks for its time is told")
    func timeRemaining() {
        var (phone, app) = awake()
        phone.request(app, .asked(.remaining))
        #expect(phone.deeds(.toldTimeRemaining) == [app])
    }

    @Test("TASK-7: an expiring activity may begin while there is time, and not once it is spent")
    func activity() {
        var (phone, app) = working()
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.request(app, .asked(.activity))
        #expect(phone.deeds(.grantedActivity) == [app])
        phone.wait(.seconds(599))
        phone.request(app, .asked(.activity))
        #expect(phone.deeds(.refusedActivity) == [app])
    }
}

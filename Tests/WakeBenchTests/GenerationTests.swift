import Testing
import WakeBench
import WakeModel
import WakePorts
import WakeRouter

/// A host whose processes say what a test has them say.
private final class SpeakingHost: AppHost {
    var hear: ((AppID, UInt32, AppWord) -> Void)?
    var launched: [UInt32] = []

    func launch(_ app: AppID, generation: UInt32, state: AppState, cause: LaunchCause?, at now: Instant) {
        launched.append(generation)
        hear?(app, generation, .report(.launched))
    }
    func thaw(_ app: AppID, at now: Instant) {}
    func freeze(_ app: AppID, at now: Instant) {}
    func kill(_ app: AppID, at now: Instant) {}
    func callback(_ callback: LifecycleCallback, state: AppState, to app: AppID, at now: Instant) {}
    func expireTasks(_ tokens: [UInt64], of app: AppID, at now: Instant) {}
    func deliver(_ delivery: AppDelivery, to app: AppID, at now: Instant) {}
    func tell(_ notice: AppNotice, to app: AppID, at now: Instant) {}
    var nextDeadline: Instant? { nil }
    func timeReached(_ now: Instant) {}
    var isQuiet: Bool { true }
    func stop() {}
}

/// Keeps what the router was told of processes.
private final class Listener: BenchObserver {
    var inputs: [Input] = []

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        switch item.input {
        case .process, .request: inputs.append(item.input)
        default: break
        }
    }
}

@Suite("Words of processes that are gone")
struct GenerationTests {
    @Test("What a killed process said late never reaches the one that follows it in the same turn")
    func lateWords() throws {
        let names = NameTable()
        let bench = Bench(
            router: Router(profile: .ios17),
            names: names,
            journal: NoJournal()
        )
        let (host, listener) = (SpeakingHost(), Listener())
        let app = AppID(0)
        bench.listen(to: host)
        bench.add(listener)
        bench.assign(app, to: host, leavesTheBench: true)
        bench.submit(.install(app, AppManifest(bundle: names.intern("com.example.app"), modes: [])), origin: .none)
        bench.submit(.user(app, .launch), origin: .none)
        try bench.run(at: .zero)
        #expect(host.launched == [1])

        // Its end, its successor and its last words are there in one turn.
        bench.submit(.terminate(app, .watchdog), origin: .none)
        bench.submit(.user(app, .launch), origin: .none)
        host.hear?(app, 1, .request(.beginTask(token: 7)))
        host.hear?(app, 1, .report(.exited(0)))
        try bench.run(at: .zero)
        #expect(host.launched == [1, 2])
        #expect(bench.router.state(of: app) == .active)
        #expect(listener.inputs == [.process(app, .launched), .process(app, .launched)])

        host.hear?(app, 2, .request(.beginTask(token: 8)))
        try bench.run(at: .zero)
        #expect(listener.inputs.last == .request(app, .beginTask(token: 8)))
    }
}

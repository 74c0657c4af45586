import Foundation
import Testing
import WakeModel
import WakeReports
import WakeRouter

/// The router's own decisions about one app and where the phone is, in metres east of home.
private struct Walk {
    static let app = AppID(0)

    let names: NameTable
    var router = Router(profile: .ios17)
    var now = Instant.zero
    var decisions: [Decision] = []
    private var lastEvent: UInt64 = 0

    /// An active app that the user lets know the position.
    init(_ names: NameTable, modes: [BackgroundMode] = [], always: Bool = true) {
        self.names = names
        let manifest = AppManifest(bundle: names.intern("com.acme.fence"), modes: BackgroundModes(modes))
        hear(.install(Self.app, manifest))
        hear(.user(Self.app, .launch))
        ask(.create)
        hear(.process(Self.app, .launched))
        ask(.requestAuthorization(always: always))
    }

    mutating func hear(_ input: Input) {
        lastEvent += 1
        let id = EventID(lastEvent)
        var input = input
        if case .event(var event) = input {
            event.id = id
            input = .event(event)
        }
        var output = RouterOutput()
        router.handle(input, id: id, at: now, into: &output)
        decisions += output.decisions
        for case .raise(let event, _) in output.actions { hear(.event(event)) }
    }

    mutating func ask(_ request: LocationRequest) { hear(.request(Self.app, .location(1, request))) }

    mutating func wait(until second: Int64) {
        let target = Instant.zero.advanced(by: .seconds(second))
        while let next = router.nextDeadline, next <= target {
            now = max(now, next)
            hear(.timeReached)
        }
        now = target
    }

    static func east(_ metres: Double) -> Direction {
        let angle = metres / Sphere.radius
        return Direction(x: cos(angle), y: sin(angle), z: 0)
    }

    mutating func go(to metres: Double) {
        hear(
            .event(
                WakeEvent(
                    kind: .positionFixed,
                    subject: names.intern("gps"),
                    fix: Fix(direction: Self.east(metres)),
                    origin: names.intern("walk.yaml:12")
                )
            )
        )
    }

    mutating func monitorHome() {
        let home = names.intern("home")
        let center = Self.east(0)
        ask(.monitor(CircularRegion(identifier: home, center: center, metres: 1_000, profile: router.profile)))
    }

    mutating func update(filter: Double) {
        ask(
            .startUpdating(
                distanceFilterChord: Sphere.chord(metres: filter),
                allowsBackground: true,
                pausesAutomatically: false
            )
        )
    }

    mutating func suspend() {
        hear(.user(Self.app, .home))
        hear(.process(Self.app, .returned(.didEnterBackground)))
        hear(.process(Self.app, .suspended))
    }
}

@Suite("Decisions about where the phone is, in the log")
struct LocationDecisionTests {
    let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    /// The line of the last decision about events of a kind.
    private func line(_ walk: Walk, _ kind: EventKind) throws -> String {
        let decision = try #require(walk.decisions.last { $0.kind == kind })
        return try fixture.lines([[decision]])[1]
    }

    /// The part of a line that belongs to a check.
    private func check(_ walk: Walk, _ kind: EventKind, _ name: String) throws -> String {
        let line = try line(walk, kind)
        let start = try #require(line.range(of: "\"name\":\"\(name)\","))
        let rest = line[start.upperBound...]
        let end = try #require(rest.range(of: ",{\"rule\"") ?? rest.range(of: "],\"would_have\""))
        return String(rest[..<end.lowerBound])
    }

    @Test("REG-6: the entry that relaunches an app the system ended names the region, its parent and every check")
    func regionEntry() throws {
        var walk = Walk(fixture.names)
        walk.go(to: 5_000)
        walk.monitorHome()
        walk.suspend()
        walk.wait(until: 60)
        walk.hear(.terminate(Walk.app, .memory))
        walk.wait(until: 3_600)
        walk.go(to: 100)
        walk.wait(until: 3_620)
        try RecordAnswers.check(try line(walk, .regionEntered), "region-entry")
    }

    @Test("LAUNCH-3: the beacon that relaunches a force-quit app shows the force quit that it lifts")
    func beaconEntry() throws {
        var walk = Walk(fixture.names)
        let (shop, beacon) = (fixture.names.intern("shop"), fixture.names.intern("E2C56DB5"))
        walk.ask(.monitorBeacons(BeaconRegion(identifier: shop, beacons: BeaconIdentity(uuid: beacon, major: 1))))
        walk.suspend()
        walk.wait(until: 60)
        walk.hear(.user(Walk.app, .forceQuit))
        walk.wait(until: 3_600)
        walk.hear(
            .event(
                WakeEvent(
                    kind: .beaconSighted,
                    subject: fixture.names.intern("door"),
                    beacon: BeaconSighting(uuid: beacon, major: 1, minor: 7),
                    origin: fixture.names.intern("walk.yaml:14")
                )
            )
        )
        try RecordAnswers.check(try line(walk, .regionEntered), "beacon-entry")
    }

    @Test("LOC-4: a fix within the distance filter shows how far the phone moved, and how far it had to")
    func distanceFilter() throws {
        var walk = Walk(fixture.names, modes: [.location])
        let name = "moved at least distanceFilter since the last update"
        walk.update(filter: 50)
        walk.go(to: 0)
        #expect(
            try check(walk, .positionFixed, name)
                == #""result":"pass","observed":"true","filter_m":50,"moved_m":null}"#
        )
        walk.go(to: 12.34)
        #expect(walk.decisions.last?.reason == .withinDistanceFilter)
        #expect(
            try check(walk, .positionFixed, name) == #""result":"fail","decisive":true,"confidence":"documented","#
                + #""observed":"false","filter_m":50,"moved_m":12.3}"#
        )
    }

    @Test("LOC-5: under When In Use a check says whether the app is in use, and of updates where they began")
    func whenInUse() throws {
        var walk = Walk(fixture.names, modes: [.location], always: false)
        let name = "the user allows the app to know the position now"
        walk.update(filter: 0)
        walk.ask(.startSignificant)
        walk.go(to: 0)
        walk.suspend()
        walk.go(to: 9_000)
        #expect(
            try check(walk, .positionFixed, name)
                == #""result":"pass","observed":"when-in-use","in_use":false,"began_in_foreground":true}"#
        )
        walk.hear(.terminate(Walk.app, .cpu))
        walk.wait(until: 3_600)
        walk.go(to: 20_000)
        #expect(
            try check(walk, .significantChange, name) == #""result":"fail","decisive":true,"#
                + #""confidence":"documented","observed":"when-in-use","in_use":false}"#
        )
    }

    @Test("SESS-3: under When In Use a check says that a session keeps the app in use")
    func session() throws {
        var walk = Walk(fixture.names, modes: [.location], always: false)
        walk.ask(.beginSession)
        walk.update(filter: 0)
        walk.suspend()
        walk.go(to: 9_000)
        #expect(
            try check(walk, .positionFixed, "the user allows the app to know the position now")
                == #""result":"pass","observed":"when-in-use","in_use":false,"lifted_by":"SESS-3","#
                + #""began_in_foreground":true}"#
        )
    }

    @Test("LOC-5: what the user has denied is said to be, and what allows it")
    func denied() throws {
        var walk = Walk(fixture.names)
        walk.go(to: 5_000)
        walk.monitorHome()
        walk.suspend()
        walk.wait(until: 60)
        walk.hear(.event(WakeEvent(kind: .authorizationChanged, app: Walk.app, authorization: .denied)))
        walk.wait(until: 3_600)
        walk.go(to: 100)
        walk.wait(until: 3_620)
        let entry = try #require(walk.decisions.last { $0.kind == .regionEntered })
        let log = try fixture.run((walk.decisions.filter { $0.kind == .authorizationChanged } + [entry]).map { [$0] })
        let text = Why(log, app: "com.acme.fence").explanation()
        let denied = "the user has denied it; only Always wakes an app"
        #expect(text.contains("  because  NotAuthorized   \(denied)   [LOC-5, "), "\(text)")
        #expect(text.contains("Settings alone allow it: `authorize: APP, location: always`\n"), "\(text)")
    }

    @Test("LOC-2, LOC-3, LOC-7: the checks of updates show the app's setting, its state and whether they are paused")
    func updates() throws {
        var walk = Walk(fixture.names, modes: [.location])
        walk.update(filter: 0)
        walk.go(to: 0)
        let kind = EventKind.positionFixed
        let setting = "the updates go on in the background: allowsBackgroundLocationUpdates is set"
        #expect(try check(walk, kind, setting) == #""result":"pass","observed":"true"}"#)
        #expect(
            try check(walk, kind, "the process that started the updates runs or is suspended")
                == #""result":"pass","observed":"active","since":"T+00:00:00.000"}"#
        )
        #expect(try check(walk, kind, "updates are not paused") == #""result":"pass","observed":"false"}"#)
    }

    @Test("REG-1, REG-2: a fix that crosses nothing says so, and one that begins a dwell says since when it runs")
    func dwell() throws {
        var walk = Walk(fixture.names)
        walk.go(to: 5_000)
        walk.monitorHome()
        walk.wait(until: 10)
        walk.go(to: 4_000)
        let boundary = Check.crossesBoundary.statement
        #expect(try check(walk, .positionFixed, boundary).hasSuffix(#""observed":"false"}"#))
        #expect(
            try check(walk, .positionFixed, Check.anyoneRegistered.statement) == #""result":"pass","observed":"true"}"#
        )
        #expect(try line(walk, .positionFixed).contains(#""interest":null,"budget":null,"#))
        #expect(try line(walk, .positionFixed).contains(#""by_reason":{"NothingCrossed":1}"#))
        walk.wait(until: 20)
        walk.go(to: 100)
        #expect(try check(walk, .positionFixed, boundary) == #""result":"pass","observed":"true"}"#)
        #expect(
            try check(walk, .positionFixed, "the position has stayed past the boundary for the dwell")
                .hasSuffix(#""observed":"false","since":"T+00:00:20.000","dwell_ms":20000}"#)
        )
    }
}

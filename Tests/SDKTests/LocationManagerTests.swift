import Foundation
import Testing
import WakeModel
import WakeWire

/// The folder of an app, for as long as a test holds it.
final class AppHome {
    let folder = FileManager.default.temporaryDirectory.appending(path: "app-home-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }
}

/// The bench's end of a process that does with a location manager what it is told.
struct LocationAppEnd {
    static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    static let office = WireRegion(
        identifier: "office",
        shape: .circle(latitude: 52.3731, longitude: 4.8922, radius: 150)
    )
    static let shelf = WireRegion(identifier: "shelf", shape: .beacons(uuid: uuid, major: 1, minor: 7))
    static let range = WireRegion(
        identifier: "beacons \(uuid) 1 any",
        shape: .beacons(uuid: uuid, major: 1, minor: nil)
    )

    let app: AppProcess
    private let home: AppHome
    /// What the app asked while it started, but for its managers.
    private(set) var asked: [WireLocationRequest] = []

    /// Starts it, answers for its managers, and waits until it has launched.
    ///
    /// - Parameter known: The folder of earlier processes of it; nil for a fresh one.
    init(
        _ commands: [String],
        authorization: WireAuthorization = .authorizedAlways,
        isPrecise: Bool = true,
        regions: [WireRegion] = [],
        home known: AppHome? = nil
    ) throws {
        home = try known ?? AppHome()
        app = try AppProcess(
            [AppProcess.repository.appending(path: ".build/debug/LocationApp").path] + commands,
            home: home.folder.path
        )
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background)))
        let status = WireLocationStatus(
            authorization: authorization,
            isPrecise: isPrecise,
            largestRadius: 1_000_000,
            regions: regions
        )
        while true {
            switch try app.bench.next() {
            case .location(_, .create(let id)): app.bench.send(.reply(id: id, WireReply(location: status)))
            case .location(_, .allowBackground(let id)):
                asked.append(.allowBackground(id: 0))
                app.bench.send(.reply(id: id, WireReply()))
            case .location(_, let request): asked.append(request)
            case .launched: return
            case let other: throw BenchFailure(description: "unexpected: \(other)")
            }
        }
    }

    /// Tells events to a manager; what the app asked until it had handled the last.
    @discardableResult
    func tell(_ events: WireLocationEvent..., manager: UInt32 = 1) throws -> [WireLocationRequest] {
        for (number, event) in events.enumerated() {
            app.bench.deliver(UInt64(number + 1), manager: manager, .location(event))
        }
        return try app.bench.untilAcknowledged(UInt64(events.count)).compactMap {
            if case .location(_, let request) = $0 { request } else { nil }
        }
    }

    /// What the app printed, once it has ended without a complaint.
    func lines() throws -> [String] {
        let end = try app.end()
        #expect(end.errors == [])
        #expect(end.status == 0)
        return end.lines
    }
}

@Suite("A location manager")
struct LocationManagerTests {
    private static func position(_ latitude: Double, _ seconds: Double) -> Position {
        Position(latitude: latitude, longitude: 4.5, horizontalAccuracy: 5, timestamp: seconds)
    }

    private static func failure(_ code: Int) -> WireFailure {
        WireFailure(domain: "kCLErrorDomain", code: code, message: "So it is.")
    }

    private static let visit = Visit(
        latitude: 52.5,
        longitude: 4.5,
        horizontalAccuracy: 30,
        arrival: 100,
        departure: nil
    )
    private static let beacon = WireBeacon(
        uuid: LocationAppEnd.uuid,
        major: 1,
        minor: 7,
        proximity: .near,
        accuracy: 1.5,
        rssi: -61,
        timestamp: 1
    )

    // MARK: Authorization

    @Test("It knows what the app may know, and how large a region may be, as soon as it is made")
    func status() throws {
        let end = try LocationAppEnd(["status", "class-status", "largest"], authorization: .authorizedWhenInUse)
        #expect(try end.lines() == ["status 4 0", "class status 4", "largest 1000000.0"])
    }

    @Test("Precise positions for a while: the answer is awaited, or a handler gets it once the call has returned")
    func temporaryAccuracy() throws {
        let precise = try LocationAppEnd(["precise"])
        try precise.waitForLine("handler declined false")
        #expect(try precise.lines() == ["precise", "asked", "handler declined false"])
        let reduced = try LocationAppEnd(["precise"], isPrecise: false)
        try reduced.waitForLine("handler declined true")
        #expect(try reduced.lines() == ["declined true", "asked", "handler declined true"])
    }

    @Test("It tells its delegate of an authorization, with both of its halves known")
    func authorization() throws {
        let end = try LocationAppEnd([], authorization: .notDetermined)
        try end.tell(.authorization(.notDetermined, precise: true), .authorization(.authorizedAlways, precise: false))
        #expect(try end.lines() == ["authorization 0 0", "authorization 3 1"])
    }

    @Test("It tells a delegate that has only the older form of an authorization")
    func oldAuthorization() throws {
        let end = try LocationAppEnd(["old-forms"])
        try end.tell(.authorization(.denied, precise: true))
        #expect(try end.lines() == ["old authorization 2"])
    }

    @Test(
        "It asks the user only for what the app has not got",
        arguments: [
            (WireAuthorization.notDetermined, [false, true]), (.authorizedWhenInUse, [true]), (.authorizedAlways, []),
            (.denied, []), (.restricted, []),
        ]
    )
    func asking(authorization: WireAuthorization, expected: [Bool]) throws {
        let end = try LocationAppEnd(["when-in-use", "always"], authorization: authorization)
        #expect(end.asked == expected.map { .requestAuthorization(always: $0) })
    }

    // MARK: Positions

    @Test("It says how updates are wanted when they begin, and again for each change while they go on")
    func wishes() throws {
        let end = try LocationAppEnd(["filter", "start", "background", "stop", "no-pause"])
        var wished = WireLocationOptions(distanceFilter: 50)
        var expected: [WireLocationRequest] = [.startUpdating(wished)]
        wished.allowsBackground = true
        expected += [.allowBackground(id: 0), .startUpdating(wished), .stopUpdating]
        #expect(end.asked == expected)
    }

    @Test("LOC-6: the setter of allowsBackgroundLocationUpdates waits for the bench, before any update begins")
    func backgroundSetter() throws {
        let end = try LocationAppEnd(["background"])
        #expect(end.asked == [.allowBackground(id: 0)])
        let without = try LocationAppEnd(["foreground"])
        #expect(without.asked.isEmpty)
    }

    @Test("It starts and stops each service by a request of its own")
    func services() throws {
        let end = try LocationAppEnd(["significant", "visits", "once", "no-significant", "no-visits"])
        #expect(end.asked == [.startSignificant, .startVisits, .requestLocation, .stopSignificant, .stopVisits])
    }

    @Test("It tells positions oldest first and keeps the last")
    func updates() throws {
        let end = try LocationAppEnd(["start"])
        try end.tell(.updated([Self.position(52.25, 1), Self.position(52.5, 2)]))
        #expect(try end.lines() == ["updated [\"52.25,4.5\", \"52.5,4.5\"] last=52.5"])
    }

    @Test("It tells a delegate that has only the oldest form each position and the one before it")
    func oldUpdates() throws {
        let end = try LocationAppEnd(["old-forms", "start"])
        try end.tell(.updated([Self.position(1, 1)]), .updated([Self.position(2, 2), Self.position(3, 3)]))
        #expect(
            try end.lines() == [
                "old updated 1.0,4.5 from none", "old updated 2.0,4.5 from 1.0,4.5", "old updated 3.0,4.5 from 2.0,4.5",
            ]
        )
    }

    @Test("A failure reaches the delegate as a CLError")
    func failure() throws {
        let end = try LocationAppEnd(["start"])
        try end.tell(.failed(Self.failure(1)))
        #expect(try end.lines() == ["failed denied"])
    }

    @Test("LOC-7: after a pause the app must begin again; a changed wish alone begins nothing")
    func pause() throws {
        let end = try LocationAppEnd(["start"])
        #expect(try end.tell(.paused).isEmpty)
        #expect(try end.lines() == ["paused"])
    }

    @Test("A visit that nobody saw begin, or that goes on, has Apple's far dates")
    func visits() throws {
        let end = try LocationAppEnd(["visits"])
        let ended = Visit(latitude: 52.5, longitude: 4.5, horizontalAccuracy: 30, arrival: nil, departure: 200)
        try end.tell(.visited(Self.visit), .visited(ended))
        #expect(try end.lines() == ["visit 52.5 began=100.0 ended=not", "visit 52.5 began=unknown ended=200.0"])
    }

    @Test("A manager that goes takes its updates with it")
    func release() throws {
        let end = try LocationAppEnd(["another", "start", "drop"])
        #expect(end.asked == [.startUpdating(WireLocationOptions()), .release])
    }

    @Test("LOC-1: a significant change reaches the manager that began the service, and no other")
    func significant() throws {
        let end = try LocationAppEnd(["significant", "another"])
        try end.tell(.updated([Self.position(52.25, 1)]), .visited(Self.visit), manager: 0)
        #expect(try end.lines() == ["updated [\"52.25,4.5\"] last=52.25"])
    }

    @Test("A single position is told once, and what comes after updates were stopped is not")
    func single() throws {
        let end = try LocationAppEnd(["start", "stop", "once"])
        try end.tell(.updated([Self.position(52.25, 1)]), .updated([Self.position(52.5, 2)]))
        #expect(try end.lines() == ["updated [\"52.25,4.5\"] last=52.25"])
    }

    // MARK: Deferred updates

    @Test(
        "Updates that cannot be held back finish at once, with the reason",
        arguments: [
            (["defer"], "deferredNotUpdatingLocation"), (["coarse", "start", "defer"], "deferredAccuracyTooLow"),
            (["filter", "start", "defer"], "deferredDistanceFiltered"),
        ]
    )
    func cannotDefer(commands: [String], reason: String) throws {
        let end = try LocationAppEnd(commands)
        #expect(!end.asked.contains { if case .deferUpdates = $0 { true } else { false } })
        try end.tell(.resumed)
        #expect(try end.lines() == ["deferred finished \(reason)", "resumed"])
    }

    @Test("Updates are held back until the bench, or the app, ends it")
    func deferring() throws {
        let end = try LocationAppEnd(["start", "defer"])
        #expect(end.asked.last == .deferUpdates(distance: 1_000, timeout: nil))
        try end.tell(.deferredFinished(Self.failure(11)))
        #expect(try end.lines() == ["deferred finished deferredFailed"])
        let other = try LocationAppEnd(["start", "defer", "no-defer"])
        #expect(other.asked.last == .disallowDeferred)
        try other.tell(.resumed)
        #expect(try other.lines() == ["deferred finished deferredCanceled", "resumed"])
    }

    // MARK: Regions

    @Test("A region is among those monitored once the bench says so, and no longer after it was stopped")
    func monitoring() throws {
        let end = try LocationAppEnd(["monitor", "monitored"])
        #expect(end.asked == [.monitor(LocationAppEnd.office)])
        try end.tell(.monitoringStarted("office"))
        #expect(try end.lines() == ["monitored []", "monitoring office 150.0 monitored=[\"office\"]"])
        let stopped = try LocationAppEnd(["unmonitor", "monitored"], regions: [LocationAppEnd.office])
        #expect(stopped.asked == [.stopMonitoring(region: "office")])
        #expect(try stopped.lines() == ["monitored []"])
    }

    @Test("REG-3: a region that is refused is named with the error, and is not monitored")
    func refused() throws {
        let end = try LocationAppEnd(["monitor"])
        try end.tell(.monitoringFailed("office", Self.failure(5)))
        #expect(try end.lines() == ["monitoring failed office 150.0 regionMonitoringFailure"])
    }

    @Test("A region that is no place fails without a word to the bench")
    func impossible() throws {
        let end = try LocationAppEnd(["monitor-nowhere"])
        #expect(end.asked.isEmpty)
        try end.tell(.resumed)
        #expect(try end.lines() == ["monitoring failed nowhere 150.0 regionMonitoringFailure", "resumed"])
    }

    @Test("A region whose identifier is longer than the wire carries fails without a word to the bench")
    func endlessIdentifier() throws {
        let end = try LocationAppEnd(["monitor-endless"])
        #expect(end.asked.isEmpty)
        try end.tell(.resumed)
        let name = String(repeating: "x", count: 1_025)
        #expect(try end.lines() == ["monitoring failed \(name) 7.0 regionMonitoringFailure", "resumed"])
    }

    @Test("REG-6: a new process knows the regions of the one before, and hears of their crossings")
    func relaunch() throws {
        let end = try LocationAppEnd(["monitored"], regions: [LocationAppEnd.office, LocationAppEnd.shelf])
        try end.tell(.regionEntered("office"), .regionExited("shelf"), .regionEntered("unheard of"), manager: 0)
        #expect(
            try end.lines() == [
                "monitored [\"office\", \"shelf\"]", "entered office 150.0", "state 1 office 150.0", "exited shelf 1.7",
                "state 2 shelf 1.7",
            ]
        )
    }

    @Test("REG-1: a crossing, and the state after it, is told by every manager and acknowledged once")
    func everyManager() throws {
        let end = try LocationAppEnd(["another"], regions: [LocationAppEnd.office])
        try end.tell(.regionEntered("office"), .resumed, manager: 0)
        let crossing = ["entered office 150.0", "state 1 office 150.0"]
        #expect(try end.lines() == crossing + crossing + ["resumed", "resumed"])
    }

    @Test("REG-5: the state of a region is asked for and told")
    func state() throws {
        let end = try LocationAppEnd(["state"], regions: [LocationAppEnd.office])
        #expect(end.asked == [.requestState(region: "office")])
        try end.tell(.regionState("office", .outside))
        #expect(try end.lines() == ["state 2 office 150.0"])
    }

    // MARK: Beacons

    @Test("BCN-4: the beacons of a constraint are told in one call, none too, until that is stopped")
    func ranging() throws {
        let end = try LocationAppEnd(["range"])
        #expect(end.asked == [.range(LocationAppEnd.range)])
        let name = LocationAppEnd.range.identifier
        try end.tell(.ranged(name, [Self.beacon]), .rangingFailed(name, Self.failure(16)), .ranged("other", []))
        #expect(try end.lines() == ["ranged [\"1.7 near -61\"] major=1", "ranging failed 16"])
        let empty = try LocationAppEnd(["range"])
        try empty.tell(.ranged(name, [Self.beacon, Self.beacon]), .ranged(name, []))
        #expect(try empty.lines() == ["ranged [\"1.7 near -61\", \"1.7 near -61\"] major=1", "ranged [] major=1"])
        let stopped = try LocationAppEnd(["range", "unrange"])
        #expect(stopped.asked.last == .stopRanging(region: name))
        try stopped.tell(.ranged(name, [Self.beacon]))
        #expect(try stopped.lines() == [])
    }

    @Test("Beacons of a region are ranged for a delegate of before iOS 13")
    func oldRanging() throws {
        let end = try LocationAppEnd(["old-forms", "range-region"])
        #expect(end.asked == [.range(LocationAppEnd.shelf)])
        try end.tell(.ranged("shelf", [Self.beacon]), .rangingFailed("shelf", Self.failure(17)))
        #expect(try end.lines() == ["old ranged [\"1.7 near -61\"] in shelf 1.7", "old ranging failed shelf 1.7 17"])
    }
}

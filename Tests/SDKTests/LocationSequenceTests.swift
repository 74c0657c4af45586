import Foundation
import Testing
import WakeModel
import WakeWire

extension LocationAppEnd {
    /// Answers for managers that the app makes, and gives what it asked up to the request that fits, which comes last.
    func serve(until fits: (WireLocationRequest) -> Bool) throws -> [WireLocationRequest] {
        var asked: [WireLocationRequest] = []
        while true {
            switch try app.bench.next() {
            case .location(_, .create(let id)):
                let status = WireLocationStatus(authorization: .authorizedAlways, largestRadius: 1_000_000)
                app.bench.send(.reply(id: id, WireReply(location: status)))
            case .location(_, .allowBackground(let id)):
                asked.append(.allowBackground(id: 0))
                app.bench.send(.reply(id: id, WireReply()))
            case .location(_, let request):
                asked.append(request)
                if fits(request) { return asked }
            default: break
            }
        }
    }

    func waitForLine(_ line: String) throws {
        guard try app.waitForLine(line) else { throw BenchFailure(description: "the app ended before '\(line)'") }
    }
}

@Suite("Sequences of Core Location")
struct LocationSequenceTests {
    private static func updating(_ allowsBackground: Bool) -> WireLocationRequest {
        .startUpdating(
            WireLocationOptions(
                distanceFilter: 0,
                desiredAccuracy: -1,
                allowsBackground: allowsBackground,
                pausesAutomatically: false
            )
        )
    }

    private static func position(_ latitude: Double) -> WireLocationEvent {
        .updated([Position(latitude: latitude, longitude: 4.5, horizontalAccuracy: 5, timestamp: 1)])
    }

    @Test("Live updates are standard updates without pauses, told with what limits them, until the loop ends")
    func live() throws {
        let end = try LocationAppEnd(["live"])
        #expect(try end.serve(until: { $0 == Self.updating(false) }) == [Self.updating(false)])
        try end.tell(Self.position(52.5), manager: 2)
        try end.waitForLine("live 52.5 denied=false limited=false")
        try end.tell(.authorization(.denied, precise: false), manager: 2)
        try end.waitForLine("live none denied=true limited=true")
        end.app.bench.deliver(9, manager: 2, .location(Self.position(2)))
        #expect(try end.serve(until: { $0 == .stopUpdating }).contains(.stopUpdating))
        try end.waitForLine("live ended")
    }

    @Test("SESS-3: live updates go on in the background while a session is held, as the bench is told, and no longer")
    func session() throws {
        let end = try LocationAppEnd(["session", "live"])
        #expect(end.asked == [.beginSession])
        let asked = try end.serve(until: { $0 == Self.updating(true) })
        #expect(asked == [.allowBackground(id: 0), Self.updating(true)])
        end.app.bench.deliver(1, manager: 2, .location(Self.position(1)))
        #expect(try end.serve(until: { $0 == .endSession }) == [Self.updating(false), .endSession])
    }

    private static let region = WireRegion(
        identifier: "CLMonitor places/office",
        shape: .circle(latitude: 52.3731, longitude: 4.8922, radius: 150)
    )

    @Test("A monitor's condition is a region of its own: changes of its state are told, and to no other manager")
    func monitor() throws {
        let end = try LocationAppEnd(["condition"])
        #expect(try end.serve(until: { $0 == .monitor(Self.region) }) == [.monitor(Self.region)])
        try end.waitForLine(#"conditions ["office"]"#)
        let asked = try end.tell(.monitoringStarted(Self.region.identifier), manager: 2)
        #expect(asked == [.requestState(region: Self.region.identifier)])
        // As it was assumed to be: not told.
        try end.tell(.regionState(Self.region.identifier, .outside), manager: 2)
        try end.tell(.regionEntered(Self.region.identifier), manager: 0)
        try end.waitForLine("condition office satisfied last=unsatisfied")
        end.app.bench.deliver(9, manager: 0, .location(.regionExited(Self.region.identifier)))
        let stop = WireLocationRequest.stopMonitoring(region: Self.region.identifier)
        #expect(try end.serve(until: { $0 == stop }) == [stop])
        let lines = try end.lines()
        #expect(
            lines == [
                #"conditions ["office"]"#, "condition office satisfied last=unsatisfied",
                "condition office unsatisfied last=satisfied",
            ]
        )
    }

    @Test("A monitor made again after a relaunch knows its conditions and tells the event, which nobody else sees")
    func relaunch() throws {
        let end = try LocationAppEnd(["monitored", "condition-again"], regions: [Self.region])
        try end.serveCreation()
        try end.waitForLine(#"conditions ["office"]"#)
        try end.tell(.regionEntered(Self.region.identifier), manager: 0)
        try end.waitForLine("condition office satisfied last=unknown")
        #expect(try end.lines().first == "monitored []")
    }

    private static let trail = WireRegion(
        identifier: "CLMonitor trail/office",
        shape: .circle(latitude: 52.3731, longitude: 4.8922, radius: 150)
    )

    @Test("MON-3: while an event is handled the record has the prior one, and the next process finds the last handled")
    func record() throws {
        let home = try AppHome()
        let first = try LocationAppEnd(["trail"], home: home)
        #expect(try first.serve(until: { $0 == .monitor(Self.trail) }) == [.monitor(Self.trail)])
        try first.waitForLine("trail record unsatisfied")
        try first.tell(.regionEntered(Self.trail.identifier), manager: 0)
        try first.waitForLine("trail satisfied before=unsatisfied")
        // The first was handled when the second is.
        first.app.bench.deliver(9, manager: 0, .location(.regionExited(Self.trail.identifier)))
        try first.waitForLine("trail unsatisfied before=satisfied")
        first.app.bench.deliver(10, manager: 0, .location(.regionEntered(Self.trail.identifier)))
        try first.waitForLine("trail satisfied before=unsatisfied and stays")
        _ = try first.lines()

        let second = try LocationAppEnd(["trail"], regions: [Self.trail], home: home)
        try second.serveCreation()
        // What the first process did not get over is told again.
        try second.waitForLine("trail record unsatisfied")
        try second.waitForLine("trail satisfied before=unsatisfied")
        second.app.bench.deliver(9, manager: 0, .location(.regionExited(Self.trail.identifier)))
        try second.waitForLine("trail unsatisfied before=satisfied")
        _ = try second.lines()
    }

    @Test("MON-3: a loop that ends has handled its event, and what a damaged file held is lost with a line")
    func damaged() throws {
        let home = try AppHome()
        let first = try LocationAppEnd(["trail-once"], home: home)
        _ = try first.serve(until: { $0 == .monitor(Self.trail) })
        try first.tell(.regionEntered(Self.trail.identifier), manager: 0)
        try first.waitForLine("trail ended record=satisfied")
        _ = try first.lines()

        let second = try LocationAppEnd(["trail-once"], regions: [Self.trail], home: home)
        try second.serveCreation()
        try second.waitForLine("trail record satisfied")
        _ = try second.lines()

        try "{".write(
            to: home.folder.appending(path: ".config/wakebench-monitors"),
            atomically: true,
            encoding: .utf8
        )
        let third = try LocationAppEnd(["trail-once"], regions: [Self.trail], home: home)
        try third.serveCreation()
        try third.waitForLine("trail record unknown")
        let errors = try third.app.end().errors
        #expect(errors.count == 1)
        #expect(errors.first?.contains("cannot be read; what came of conditions before is lost") == true)
    }

    @Test("A condition of a beacon is a region of that beacon, and what nothing is known of yet is told either way")
    func beacon() throws {
        let end = try LocationAppEnd(["beacon-condition"])
        let region = WireRegion(
            identifier: "CLMonitor places/shelf",
            shape: .beacons(uuid: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", major: 1, minor: 7)
        )
        #expect(try end.serve(until: { $0 == .monitor(region) }) == [.monitor(region)])
        try end.tell(.regionState(region.identifier, .outside), manager: 2)
        try end.waitForLine("condition shelf unsatisfied minor=7")
        try end.tell(.regionEntered(region.identifier), manager: 0)
        try end.waitForLine("condition shelf satisfied minor=7")
    }

    @Test("A monitor that a relaunched app makes late finds how its condition stands since, whoever heard of that")
    func late() throws {
        let end = try LocationAppEnd(["condition-late"], regions: [Self.region])
        try end.tell(.regionEntered(Self.region.identifier), manager: 0)
        try end.tell(.regionExited(Self.region.identifier), manager: 0)
        try end.tell(.regionEntered(Self.region.identifier), manager: 0)
        // The monitor's manager may be asked for before this is acknowledged.
        end.app.bench.deliver(9, manager: 1, .location(.authorization(.authorizedAlways, precise: true)))
        try end.serveCreation()
        try end.waitForLine("condition office satisfied last=unknown")
        #expect(try end.lines().filter { $0.hasPrefix("condition ") }.count == 1)
    }

    @Test("A condition that the bench refuses is unmonitored")
    func refused() throws {
        let end = try LocationAppEnd(["condition"])
        _ = try end.serve(until: { $0 == .monitor(Self.region) })
        let failure = WireFailure(domain: "kCLErrorDomain", code: 5, message: "Too many.")
        try end.tell(.monitoringFailed(Self.region.identifier, failure), manager: 2)
        try end.waitForLine("condition office unmonitored last=unsatisfied")
    }
}

extension LocationAppEnd {
    /// Answers for the next manager that the app makes.
    fileprivate func serveCreation() throws {
        while true {
            guard case .location(_, .create(let id)) = try app.bench.next() else { continue }
            let status = WireLocationStatus(authorization: .authorizedAlways, largestRadius: 1_000_000)
            app.bench.send(.reply(id: id, WireReply(location: status)))
            return
        }
    }
}

import Foundation
import Testing
import WakeWire

@Suite("The Fences app")
struct FencesTests {
    private static let swiftApp = [AppProcess.repository.appending(path: ".build/debug/Fences").path]
    private static let pythonApp = [
        "/usr/bin/python3", AppProcess.repository.appending(path: "Sources/Examples/FencesPython/fences.py").path,
    ]
    private static let office = WireRegion(
        identifier: "office",
        shape: .circle(latitude: 52.3731, longitude: 4.8922, radius: 150)
    )
    private static let desk = WireRegion(
        identifier: "desk",
        shape: .beacons(uuid: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", major: 1, minor: nil)
    )

    /// Starts the app and answers for its manager.
    private func launch(
        _ app: AppProcess,
        _ authorization: WireAuthorization,
        isForLocation: Bool = false,
        regions: [WireRegion] = []
    ) throws {
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background, options: LaunchOptions(isForLocation: isForLocation))))
        let status = WireLocationStatus(authorization: authorization, largestRadius: 1_000_000, regions: regions)
        try app.bench.wait { message in
            if case .location(1, .create(let id)) = message {
                app.bench.send(.reply(id: id, WireReply(location: status)))
            }
            return message == .launched
        }
    }

    private func tell(_ app: AppProcess, _ number: UInt64, manager: UInt32 = 1, _ event: WireLocationEvent) throws
        -> [AppMessage]
    {
        app.bench.deliver(number, manager: manager, .location(event))
        return try app.bench.untilAcknowledged(number)
    }

    private func lines(_ app: AppProcess) throws -> [String] {
        let end = try app.end()
        #expect(end.errors == [])
        #expect(end.status == 0)
        return end.lines.map { $0.replacing(/pid=\d+/, with: "pid=N") }
    }

    @Test("It asks for leave, has its fences watched, and logs what crosses them", arguments: [swiftApp, pythonApp])
    func firstLife(command: [String]) throws {
        let app = try AppProcess(command)
        try launch(app, .notDetermined)
        #expect(
            try tell(app, 1, .authorization(.notDetermined, precise: true)) == [
                .location(manager: 1, .requestAuthorization(always: true))
            ]
        )
        #expect(
            try tell(app, 2, .authorization(.authorizedAlways, precise: true)) == [
                .location(manager: 1, .monitor(Self.office)), .location(manager: 1, .monitor(Self.desk)),
            ]
        )
        #expect(
            try tell(app, 3, .monitoringStarted("office")) == [.location(manager: 1, .requestState(region: "office"))]
        )
        let failure = WireFailure(domain: "kCLErrorDomain", code: 5, message: "Enough.")
        #expect(try tell(app, 4, .monitoringFailed("desk", failure)).isEmpty)
        #expect(try tell(app, 5, .regionState("office", .outside)).isEmpty)
        #expect(try tell(app, 6, manager: 0, .regionEntered("office")).isEmpty)
        #expect(try tell(app, 7, manager: 0, .regionExited("office")).isEmpty)
        #expect(
            try lines(app) == [
                "didFinishLaunching pid=N launchOptions=[]", "didChangeAuthorization notDetermined",
                "didChangeAuthorization authorizedAlways monitored=[]", "didStartMonitoring office",
                "monitoringDidFail desk Enough.", "didDetermineState office outside",
                "didEnterRegion office pid=N count=1", "didDetermineState office inside",
                "didExitRegion office pid=N count=2", "didDetermineState office outside",
            ]
        )
    }

    @Test(
        "REG-6: relaunched for a crossing it finds the location key, keeps its fences and hears of the crossing",
        arguments: [swiftApp, pythonApp]
    )
    func relaunched(command: [String]) throws {
        let app = try AppProcess(command)
        try launch(app, .authorizedAlways, isForLocation: true, regions: [Self.desk, Self.office])
        #expect(try tell(app, 1, .authorization(.authorizedAlways, precise: true)).isEmpty)
        #expect(try tell(app, 2, manager: 0, .regionEntered("desk")).isEmpty)
        let all = try lines(app)
        #expect(all.first?.contains("ocation") == true)
        #expect(
            all.dropFirst() == [
                "didChangeAuthorization authorizedAlways monitored=[\"desk\", \"office\"]",
                "didEnterRegion desk pid=N count=1", "didDetermineState desk inside",
            ]
        )
    }
}

import CoreBluetooth
import UIKit
import WakebenchTesting
import XCTest

/// The app of this package on a bench, under XCTest, with the SDK beside it.
final class PulseTestCase: XCTestCase {
    func testBeltResumesTheApp() throws {
        let run = try Wakebench.run(.file("scenario.yaml"), apps: [.program("Pulse")])
        XCTAssertGreaterThanOrEqual(try run.count(app: "app", verdict: .resume), 1)
        XCTAssertEqual(run.exits.first?.cause, .memory)
        // The app was kept to the run's clock: no note says that it was not.
        XCTAssertFalse(run.talk.contains("WakebenchTime"), run.talk)
    }

    func testRunsSideBySide() async throws {
        async let first = Wakebench.run(.file("scenario.yaml"), apps: [.program("Pulse")], seed: 1)
        async let second = Wakebench.run(.file("scenario.yaml"), apps: [.program("Pulse")], seed: 2)
        let counts = try await [first, second].map { try $0.count(app: "app", verdict: .relaunch) }
        XCTAssertEqual(counts, [1, 1])
    }

    func testWhatIsMissedIsThrown() throws {
        let scenario =
            try String(contentsOfFile: "scenario.yaml", encoding: .utf8) + "  - {app: app, verdict: deny, count: 1}\n"
        let run = try Wakebench.run(.text(scenario), apps: [.program("Pulse")], allowsFailure: true)
        XCTAssertEqual(run.failedExpectations.map(\.expected), ["app deny: 1"])
    }
}

import Foundation
import Testing
import WakeModel
import WakePorts
import WakeProcesses
import WakeSystem
import WakeWire

@testable import WakeBench

@Suite("An event that cannot be told to an app")
struct UntellableEventTests {
    @Test("It is a note of the app's that names the event, its kind and its decision")
    func noted() throws {
        let names = NameTable()
        let translation = WireTranslation(
            names: names,
            identifiers: PeripheralIdentifiers(names: names),
            profile: .ios17
        )
        let host = ProcessAppHost(
            host: try ProcessHost(loop: try EventLoop(), freezer: .sigstop, runName: "test-\(UUID())"),
            translation: translation,
            environment: []
        )
        let surroundings = Listening()
        host.surroundings = surroundings
        var event = WakeEvent(kind: .accessoryConnected)
        event.id = EventID(3)
        let delivery = AppDelivery(event: event, payload: .none, decision: DecisionID(4), manager: 1)
        host.deliver(delivery, to: AppID(0), at: Instant(nanoseconds: 0))
        #expect(
            surroundings.faults == [
                "did not get e-000003 (\(event.kind.word), d-000004): the event's payload is missing"
            ]
        )
    }
}

/// Surroundings that keep the faults, and know of nothing else.
private final class Listening: ProcessAppSurroundings {
    private(set) var faults: [String] = []
    let wallSeconds = 0.0
    var view: AppView { preconditionFailure("nobody asks for anything") }

    func note(_ fact: ProcessFact, of app: AppID) {
        if case .fault(let what) = fact { faults.append(what) }
    }

    func note(_ signpost: WireSignpost, of app: AppID) {}
}

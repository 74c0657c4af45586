import Testing
import WakeModel
import WakePorts
import WakeWire

@testable import WakeBench

@Suite("Transfers between wire and router")
struct TransferTranslationTests {
    private let translation: WireTranslation

    init() {
        let names = NameTable()
        translation = WireTranslation(names: names, identifiers: PeripheralIdentifiers(names: names), profile: .ios17)
    }

    @Test("XFER-4: A realm of any length is told as far as the wire has room, in whole characters")
    func longRealm() throws {
        // Seven bytes each.
        let realm = String(repeating: "e\u{301}\u{302}\u{303}", count: 1_000)
        let challenge = AuthenticationChallenge(host: "example.com", realm: realm, scheme: "basic", failures: 0)
        let delivery = AppDelivery(
            event: WakeEvent(kind: .transferChallenged, local: 1, request: 2, subject: NameID(9), manager: 4),
            payload: .transfer(.challenge(challenge)),
            decision: DecisionID(1),
            manager: 2
        )
        guard case .challenged(_, _, let told, _, _) = try #require(translation.transferEvent(delivery)) else {
            Issue.record("no challenge")
            return
        }
        #expect(told == String(repeating: "e\u{301}\u{302}\u{303}", count: WireLimits.headerBytes / 7))
    }
}

import RouterSnapshots
import Testing
import WakeModel

@testable import WakeRouter

@Suite("Apps that watch visits")
struct VisitWatchTests {
    @Test("The source looks for visits while any app watches them, and after a restart of the bench")
    func watched() {
        var phone = Phone()
        let first = phone.locating([])
        phone.locate(first, .startVisits)
        phone.locate(first, .startVisits)
        let second = phone.locating([])
        phone.locate(second, .startVisits)
        #expect(phone.locationCommands == [.watchVisits(true)])
        phone.locate(second, .stopVisits)
        phone.hear(.benchRestarted)
        #expect(phone.locationCommands == [.watchVisits(true), .watchVisits(true)])
        phone.hear(.uninstall(first))
        #expect(phone.locationCommands.last == .watchVisits(false))
    }

    @Test("A router from a snapshot knows who watches visits")
    func snapshot() throws {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .startVisits)
        phone.router = try Router(snapshot: phone.router.snapshot, profile: phone.router.profile)
        phone.forget()
        phone.locate(app, .stopVisits)
        #expect(phone.locationCommands == [.watchVisits(false)])
    }
}

import Testing
import WakeModel
import WakeRouter

@Suite("What a fresh location manager is told")
struct LocationQuestionTests {
    @Test("REG-6: an app's regions are known after its process and after a reboot, until it stops them")
    func regions() {
        var phone = Phone()
        let app = phone.locating([])
        let circle = phone.circle()
        let beacons = BeaconRegion(identifier: Phone.shop, beacons: BeaconIdentity(uuid: Phone.beacon, major: 1))
        phone.locate(app, .monitor(circle))
        phone.locate(app, .monitorBeacons(beacons))
        phone.hear(.phone(.reboot))
        #expect(phone.router.monitoredRegions(of: app).circles == [circle])
        #expect(phone.router.monitoredRegions(of: app).beacons == [beacons])
        phone.hear(.phone(.unlock))
        phone.hear(.user(app, .launch))
        phone.locate(app, .create, manager: 1)
        phone.locate(app, .stopMonitoring(identifier: circle.identifier))
        #expect(phone.router.monitoredRegions(of: app).circles.isEmpty)
        #expect(phone.router.monitoredRegions(of: app).beacons == [beacons])
    }

    @Test("What the user allowed is known, and of an app that is not there nothing")
    func authorization() {
        var phone = Phone()
        let app = phone.locating([])
        #expect(phone.router.locationAuthorization(of: app) == .provisionalAlways)
        let nobody = AppID(app.number + 1)
        #expect(phone.router.locationAuthorization(of: nobody) == .notDetermined)
        #expect(phone.router.monitoredRegions(of: nobody).circles.isEmpty)
    }
}

import Testing
import WakeModel

@testable import WakeRouter

@Suite("Deeds of areas")
struct AreaDeedTests {
    // MARK: Location

    @Test("LOC-1: a significant change is found where the phone moved far enough, and not before")
    func significantChange() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0)
        phone.locate(app, .startSignificant)
        phone.wait(.seconds(301))
        phone.fix(400)
        #expect(phone.deeds(.foundSignificantChange) == [])
        phone.fix(600)
        #expect(phone.deeds(.foundSignificantChange) == [app])
    }

    @Test(
        "LOC-1: a significant change by a fix that is less sure than the phone has moved is told",
        arguments: [(599, false), (601, true)] as [(Double, Bool)]
    )
    func poorChange(accuracy: Double, isTold: Bool) {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0, accuracy: 5_000)
        phone.locate(app, .startSignificant)
        #expect(phone.deeds(.movedByPoorFix) == [])
        phone.wait(.seconds(301))
        phone.fix(600, accuracy: accuracy)
        #expect(phone.deeds(.foundSignificantChange) == [app])
        #expect(phone.deeds(.movedByPoorFix) == (isTold ? [app] : []))
    }

    @Test("LOC-6: the setter ends the app that lacks the mode, and no other")
    func setter() {
        var phone = Phone()
        let allowed = phone.locating([.location])
        phone.locate(allowed, .allowBackground)
        #expect(phone.deeds(.endedAtSetter) == [])
        let app = phone.locating([])
        phone.locate(app, .allowBackground)
        #expect(phone.deeds(.endedAtSetter) == [app])
    }

    @Test("LOC-8: a location wake gives ten seconds")
    func window() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.enter()
        #expect(phone.verdicts.last == .resume)
        phone.wait(.milliseconds(9_999))
        #expect(!phone.router.isFreezing(app))
        phone.wait(.milliseconds(1))
        #expect(phone.router.isFreezing(app))
    }

    @Test("LOC-10: the user is asked at the first event in the background, and not before")
    func asked() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        #expect(phone.deeds(.askedForAlways) == [])
        phone.enter()
        #expect(phone.deeds(.askedForAlways) == [app])
    }

    @Test("PWR-4: a position wakes the app though Background App Refresh is off", arguments: [true, false])
    func withoutRefresh(ownSwitch: Bool) {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.enter()
        #expect(phone.verdicts.last == .resume)
        #expect(phone.deeds(.wokeWithoutRefresh) == [])
        phone.sleepAgain(app)
        if ownSwitch { phone.user(.refuseRefresh, app) } else { phone.hear(.phone(.backgroundRefreshOff)) }
        phone.fix(5_000)
        phone.wait(.seconds(20))
        #expect(phone.verdicts.last == .resume)
        #expect(phone.deeds(.wokeWithoutRefresh) == [app])
    }

    @Test(
        "PWR-4: as the archive guide has it no position wakes an app while Background App Refresh is off",
        arguments: [true, false]
    )
    func needsRefresh(ownSwitch: Bool) {
        var profile = Profile.ios17
        profile.areas.location.needsRefresh = true
        var phone = Phone(profile)
        let app = phone.suspendedMonitor()
        if ownSwitch { phone.user(.refuseRefresh, app) } else { phone.hear(.phone(.backgroundRefreshOff)) }
        phone.enter()
        #expect(phone.last?.verdict == .deny)
        #expect(phone.last?.reason == .refreshNeeded)
        #expect(phone.last?.checks.decisive == .refreshWhereNeeded)
        if ownSwitch { phone.user(.allowRefresh, app) } else { phone.hear(.phone(.backgroundRefreshOn)) }
        phone.fix(5_000)
        phone.wait(.seconds(20))
        #expect(phone.last?.verdict == .resume)
        #expect(phone.deeds(.wokeWithoutRefresh) == [])
    }

    @Test("PWR-4: updates need Background App Refresh in the background alone")
    func updatesNeedRefresh() {
        var profile = Profile.ios17
        profile.areas.location.needsRefresh = true
        var phone = Phone(profile)
        let app = phone.locating([.location])
        phone.locate(app, .startUpdating(distanceFilterChord: 0, allowsBackground: true, pausesAutomatically: false))
        phone.hear(.phone(.backgroundRefreshOff))
        phone.fix(0)
        #expect(phone.last?.verdict == .foregroundDeliver)
        phone.leave(app)
        phone.fix(10)
        #expect(phone.last?.reason == .refreshNeeded)
    }

    @Test("REG-3, REG-7: a region too many and one too large are refused, each by its rule")
    func refusals() {
        var profile = Profile.ios17
        profile.areas.location.regionLimit = 1
        var phone = Phone(profile)
        let app = phone.locating([])
        phone.locate(app, .monitor(phone.circle()))
        #expect(phone.deeds(.refusedRegion) + phone.deeds(.refusedRadius) == [])
        phone.locate(app, .monitor(phone.circle(Phone.shop)))
        #expect(phone.deeds(.refusedRegion) == [app])
        #expect(phone.deeds(.refusedRadius) == [])
        phone.locate(app, .monitor(phone.circle(Phone.home, radius: 1_100_000)))
        #expect(phone.deeds(.refusedRadius) == [app])
        #expect(phone.deeds(.refusedRegion) == [app])
    }

    @Test("REG-5, REG-6: a region's state is told, and the region stays when the process goes")
    func regions() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .requestState(identifier: Phone.home))
        #expect(phone.deeds(.toldRegionState) == [])
        phone.locate(app, .monitor(phone.circle()))
        phone.locate(app, .requestState(identifier: Phone.home))
        #expect(phone.deeds(.toldRegionState) == [app])
        phone.leave(app)
        #expect(phone.deeds(.keptRegions) == [])
        phone.hear(.terminate(app, .memory))
        #expect(phone.deeds(.keptRegions) == [app])
        let other = phone.locating([])
        phone.leave(other)
        phone.hear(.terminate(other, .memory))
        #expect(phone.deeds(.keptRegions) == [app])
    }

    @Test("BCN-2, BCN-3, BCN-4: the display tells of beacons, ranging begins, and silence is an exit")
    func beacons() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons(onDisplay: true)))
        phone.hear(.phone(.displayOn))
        #expect(phone.deeds(.toldOnDisplay) == [])
        phone.sightBeacon()
        phone.hear(.phone(.displayOff))
        phone.hear(.phone(.displayOn))
        #expect(phone.deeds(.toldOnDisplay) == [app])
        #expect(phone.deeds(.beganRanging) == [])
        phone.locate(app, .range(phone.beacons(Phone.home)))
        #expect(phone.deeds(.beganRanging) == [app])
        phone.wait(.seconds(30))
        #expect(phone.deeds(.missedBeacons) == [])
        phone.wait(.milliseconds(1))
        #expect(phone.deeds(.missedBeacons) == [app])
    }

    // MARK: Sound, calls, accessories

    @Test("AUD-9: the buffers of a player grow with the lock, and those of a recorder do not")
    func buffers() {
        var phone = Phone()
        let player = phone.player()
        phone.leavePlaying(player)
        #expect(phone.deeds(.grantedBuffer) == [])
        phone.hear(.phone(.lock))
        #expect(phone.deeds(.grantedBuffer) == [player])
        var other = Phone()
        let recorder = other.player(.playAndRecord, records: true)
        other.leavePlaying(recorder)
        other.hear(.phone(.lock))
        #expect(other.deeds(.grantedBuffer) == [])
    }

    @Test("AUD-10: who asks for the microphone is answered, each time by the user's word")
    func microphone() {
        var phone = Phone()
        let app = phone.player()
        #expect(phone.deeds(.allowedMicrophone) == [])
        phone.audio(app, .requestPermission)
        #expect(phone.deeds(.allowedMicrophone) == [app])
        phone.happenSound(.microphoneAnswered, app, failed: true)
        phone.audio(app, .requestPermission)
        #expect(phone.deeds(.deniedMicrophone) == [app])
        #expect(phone.deeds(.allowedMicrophone) == [app])
    }

    @Test("VOIP-3, VOIP-7: the handler is called in the background alone, and an end wakes the app")
    func calls() {
        var phone = Phone()
        let app = phone.install([.voip])
        phone.open(app)
        for socket in 1...2 { phone.voip(app, .watch(SocketNumber(socket), peer: Phone.server)) }
        phone.voip(app, .setKeepAlive(period: .seconds(600)))
        phone.wait(.seconds(600))
        #expect(phone.deeds(.calledKeepAlive) == [])
        phone.leave(app)
        phone.call(app)
        #expect(phone.deeds(.wokeForEndOfSocket) == [])
        phone.sleepAgain(app)
        phone.call(app, .voipClosed)
        #expect(phone.deeds(.wokeForEndOfSocket) == [app])
        // The app is awake already.
        phone.call(app, .voipClosed, socket: 2)
        #expect(phone.deeds(.wokeForEndOfSocket) == [app])
        phone.sleepAgain(app)
        phone.wait(.seconds(600))
        #expect(phone.deeds(.calledKeepAlive) == [app])
    }

    @Test("EA-5: the second session with a protocol is refused")
    func sessions() {
        var phone = Phone()
        let first = phone.installAccessoryApp()
        let second = phone.installAccessoryApp(number: 1)
        phone.openAccessoryApp(first)
        phone.plug()
        phone.openSession(first)
        #expect(phone.deeds(.refusedSecondSession) == [])
        phone.leave(first)
        phone.openAccessoryApp(second)
        phone.openSession(second, answered: false)
        #expect(phone.deeds(.refusedSecondSession) == [second])
    }

    // MARK: Bluetooth

    @Test("BTC-5: a request for a connection outlives a reboot, and one that was granted does not")
    func requests() {
        var phone = Phone(passcode: false)
        let app = phone.withApp()
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.leave(app)
        phone.hear(.phone(.reboot))
        #expect(phone.deeds(.keptConnectionRequest) == [app])
        var other = Phone(passcode: false)
        _ = other.suspendedSubscriber()
        other.hear(.phone(.reboot))
        #expect(other.deeds(.keptConnectionRequest) == [])
    }

    @Test("BTC-9, BTC-11: alerts are shown, and links made again, for who asked", arguments: [true, false])
    func options(asks: Bool) {
        var phone = Phone()
        let app = phone.withApp()
        let options: ConnectOptions = asks ? [.alertsOnDisconnection, .reconnects] : []
        phone.request(app, .connect(1, peripheral: Phone.belt, options: options))
        phone.happen(.peripheralConnected)
        phone.leave(app)
        #expect(phone.deeds(.alertedOfDevice) + phone.deeds(.connectsAgain) == [])
        phone.happen(.peripheralDisconnected, failed: true)
        #expect(phone.deeds(.alertedOfDevice) == (asks ? [app] : []))
        #expect(phone.deeds(.connectsAgain) == (asks ? [app] : []))
    }

    @Test("BTC-10, BT-2: Bluetooth goes off in three ways, and all connections with it")
    func power() {
        let ways: [(PhoneChange, Deed)] = [
            (.bluetoothOff, .turnedRadioOff),
            (.bluetoothOffInControlCentre, .turnedRadioOffUntilTomorrow),
            (.airplaneModeOn, .turnedRadioOffForAirplaneMode),
        ]
        for (change, deed) in ways {
            var phone = Phone()
            phone.hear(.phone(change))
            for (_, other) in ways { #expect(phone.deeds(other) == (other == deed ? [.none] : [])) }
            #expect(phone.deeds(.forgotConnections) == [])
            phone.happen(.bluetoothPoweredOff)
            #expect(phone.deeds(.forgotConnections) == [.none])
            phone.happen(.bluetoothPoweredOn)
            #expect(phone.deeds(.forgotConnections) == [.none])
        }
    }

    @Test("BTP-2, BTP-3: in the background an advert hides, or all goes off", arguments: [true, false])
    func air(withMode: Bool) {
        var phone = Phone()
        let app = phone.publisher(withMode ? [.bluetoothPeripheral] : [])
        #expect(phone.deeds(.hidAdvertisement) + phone.deeds(.stoppedServing) == [])
        phone.leave(app)
        #expect(phone.deeds(.hidAdvertisement) == (withMode ? [app] : []))
        #expect(phone.deeds(.stoppedServing) == (withMode ? [] : [app]))
    }

    @Test("BTP-4: who makes his peripheral manager again gets back what it published, and who makes one does not")
    func restored() {
        var phone = Phone()
        let app = phone.publisher()
        #expect(phone.deeds(.restoredPeripheral) == [])
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.read(7)
        phone.ask(app, .create(restoreIdentifier: Phone.identifier))
        #expect(phone.deeds(.restoredPeripheral) == [app])
    }

    @Test("BTP-5: an app that the user keeps from Bluetooth is refused", arguments: [true, false])
    func refused(allowed: Bool) {
        var phone = Phone()
        let app = phone.install(bluetooth: allowed ? .allowed : .denied)
        phone.open(app)
        #expect(phone.deeds(.refusedRadio) == (allowed ? [] : [app]))
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        #expect(phone.deeds(.refusedRadio) == (allowed ? [] : [app, app]))
    }

    @Test("BT-1: an app that stops its scan says so once")
    func stopped() {
        var phone = Phone()
        let app = phone.withApp()
        phone.request(app, .stopScan(1))
        #expect(phone.deeds(.stoppedDelivery) == [])
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        phone.request(app, .stopScan(1))
        #expect(phone.deeds(.stoppedDelivery) == [app])
    }
}

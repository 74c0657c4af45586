import RouterSnapshots
import Testing
import WakeModel

@testable import WakeRouter

@Suite("Snapshots of the router")
struct SnapshotTests {
    @Test("SYS-2: a router made from a snapshot goes on with the same output", arguments: [2, 3, 4] as [UInt64])
    func goesOn(seed: UInt64) throws {
        var unbroken = RandomWorld(seed: seed)
        var broken = RandomWorld(seed: seed)
        for _ in 0..<60 {
            unbroken.run(steps: 173)
            broken.run(steps: 173)
            let snapshot = broken.snapshot
            let before = broken.router
            try broken.replaceRouter(with: snapshot)
            #expect(isSame(broken.router, before))
            #expect(broken.snapshot == snapshot)
        }
        unbroken.finish()
        broken.finish()
        #expect(unbroken.failure == nil)
        #expect(unbroken.digest == broken.digest)
    }

    private func isSame(_ left: Router, _ right: Router) -> Bool {
        left.apps == right.apps && isSame(left.areas, right.areas)
            && left.foreground == right.foreground && left.nextDeadline == right.nextDeadline
            && left.passcode == right.passcode && left.unlockedSinceBoot == right.unlockedSinceBoot
            && left.unlockedAt == right.unlockedAt && left.now == right.now && left.isLocked == right.isLocked
            && left.lastDecision == right.lastDecision && left.lastExit == right.lastExit
    }

    private func isSame(_ left: Areas, _ right: Areas) -> Bool {
        isSame(left.bluetooth, right.bluetooth) && isSame(left.location, right.location)
            && left.audio.apps == right.audio.apps && left.audio.users == right.audio.users
            && left.audio.inCall == right.audio.inCall
            && left.accessory.apps == right.accessory.apps && left.accessory.connected == right.accessory.connected
            && left.accessory.lastSession == right.accessory.lastSession && left.voip.apps == right.voip.apps
            && left.notification.apps == right.notification.apps
            && left.transfer.apps == right.transfer.apps && left.transfer.lastTransfer == right.transfer.lastTransfer
            && left.transfer.isOff == right.transfer.isOff && left.push.apps == right.push.apps
            && left.backgroundTask.apps == right.backgroundTask.apps
            && left.backgroundTask.usedUntil == right.backgroundTask.usedUntil
    }

    private func isSame(_ left: BluetoothArea, _ right: BluetoothArea) -> Bool {
        left.apps == right.apps && left.peripherals == right.peripherals && left.scanners == right.scanners
            && left.isOn == right.isOn && left.powerSwitch == right.powerSwitch && left.returns == right.returns
    }

    private func isSame(_ left: LocationArea, _ right: LocationArea) -> Bool {
        left.apps == right.apps && left.updaters == right.updaters && left.significantApps == right.significantApps
            && left.rangingApps == right.rangingApps && left.beaconRegions == right.beaconRegions
            && left.watchedBeacons == right.watchedBeacons && left.appsNeedingFixes == right.appsNeedingFixes
            && left.lastFix == right.lastFix && left.regionIndex.count == right.regionIndex.count
    }

    @Test("SYS-2: a snapshot cut at any byte is refused with the place")
    func cutAnywhere() throws {
        var world = RandomWorld(seed: 5)
        world.run(steps: 400)
        let snapshot = world.snapshot
        #expect(snapshot.count > 500)
        for length in 0..<snapshot.count {
            let fault = #expect(throws: EncodingFault.self) {
                _ = try Router(snapshot: Array(snapshot[..<length]), profile: .ios17)
            }
            #expect(fault.map { $0.kind == .cut && $0.offset <= length } == true, "\(fault as Any) at \(length)")
        }
    }

    @Test("SYS-2: a snapshot with any byte changed is read or refused, and never stops the program")
    func scrambledAnywhere() {
        var world = RandomWorld(seed: 6)
        world.run(steps: 400)
        let snapshot = world.snapshot
        var chance = Chance(seed: 1)
        var refused = 0
        for place in snapshot.indices {
            var scrambled = snapshot
            scrambled[place] ^= UInt8(1 + chance.below(255))
            do {
                _ = try Router(snapshot: scrambled, profile: .ios17)
            } catch {
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    @Test("SYS-2: a snapshot of another version is refused")
    func otherVersion() {
        var bytes = Router(profile: .ios17).snapshot
        bytes[0] = 99
        #expect(throws: EncodingFault(.unknownValue, at: 0)) {
            _ = try Router(snapshot: bytes, profile: .ios17)
        }
    }
}

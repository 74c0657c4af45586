import Glibc
import Testing
import WakeBlueZ
import WakeSystem

@testable import WakeBluetooth

/// What the run's own controller is, as messages and bluetoothd tell.
private final class Listening {
    private var own = OwnController()

    func note(path: String?, address: String?) { own.note(path: path, address: address) }

    func hears(_ kind: HCIMonitorFrame.Kind, _ index: UInt16, _ bytes: [UInt8] = []) -> Bool {
        own.hears(HCIMonitorFrame(kind, index: index, time: 0, bytes: bytes))
    }
}

@Suite("Which of the HCI monitor's messages are the run's own")
struct BlueZTraceTests {
    private static let path = "/org/bluez/hci1"
    private static let own: [UInt8] = [0x01, 0, 0, 0x3D, 0xAA, 0]
    private static let other: [UInt8] = [0x02, 0, 0, 0x3D, 0xAA, 0]

    /// Two controllers are there, and bluetoothd's adapter is the second.
    private static func controllers(address: String? = "00:AA:3D:00:00:01") -> Listening {
        let controller = Listening()
        _ = controller.hears(.appeared, 0, [0, 1] + other)
        _ = controller.hears(.appeared, 1, [0, 1] + own)
        controller.note(path: path, address: address)
        return controller
    }

    @Test("What another adapter does is not")
    func others() {
        let controller = Self.controllers()
        #expect(controller.hears(.event, 1))
        #expect(!controller.hears(.event, 0))
    }

    @Test("Nothing is before the adapter is known")
    func unknown() {
        let controller = Listening()
        _ = controller.hears(.appeared, 0, [0, 1] + Self.own)
        #expect(!controller.hears(.event, 0))
    }

    @Test("Another controller that takes the number of one unplugged is not")
    func reused() {
        let controller = Self.controllers()
        _ = controller.hears(.disappeared, 1)
        #expect(!controller.hears(.event, 1))
        _ = controller.hears(.appeared, 1, [0, 1] + Self.other)
        #expect(!controller.hears(.event, 1))
        controller.note(path: nil, address: nil)
        #expect(!controller.hears(.event, 1))
    }

    @Test("An adapter that is plugged in again under another number is, from when bluetoothd has it")
    func renumbered() {
        let controller = Self.controllers()
        _ = controller.hears(.disappeared, 1)
        _ = controller.hears(.appeared, 2, [0, 1] + [0, 0, 0, 0, 0, 0])
        controller.note(path: "/org/bluez/hci2", address: "00:AA:3D:00:00:01")
        #expect(!controller.hears(.event, 2))
        _ = controller.hears(.identified, 2, Self.own)
        #expect(controller.hears(.event, 2))
    }

    @Test("A controller without an address of its own is told by its number")
    func nameless() {
        let controller = Listening()
        _ = controller.hears(.identified, 1, [0, 0, 0, 0, 0, 0])
        controller.note(path: Self.path, address: "F0:11:22:33:44:55")
        #expect(controller.hears(.sentData, 1))
    }

    @Test("While bluetoothd is away the adapter is still the same")
    func away() {
        let controller = Self.controllers()
        controller.note(path: nil, address: nil)
        #expect(controller.hears(.event, 1))
    }

    @Test(
        "A monitor that cannot be opened is told with its remedy",
        arguments: [(EPERM, "cap_net_raw"), (EAFNOSUPPORT, "modprobe bluetooth"), (ENOMEM, "without --capture")]
    )
    func remedies(code: Int32, words: String) {
        #expect(BlueZTrace.remedy(for: SystemError("open", code: code)).contains(words))
    }
}

import Testing
import WakePush
import WakeSystem
import WakeUdev
import WakeVirtualTime

@testable import WakeBench
@testable import WakeProcesses

@Suite("What the doctor says")
struct DoctorTests {
    private func findings(_ support: TimeSupport, _ processor: AppProcessor?) -> [String] {
        Doctor.virtualTime(support, processor).map { "\($0.good ? "yes" : "no") \($0.what): \($0.finding)" }
    }

    @Test("With the library, and a processor on which nothing interrupts an app, all is well")
    func all() {
        #expect(
            findings(.library(path: "/opt/lib.so"), AppProcessor(number: 3, isFirstInFirstOut: true)) == [
                "yes virtual time in apps: /opt/lib.so",
                "yes order in apps: processor 3 is the apps', and no thread there is interrupted by another",
            ]
        )
    }

    @Test("An ordinary user is told how to get the order inside an instant")
    func ordinary() {
        #expect(
            findings(.library(path: "/opt/lib.so"), AppProcessor(number: 1, isFirstInFirstOut: false)) == [
                "yes virtual time in apps: /opt/lib.so",
                "no order in apps: processor 1 is the apps'; as root, or with ulimit -r 1, what they do at one instant is "
                    + "in the same order each time",
            ]
        )
    }

    @Test("With one processor there is no order inside an instant")
    func single() {
        #expect(
            findings(.library(path: "/opt/lib.so"), nil).last
                == "no order in apps: only one processor: what apps do at one instant may come in another order each time"
        )
    }

    @Test("What is missing for virtual time is named, with what comes of it")
    func missing() {
        #expect(
            findings(.missing("this kernel has no futex_waitv: Function not implemented"), nil).first
                == "no virtual time in apps: this kernel has no futex_waitv: Function not implemented; apps' own clocks and "
                + "timers run on wall time"
        )
    }

    private func finding(_ line: Doctor.Line) -> String { "\(line.good ? "yes" : "no") \(line.what): \(line.finding)" }

    @Test("What APNs' endpoint is linked with is named, and whether its port is free")
    func push() {
        let libraries = ["nghttp2 1.52.0", "OpenSSL 3.0.17"]
        #expect(
            finding(PushArea.line(APNsPresence(libraries: libraries, failure: nil), port: 2_197))
                == "yes APNs: nghttp2 1.52.0, OpenSSL 3.0.17; port 2197 is free"
        )
        let taken = APNsPresence(libraries: libraries, failure: "127.0.0.1:2197: bind: Address already in use")
        #expect(
            finding(PushArea.line(taken, port: 2_197))
                == "no APNs: nghttp2 1.52.0, OpenSSL 3.0.17; 127.0.0.1:2197: bind: Address already in use; give a port that is "
                + "free with --apns-port"
        )
    }

    @Test("The program that carries transfers is named with its libcurl, or how to have it")
    func transfers() {
        #expect(
            finding(TransferArea.line(.there(program: "/opt/WakebenchTransfers", version: "8.14.1")))
                == "yes transfers: libcurl 8.14.1, in /opt/WakebenchTransfers"
        )
        #expect(
            finding(TransferArea.line(.missing))
                == "no transfers: the program WakebenchTransfers is not beside wakebench; build its product, or transfer=curl "
                + "cannot be used"
        )
    }

    @Test("The power supplies and default routes of this machine are named, and who decides where there is no charger")
    func phone() {
        let supplies = [
            PowerSupplies.Supply(name: "AC", isOnline: true), PowerSupplies.Supply(name: "BAT0", isOnline: nil),
        ]
        #expect(
            finding(PhoneOfMachine.line(supplies, [.local]))
                == "yes phone machine: AC is online, BAT0 is no charger; a default route over a network"
        )
        #expect(
            finding(PhoneOfMachine.line([], []))
                == "no phone machine: no power supply: the scenario alone says when the phone is charged; no default route, so "
                + "the phone is on no network"
        )
    }
}

import Testing
import WakeVirtualTime

@testable import WakeBench
@testable import WakeProcesses

@Suite("What the doctor says of virtual time")
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
}

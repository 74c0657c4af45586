import ChildProcess
import Foundation
import Testing

@testable import WakeBench

/// A machine of umockdev's, in a network of its own: its charger is plugged in and its link leads out while a run goes on.
private enum OtherMachine {
    /// Each change waits until the run has told of the one before.
    static let script = """
        import os, signal, subprocess, sys, time
        import gi
        gi.require_version("UMockdev", "1.0")
        from gi.repository import UMockdev

        bed = UMockdev.Testbed.new()
        charger = bed.add_device("power_supply", "AC", None, ["type", "Mains", "online", "0"], [])
        bed.add_device("power_supply", "BAT0", None, ["type", "Battery", "online", "1"], [])
        plain = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}

        def ip(*words):
            subprocess.run(["ip", *words], check=True, env=plain)

        ip("link", "add", "outer", "type", "veth", "peer", "name", "far")
        ip("link", "set", "far", "up")
        ip("link", "set", "outer", "up")
        run = subprocess.Popen(sys.argv[1:])

        def wait(act):
            while run.poll() is None:
                if os.path.exists("out/outcomes.ndjson") and f'"act":"{act}"' in open("out/outcomes.ndjson").read():
                    return
                time.sleep(0.02)
            sys.exit(f"the run ended before '{act}'")

        wait("launch")
        ip("route", "add", "default", "dev", "outer")
        wait("Wi-Fi joined")
        bed.set_attribute(charger, "online", "1")
        bed.uevent(charger, "change")
        wait("charger connected")
        ip("route", "del", "default")
        wait("Wi-Fi left")
        bed.set_attribute(charger, "online", "0")
        bed.uevent(charger, "change")
        wait("charger disconnected")
        run.send_signal(signal.SIGINT)
        run.wait()

        """

    static let words = [
        "/usr/bin/unshare", "--map-root-user", "--net", "/usr/bin/umockdev-wrapper", "/usr/bin/python3",
    ]

    /// Whether this user may have such a machine here.
    static let isThere: Bool = {
        let ways =
            "import gi; gi.require_version('UMockdev', '1.0'); import subprocess, os; os.environ.pop('LD_PRELOAD'); "
        let probe = ChildProcess(
            words[0],
            words.dropFirst() + ["-c", ways + "subprocess.run(['ip', 'link', 'add', 'type', 'veth'], check=True)"]
        )
        probe.standardOutput = .null
        probe.standardError = .null
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }()
}

@Suite(
    "The phone as this machine",
    .enabled(if: OtherMachine.isThere, "umockdev, its Python bindings or a network of one's own is missing")
)
struct MachinePhoneTests {
    @Test("SYS-1: the phone is charged and on Wi-Fi while this machine is")
    func follows() throws {
        let bench = try BenchProgram()
        try bench.write(
            "scenario: here\nphone: {wifi: false, charger: false}\napps: [{scripted: com.example.notes, name: notes}]\n"
                + "steps: [{at: 0, launch: notes}]\nuntil: 1h\n",
            to: "here.yaml"
        )
        try bench.write(OtherMachine.script, to: "machine.py")
        let run = try bench.run(
            ["run", "here.yaml", "--clock", "real", "--phone", "machine", "--out", "out"],
            as: OtherMachine.words + ["machine.py"]
        )
        #expect(run.code == 0, "\(run.errors)")
        let acts = try bench.records(of: "out/outcomes.ndjson").filter { $0["origin"] as? String == "this machine" }
        #expect(
            acts.compactMap { $0["act"] as? String }
                == ["mobile data off", "Wi-Fi joined", "charger connected", "Wi-Fi left", "charger disconnected"]
        )
    }
}

@Suite("The phone as a machine that names no power supply")
struct MachineWithoutPowerTests {
    private static let hasSupply =
        !((try? FileManager.default.contentsOfDirectory(atPath: "/sys/class/power_supply")) ?? []).isEmpty

    @Test(
        "SYS-1: that the charger does not follow it is said",
        .enabled(if: !hasSupply, "this machine has a power supply")
    )
    func isSaid() throws {
        let bench = try BenchProgram()
        try bench.write(
            "scenario: here\napps: [{scripted: com.example.notes, name: notes}]\nuntil: 10ms\n",
            to: "here.yaml"
        )
        let run = try bench.run(["run", "here.yaml", "--clock", "real", "--phone", "machine", "--out", "out"])
        #expect(run.code == 0)
        #expect(run.errors.contains("note: this machine names no power supply"), "\(run.errors)")
    }
}

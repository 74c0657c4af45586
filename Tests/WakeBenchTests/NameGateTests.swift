import Foundation
import Testing
@testable import WakeBench
import WakeModel
import WakeWire

@Suite("What apps bring into the table of names")
struct NameGateTests {
    @Test("A name longer than a region's identifier may be is refused with its length")
    func length() {
        var gate = NameGate()
        let names = NameTable()
        let longest = String(repeating: "é", count: NameGate.longest / 2)
        #expect(gate.refusal(of: [longest], from: AppID(0), into: names) == nil)
        #expect(gate.refusal(of: ["a", longest + "x"], from: AppID(0), into: names) == .tooLong(bytes: 1_025))
        #expect(
            gate.refusal(of: [longest + "x"], from: AppID(0), into: names)?.description
                == "a name of 1025 bytes; at most 1024 are allowed"
        )
    }

    @Test("An app brings so many different names and no more; names that are known, and other apps, are free of it")
    func count() {
        var gate = NameGate()
        let names = NameTable()
        _ = names.intern("known")
        func ask(_ words: [String], _ app: UInt32 = 0) -> NameGate.Refusal? {
            let refusal = gate.refusal(of: words, from: AppID(app), into: names)
            if refusal == nil { words.forEach { _ = names.intern($0) } }
            return refusal
        }
        for number in 1..<NameBound.ofApp { #expect(ask(["region \(number)"]) == nil) }
        #expect(ask(["one more", "and another"]) == .tooMany)
        #expect(ask(["one more", "one more", "known", ""]) == nil)
        #expect(ask(["and another"]) == .tooMany)
        #expect(ask(["region 1", "known", ""]) == nil)
        #expect(ask(["and another"], 1) == nil)
    }

    @Test("Each request that names something of the app's own is asked for its names")
    func messages() {
        let beacons = WireRegion(identifier: "shelf", shape: .beacons(uuid: "U", major: nil, minor: nil))
        let circle = WireRegion(identifier: "home", shape: .circle(latitude: 1, longitude: 2, radius: 3))
        let service = LocalService(
            number: 1,
            uuid: "180D",
            characteristics: [LocalCharacteristic(number: 2, uuid: "2A37", properties: 0, permissions: 0)]
        )
        let table: [(AppMessage, [String])] = [
            (.central(manager: 1, .create(id: 1, restoreIdentifier: "central", showPowerAlert: false)), ["central"]),
            (.peripheralManager(manager: 1, .create(id: 1, restoreIdentifier: "own", showPowerAlert: false)), ["own"]),
            (.peripheralManager(manager: 1, .addService(service)), ["180D", "2A37"]),
            (.location(manager: 1, .monitor(circle)), ["home"]),
            (.location(manager: 1, .monitor(beacons)), ["shelf", "U"]),
            (.location(manager: 1, .range(beacons)), ["shelf", "U"]),
            (.location(manager: 1, .requestState(region: "home")), ["home"]),
            (.location(manager: 1, .stopMonitoring(region: "home")), []),
            (
                .accessory(manager: 1, .open(session: 1, accessory: 2, protocolName: "com.example.log")),
                ["com.example.log"]
            ),
            (.launched, []),
        ]
        for (message, names) in table { #expect(Areas.rows.flatMap { $0.names(in: message) } == names) }
    }

    @Test(
        "Names too long or too many make a manager of no use, a region fail and a socket unwatched: the app is told",
        .enabled(if: BenchProgram.python, "/usr/bin/python3 is missing")
    )
    func told() throws {
        let program = try BenchProgram()
        let script = #"""
            #!/usr/bin/python3
            import json, os, socket
            bench = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
            def say(**message): bench.send(json.dumps(message).encode())
            beacons = {"uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"}
            def region(number):
                return {"identifier": f"region {number}", "beacons": beacons, "notifyOnEntry": True,
                        "notifyOnExit": True, "notifyEntryStateOnDisplay": False}
            say(type="hello", version=1, client="python", pid=os.getpid())
            say(type="central.create", manager=1, id=1, restoreIdentifier="x" * 2000, showPowerAlert=False)
            say(type="location.create", manager=2, id=2)
            # Their UUID is a name too.
            for number in range(1, \#(NameBound.ofApp + 1)):
                say(type="location.range", manager=2, region=region(number))
            say(type="location.monitor", manager=2, region=region(0))
            server = socket.create_server(("127.0.0.1", 0))
            call = socket.create_connection(server.getsockname())
            words = json.dumps({"type": "voip.watch", "id": 3, "socket": 1}).encode()
            socket.send_fds(bench, [words], [call.fileno()])
            say(type="launched")
            while packet := bench.recv(65536):
                message = json.loads(packet)
                if message.get("kind") == "central.state": print(message["state"], flush=True)
                if message.get("id") == 3: print("watched", message["granted"], flush=True)
                failure = message.get("error") or {}
                if "different names" in failure.get("message", ""):
                    print(message["kind"], message["region"], failure["domain"], failure["code"], flush=True)
                if "delivery" in message: say(type="ack", delivery=message["delivery"])

            """#
        try program.makeApp("Namer", "com.example.namer", text: script)
        let scenario = """
            scenario: names
            apps: [{bundle: Namer.app, name: namer}]
            steps: [{at: 0, launch: namer}]
            until: 5s

            """
        try program.write(scenario, to: "names.yaml")
        let run = try program.run(["run", "names.yaml", "--apps", "apps", "--out", "out", "-q"])
        #expect(run.code == 0, "\(run.errors)")
        let told = try program.lines(of: "out/apps/com.example.namer.log")
        #expect(
            told == [
                "unsupported", "watched False", "location.rangingFailed region \(NameBound.ofApp) kCLErrorDomain 16",
                "location.monitoringFailed region 0 kCLErrorDomain 5",
            ]
        )
        let notes = try program.lines(of: "out/outcomes.ndjson").filter { $0.contains("brings ") }
        #expect(notes.first?.contains("brings a name of 2000 bytes; at most 1024 are allowed") == true)
        #expect(
            notes.last?.contains("asks to watch socket 1 whose peer brings more than 16384 different names") == true
        )
    }
}

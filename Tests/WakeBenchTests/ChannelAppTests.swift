import ChildProcess
import Foundation
import Testing

@Suite("Real apps with channels")
struct ChannelAppTests {
    @Test("BTC-1: a block on a channel wakes the app, which reads it; the next process opens a channel of its own")
    func blocks() throws {
        let bench = try BenchProgram()
        try bench.install("Logger")
        let scenario = BenchProgram.repository.appending(path: "Devices/Scenarios/l2cap-logger.yaml").path
        let run = try bench.run(["run", scenario, "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let log = try bench.lines(of: "out/apps/com.example.logger.log").filter { line in
            ["block", "didFinish", "alert", "didOpen"].contains { line.contains($0) }
        }
        #expect(
            log.map { $0.replacing(/pid=\d+/, with: "pid=N") } == [
                "didFinishLaunching pid=N launchOptions=[]", "didOpen psm=129",
                "block pid=N count=1 value=5a5a5a5a00000001",
                "didFinishLaunching pid=N launchOptions=[\"UIApplicationLaunchOptionsBluetoothCentralsKey\"]",
                "didUpdateValue pid=N alert-status=01", "didOpen psm=129",
                "block pid=N count=1 value=5a5a5a5a00000001",
            ]
        )
    }

    @Test("Virtual time waits for an app that reads a channel, in whatever state it runs")
    func readingInTime() throws {
        let bench = try BenchProgram()
        try bench.install("Logger")
        try bench.write(
            """
            device: bluetooth-peripheral
            name: Logger
            address: "F0:11:22:33:70:02"
            advertising: {services: [ABDD3056-28FA-441D-A470-55A75A52553A]}
            gatt:
              - service: ABDD3056-28FA-441D-A470-55A75A52553A
                characteristics:
                  - {uuid: ABDD3056-28FA-441D-A470-55A75A52553A, properties: [read], value: "8000"}
            l2cap:
              - {psm: 128, send: [{after: 1s, counter: {from: 1, count: 200, every: 10ms, width: 4, prefix: "5a5a5a5a"}}]}
            """,
            to: "logger.yaml"
        )
        try bench.write(
            """
            scenario: reading
            devices: [{file: logger.yaml, name: logger}]
            apps: [{bundle: Logger.app, name: logger}]
            steps:
              - {at: 0, launch: logger}
            until: 10s
            """,
            to: "reading.yaml"
        )
        let run = try bench.run(["run", "reading.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let blocks = try bench.lines(of: "out/apps/com.example.logger.log").filter { $0.hasPrefix("block") }
        #expect(blocks.count == 200)
        #expect(blocks.last?.hasSuffix("value=5a5a5a5a000000c8") == true)
    }

    @Test(
        "A central opens the channel that an app offers, and what it sends comes back; a process that is new offers it anew"
    )
    func offered() throws {
        let bench = try BenchProgram()
        try bench.install("ThermometerPeripheral")
        let scenario = BenchProgram.repository.appending(path: "Devices/Scenarios/thermometer-peripheral.yaml").path
        let run = try bench.run(["run", scenario, "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let log = try bench.lines(of: "out/apps/com.example.thermometer.log").filter { line in
            ["hannel", "didFinish"].contains { line.contains($0) }
        }
        let words = log.map { line in line.split(separator: " ").first.map(String.init) ?? "" }
        let visit = ["didOpenChannel", "channel"]
        let start = ["didFinishLaunching", "didPublishL2CAPChannel"]
        #expect(words == start + visit + visit + start + visit)
        #expect(log.count { $0.hasSuffix("echoed=5") } == 3)
        #expect(log.count { $0.hasSuffix("psm=128 error=none") } == 2)
    }
}

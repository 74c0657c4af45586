import Glibc
import WakeProcesses
import WakeVirtualTime
import WakeWire

/// The bench beside the C program, one sample of each after the other.
struct Comparison {
    let folder: String
    let samples: Int

    /// The most that the bench may take for a wake, as a multiple of the C program's time (median).
    static let wakeLimit = 1.8
    /// The same for a relaunch.
    static let relaunchLimit = 3.0
    /// The most that the library of virtual time may add to an app, as a multiple of the time without it (median).
    static let libraryLimit = 1.05
    /// Samples that are taken first and not counted.
    static let warmUp = 20
    /// A heart-rate measurement.
    private static let value: [UInt8] = [0x00, 0x48]

    private var app: String { "\(folder)/WakeBenchmarkApp.app/WakeBenchmarkApp" }

    /// Measures and prints. Says whether the limits hold.
    func run() throws -> Bool {
        let wakes = try wake()
        let relaunches = try relaunch()
        return wakes && relaunches
    }

    private func wake() throws -> Bool {
        guard let groups = GroupRoots.ofThisProcess().version2 else {
            throw Failure("no control groups of version 2; mount cgroup2 and run as root")
        }
        let group = "\(groups)/wakebench-plain-\(getpid())"
        let bench = try Subject(
            "wakebench, Swift app, journal",
            [try program("WakeBenchmark"), "--bench", folder, "wake"]
        )
        let plain = try Subject(
            "(a) C program, C app",
            [
                try program("PlainWake"), "thaw", group + "-a", try script("a", Self.plainScript),
                try program("PlainWake"), "app",
            ],
            environment: ["STAMPS=\(try page("a"))"]
        )
        let swift = try Subject(
            "(b) C program, same Swift app",
            [try program("PlainWake"), "thaw", group + "-b", try script("b", Self.swiftScript), app],
            environment: ["STAMPS=\(try page("b"))", "\(WireLimits.socketVariable)=3"]
        )
        let virtual = try WithVirtualTime(library: try program(TimeLibrary.name))
        let benchVirtual = try Subject(
            "the same, app in virtual time",
            [try program("WakeBenchmark"), "--bench", folder, "virtual"],
            environment: virtual.environment.map { "WAKEBENCH_APP_\($0)" }
        )
        let plainVirtual = try WithVirtualTime(library: try program(TimeLibrary.name))
        let swiftVirtual = try Subject(
            "(c) as (b), app in virtual time",
            [try program("PlainWake"), "thaw", group + "-c", try script("c", Self.swiftScript), "/usr/bin/env"]
                + plainVirtual.environment + [app],
            environment: ["STAMPS=\(try page("c"))", "\(WireLimits.socketVariable)=3"]
        )
        try take([bench, benchVirtual, plain, swift, swiftVirtual], samples)
        try virtual.check()
        try plainVirtual.check()
        print(
            "wake: from the adapter's read to the first line of didUpdateValueFor; \(samples) samples each, interleaved"
        )
        for subject in [bench, benchVirtual, plain, swift, swiftVirtual] { printLine(subject) }
        printRatio("to (a)", bench, plain)
        let isNear = printRatio("to (b)", bench, swift, limit: Self.wakeLimit)
        printRatio("of (c) to (b)", swiftVirtual, swift)
        let isCheap = printRatio("with virtual time to without", benchVirtual, bench, limit: Self.libraryLimit)
        return isNear && isCheap
    }

    private func relaunch() throws -> Bool {
        let count = max(samples / 5, 10)
        let bench = try Subject(
            "wakebench, app ended before",
            [try program("WakeBenchmark"), "--bench", folder, "relaunch"]
        )
        let spawn = try Subject(
            "C program, spawn to main",
            [try program("PlainWake"), "spawn", app],
            environment: ["STAMPS=\(try page("spawn"))"]
        )
        let time = try WithVirtualTime(library: try program(TimeLibrary.name))
        let virtual = try Subject(
            "the same, in virtual time",
            [try program("PlainWake"), "spawn", "/usr/bin/env"] + time.environment + [app],
            environment: ["STAMPS=\(try page("spawn-virtual"))"]
        )
        let plain = try Subject(
            "the same without, through env",
            [try program("PlainWake"), "spawn", "/usr/bin/env", app],
            environment: ["STAMPS=\(try page("spawn-env"))"]
        )
        try take([bench, spawn, plain, virtual], count)
        try time.check()
        print(
            "relaunch: from the adapter's read to the first line of didFinishLaunching; \(count) samples each, interleaved"
        )
        for subject in [bench, spawn, plain, virtual] { printLine(subject) }
        printRatio("with virtual time to without", virtual, plain)
        return printRatio("to spawn", bench, spawn, limit: Self.relaunchLimit)
    }

    /// Takes the samples in turns, beginning with another subject each time and in both directions, so that none of two gains by
    /// what the other has left in the processor's caches.
    private func take(_ subjects: [Subject], _ count: Int) throws {
        defer { for subject in subjects { subject.end() } }
        for subject in subjects { try subject.waitUntilReady() }
        for round in 0..<(Self.warmUp + count) {
            for turn in subjects.indices {
                let step = round / subjects.count % 2 == 0 ? turn : subjects.count - 1 - turn
                try subjects[(round + step) % subjects.count].sample(Self.value, keep: round >= Self.warmUp)
            }
        }
    }

    // MARK: Printing

    private func printLine(_ subject: Subject) {
        let name = subject.name + String(repeating: " ", count: max(0, 32 - subject.name.utf8.count))
        print("  \(name) p50 \(microseconds(subject, 0.5)) us   p99 \(microseconds(subject, 0.99)) us")
    }

    private func microseconds(_ subject: Subject, _ part: Double) -> String {
        let text = tenths(Double(subject.percentile(part)) / 1_000)
        return String(repeating: " ", count: max(0, 9 - text.utf8.count)) + text
    }

    @discardableResult
    private func printRatio(_ name: String, _ bench: Subject, _ other: Subject, limit: Double = .infinity) -> Bool {
        func ratio(_ part: Double) -> Double {
            Double(bench.percentile(part)) / Double(max(other.percentile(part), 1))
        }
        let holds = ratio(0.5) <= limit
        let verdict =
            limit < .infinity ? "   p50 at most \(hundredths(limit)): \(holds ? "holds" : "DOES NOT HOLD")" : ""
        print("  ratio \(name): p50 \(hundredths(ratio(0.5)))   p99 \(hundredths(ratio(0.99)))\(verdict)")
        return holds
    }

    private func tenths(_ value: Double) -> String {
        let whole = Int((value * 10).rounded())
        return "\(whole / 10).\(whole % 10)"
    }

    private func hundredths(_ value: Double) -> String {
        let whole = Int((value * 100).rounded())
        return "\(whole / 100).\(whole % 100 < 10 ? "0" : "")\(whole % 100)"
    }

    // MARK: What the subjects need

    /// A program that was built beside this one.
    private func program(_ name: String) throws -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard count > 0 else { throw Failure(call: "/proc/self/exe") }
        let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path[..<(path.lastIndex(of: "/") ?? path.endIndex)] + "/" + name
    }

    private func page(_ name: String) throws -> String {
        let path = "\(folder)/\(name).stamps"
        _ = try StampPage(path)
        return path
    }

    /// What the C program says to its app, in a file.
    private func script(_ name: String, _ lines: [(words: String, packet: String)]) throws -> String {
        let path = "\(folder)/\(name).script"
        guard let file = unsafe fopen(path, "we") else { throw Failure(call: path) }
        defer { unsafe fclose(file) }
        for line in lines { unsafe fputs("\(line.words)\t\(line.packet)\n", file) }
        return path
    }

    /// What the bench says to the benchmark's app, up to a notified value; ` @ ` stands for the delivery's number.
    private static var swiftScript: [(words: String, packet: String)] {
        let peripheral = "6D9D1D67-7A5B-8C3E-9F11-2B1F0E6C5A40"
        let characteristic = WireCharacteristic(uuid: "2A37", handle: 3, properties: 0x10, isNotifying: true)
        let service = WireService(uuid: "180D", handle: 1, characteristics: [characteristic])
        let belt = WirePeripheral(identifier: peripheral, name: "Belt", state: .connected, services: [service])
        func text(_ message: BenchMessage) -> String { String(decoding: message.encode(), as: UTF8.self) }
        func deliver(_ number: UInt64, _ body: WireDeliveryBody) -> String {
            text(.deliver(WireDelivery(delivery: number, manager: 1, body: body)))
        }
        return [
            (
                "\"hello\"",
                text(.welcome(Welcome(state: .background, options: LaunchOptions(bluetoothCentrals: ["belt"]))))
            ),
            ("\"launched\" create", deliver(1, .central(.willRestore(WireRestoration(peripherals: [belt]))))),
            ("", deliver(2, .central(.state(.poweredOn)))),
            ("\"delivery\":2", ""),
            ("\"done\" \"ack\"", valuePacket(peripheral)),
        ]
    }

    /// The C app reads the same bytes, and answers with a word.
    private static var plainScript: [(words: String, packet: String)] {
        [("done", valuePacket("6D9D1D67-7A5B-8C3E-9F11-2B1F0E6C5A40"))]
    }

    private static func valuePacket(_ peripheral: String) -> String {
        let message = WireDelivery(
            delivery: 0,
            event: "e-000001",
            decision: "d-000001",
            cause: "bluetooth",
            manager: 1,
            body: .peripheral(peripheral, .value(attribute: 3, value: value, failure: nil))
        )
        let text = String(decoding: BenchMessage.deliver(message).encode(), as: UTF8.self)
        let field = "\"delivery\":"
        let parts = text.split(separator: field + "0", maxSplits: 1)
        return parts.joined(separator: field + "@")
    }
}

/// A clock that stands, for an app that is measured with the library of virtual time in it.
struct WithVirtualTime {
    private let clock: AppClock
    /// What brings the library into the app.
    let environment: [String]

    init(library: String) throws {
        clock = try AppClock(monotonicBase: 1_000_000_000_000, realBase: 0, now: 0)
        environment = clock.environment(library: library)
    }

    /// - Throws: when the app had no library after all.
    func check() throws {
        if clock.processes == 0 { throw Failure("\(TimeLibrary.name) is not in the app") }
    }
}

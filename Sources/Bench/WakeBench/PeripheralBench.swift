import Glibc
import WakeBluetooth
import WakeDevices
import WakeModel
import WakeSystem

// What is told of a device on the air, for those who do not know its room.
package typealias FuzzAnswer = WakeBluetooth.FuzzAnswer
package typealias FuzzPlan = WakeBluetooth.FuzzPlan
package typealias FuzzRecord = WakeBluetooth.FuzzRecord
package typealias FuzzSummary = WakeBluetooth.FuzzSummary
package typealias FuzzTarget = WakeBluetooth.FuzzTarget

/// A device on the air, looked at or fuzzed without a run.
package struct PeripheralBench {
    /// An address, or the name that the device advertises.
    package var wanted: String
    package var radio: RadioChoice
    /// How long the device may take to be heard, and to connect and say what it has.
    package var within: Instant.Span
    /// Told of each stage, in a few words.
    package var follow: (String) -> Void

    package init(_ wanted: String, radio: RadioChoice, within: Instant.Span, follow: @escaping (String) -> Void) {
        (self.wanted, self.radio, self.within, self.follow) = (wanted, radio, within, follow)
    }

    /// What a fuzzer is to do.
    package struct Fuzz {
        package var time: Instant.Span
        package var seed: UInt64
        package var writes: FuzzPlan.Writes

        package init(time: Instant.Span, seed: UInt64, writes: FuzzPlan.Writes) {
            (self.time, self.seed, self.writes) = (time, seed, writes)
        }
    }

    /// Looks at the device.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 without an adapter, 3 when the device is not heard, 6 when it is not reached
    ///   in time.
    package func check() throws(CommandFailure) -> LiveCheck {
        do {
            let loop = try EventLoop()
            return try radio.withAdapter(on: loop, tell: follow) { adapter in
                try LiveCheck(wanted, adapter: adapter, within: duration(within), follow: follow)
            }
        } catch {
            throw failure(error)
        }
    }

    /// Fuzzes the device until the time is over, it is lost, or somebody interrupts (SIGINT, SIGTERM).
    ///
    /// - Parameters:
    ///   - begin: takes the device's address and what it has, before the first operation.
    ///   - record: takes each operation, in order.
    /// - Throws: as ``check()``.
    package func fuzz(
        _ fuzz: Fuzz,
        begin: (String, FuzzTarget) throws -> Void,
        record: (FuzzRecord) -> Void
    ) throws(CommandFailure) -> FuzzSummary {
        do {
            let loop = try EventLoop()
            // Before the first operation every wait ends at once; after it the operation that goes on is recorded first.
            let stop = StopFlag()
            var (isFuzzing, isStopped) = (false, false)
            let signals = try [SIGINT, SIGTERM].map { (number) throws(SystemError) in
                try loop.signal(number) {
                    isStopped = true
                    if !isFuzzing { stop.isAsked = true }
                }
            }
            defer { for signal in signals { signal.cancel() } }
            return try radio.withAdapter(on: loop, stop: stop, tell: follow) { adapter in
                follow("listening for \(wanted)")
                let heard = try adapter.find(wanted, to: MonotonicClock.now() + within.nanoseconds)
                follow("connecting to \(heard.id.address)")
                let fuzzing = try PeripheralFuzz(heard, adapter: adapter, seed: fuzz.seed, writes: fuzz.writes)
                try begin(heard.id.address, fuzzing.target)
                isFuzzing = true
                return try fuzzing.run(for: duration(fuzz.time), isStopped: { isStopped }, record: record)
            }
        } catch {
            throw failure(error)
        }
    }

    private func duration(_ span: Instant.Span) -> Duration { .nanoseconds(span.nanoseconds) }

    func failure(_ error: any Error) -> CommandFailure {
        if let failure = error as? CommandFailure { return failure }
        guard let failure = error as? LiveFailure else { return CommandFailure(.environment, "\(error)") }
        switch failure {
        case .missing(let what): return CommandFailure(.environment, what)
        case .notHeard(let others):
            let list = others.prefix(8).joined(separator: ", ")
            return CommandFailure(
                .notFound,
                "\(wanted) was not heard within \(DurationText.text(within))",
                hint: others.isEmpty
                    ? "nothing was heard; is it on, and not connected elsewhere?" : "heard were \(list)"
            )
        case .several(let addresses):
            return CommandFailure(
                .usage,
                "\(addresses.count) devices are called \(wanted)",
                hint: "name one by its address: \(addresses.prefix(8).joined(separator: ", "))"
            )
        case .notReached(let what):
            return CommandFailure(.timeout, "\(wanted): \(what)", hint: "is it connected elsewhere? see also --within")
        case .severalAdapters(let addresses):
            return CommandFailure(
                .usage,
                "\(addresses.count) Bluetooth controllers are there",
                hint: "name one with --adapter: \(addresses.prefix(8).joined(separator: ", "))"
            )
        case .interrupted: return CommandFailure(.interrupted, "interrupted before \(wanted) was reached")
        }
    }
}

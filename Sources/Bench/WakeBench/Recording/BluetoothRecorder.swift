import WakeBluetooth
import WakeCaptures
import WakeModel
import WakeSystem

/// Records what one of this machine's Bluetooth controllers hears and says: of a device that is made to speak, or of whatever others do.
package struct BluetoothRecorder {
    /// An address, or the name that the device advertises; nil to hear what others do.
    package var wanted: String?
    package var radio: RadioChoice
    /// How long the device may take to be heard, and to connect and say what it has.
    package var within: Instant.Span
    /// How long is recorded, from when the device is connected to; nil until somebody interrupts.
    package var time: Instant.Span?
    /// The captures to be written.
    package var files: [(format: TraceFormat, path: String)]
    /// Told of each stage, in a few words.
    package var follow: (String) -> Void
    /// Takes how far it is; nil when nobody looks.
    package var tell: ((RecordingProgress) -> Void)?

    package init(
        _ wanted: String?,
        radio: RadioChoice,
        within: Instant.Span,
        time: Instant.Span?,
        files: [(format: TraceFormat, path: String)],
        follow: @escaping (String) -> Void,
        tell: ((RecordingProgress) -> Void)?
    ) {
        (self.wanted, self.radio, self.within, self.time) = (wanted, radio, within, time)
        (self.files, self.follow, self.tell) = (files, follow, tell)
    }

    /// What was recorded.
    package struct Outcome {
        package var end: RecordingEnd
        package var time: Instant.Span
        package var packets: Int
        package var values: Int
        /// The device that was made to speak; nil when others were heard.
        package var address: String?
        package var links = 0
        package var subscriptions = 0
        /// What the device has, as bluetoothd knows it.
        package var table = AttributeTable()
        /// What is missing, a line each.
        package var notes: [String] = []
    }

    /// Records. The captures are written as it goes.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 without an adapter, the right to listen, or room for the capture; 3 when the device
    ///   is not heard, 6 when it is not reached in time, 130 when somebody interrupts before.
    package func record() throws(CommandFailure) -> Outcome {
        do {
            let turning = try RecordingLoop(tell: tell)
            guard let wanted else { return try listen(turning) }
            return try radio.withAdapter(on: turning.loop, stop: turning.stop, tell: follow) {
                try visit(wanted, $0, turning)
            }
        } catch {
            let bench = PeripheralBench(
                wanted ?? "a controller",
                radio: radio,
                within: within,
                follow: follow
            )
            throw bench.failure(error)
        }
    }

    private func listen(_ turning: RecordingLoop) throws -> Outcome {
        let monitor = try AirRecording.monitor(on: turning.loop)
        let capture = try RunCapture(files, start: WallClock.now())
        let air = try AirRecording(
            controller: radio.adapter,
            by: monitor,
            since: capture.start,
            waiting: LiveWait(turning.loop, stop: turning.stop)
        ) { capture.write($0) }
        let (end, time) = try turning.turn(for: time, counts: { Self.counts(air) }) {
            try capture.finish()
            return nil
        }
        let notes = air.finish()
        try capture.finish()
        return Outcome(end: end, time: time, packets: air.count, values: air.values, notes: notes)
    }

    private func visit(_ wanted: String, _ adapter: LiveAdapter, _ turning: RecordingLoop) throws -> Outcome {
        // A missing right to listen is told before a device is disturbed. The monitor tells first of the controllers that are there: nothing
        // of that may be missed.
        let monitor = try AirRecording.monitor(of: adapter)
        let capture = try RunCapture(files, start: WallClock.now())
        let air = AirRecording(adapter, by: monitor, since: capture.start) { capture.write($0) }
        let visit = try LiveVisit(wanted, adapter: adapter, within: .nanoseconds(within.nanoseconds), follow: follow)
        follow("recording \(visit.address)")
        let counts = { "\(Self.counts(air)), \(visit.isLinked ? "linked" : "no link")" }
        let (end, time) = try turning.turn(for: time, counts: counts) {
            visit.turn()
            try capture.finish()
            return nil
        }
        // The end of the link is this command's doing, and none of the device's.
        let notes = air.finish()
        try capture.finish()
        var outcome = Outcome(end: end, time: time, packets: air.count, values: air.values, notes: notes)
        outcome.address = visit.address
        (outcome.links, outcome.subscriptions, outcome.table) = (visit.links, visit.subscriptions, visit.table)
        outcome.notes += visit.refusals
        turning.stop.isAsked = false
        try? visit.leave()
        return outcome
    }

    private static func counts(_ air: AirRecording) -> String {
        "\(air.count) packet\(air.count == 1 ? "" : "s"), \(air.values) value\(air.values == 1 ? "" : "s")"
    }
}

import WakeModel
import WakeRouter

/// Has what background transfers moved written down when they are over, for the energy accounts of their apps (PWR-1).
final class TransferMeter: BenchObserver {
    private unowned let bench: Bench
    private let recorder: RunRecorder
    /// What is known of transfers that go on.
    private var progress: [TransferNumber: Progress] = [:]

    private struct Progress {
        var app: AppID
        var sent: UInt64
        var received: UInt64
    }

    init(_ bench: Bench, _ recorder: RunRecorder) {
        self.bench = bench
        self.recorder = recorder
    }

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        if case .transfer(let report) = item.payload, let event = item.input.reported, event.parent == .none,
            let app = event.app
        {
            hear(report, of: event.transfer, by: app, at: now)
        }
        // Of what its app cancels nothing more is reported.
        guard !progress.isEmpty else { return }
        for case .command(.transfer(.cancel(let transfer))) in output.actions { end(transfer, at: now) }
    }

    private func hear(_ report: TransferReport, of transfer: TransferNumber, by app: AppID, at now: Instant) {
        switch report {
        case .progress(let sent, let received, _):
            progress[transfer] = Progress(app: app, sent: sent, received: received)
        case .finished(let response):
            progress[transfer] = Progress(app: app, sent: response.sent, received: response.received)
            end(transfer, at: now)
        case .failed:
            // One that is tried again goes on with what it has.
            if bench.router.transferIsUnderWay(transfer) == nil { end(transfer, at: now) }
        case .challenge: break
        }
    }

    private func end(_ transfer: TransferNumber, at now: Instant) {
        guard let moved = progress.removeValue(forKey: transfer) else { return }
        recorder.note(sent: moved.sent, received: moved.received, by: transfer, of: moved.app, at: now)
    }
}

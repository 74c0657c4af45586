import WakeModel
import WakeRouter

/// Has what background transfers moved written down when they are over, for the energy accounts of their apps (PWR-1).
final class TransferMeter: BenchObserver {
    private unowned let bench: Bench
    private let recorder: RunRecorder
    /// What is known of transfers that go on.
    private var progress: [TransferNumber: (sent: UInt64, received: UInt64)] = [:]

    init(_ bench: Bench, _ recorder: RunRecorder) {
        self.bench = bench
        self.recorder = recorder
    }

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        guard case .transfer(let report) = item.payload, let event = item.input.reported, event.parent == .none,
            let app = event.app
        else { return }
        switch report {
        case .progress(let sent, let received, _): progress[event.transfer] = (sent, received)
        case .finished(let response):
            progress[event.transfer] = nil
            recorder.note(sent: response.sent, received: response.received, by: event.transfer, of: app, at: now)
        case .failed:
            // One that is tried again goes on with what it has.
            guard bench.router.transferIsUnderWay(event.transfer) == nil else { return }
            guard let moved = progress.removeValue(forKey: event.transfer) else { return }
            recorder.note(sent: moved.sent, received: moved.received, by: event.transfer, of: app, at: now)
        case .challenge: break
        }
    }
}

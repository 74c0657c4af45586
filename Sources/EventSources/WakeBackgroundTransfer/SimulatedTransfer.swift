import WakeDevices
import WakeModel
import WakePorts

/// A transfer as the simulated process has it: how far it has come, and what it does.
struct SimulatedTransfer: Codable {
    enum Stage: Codable {
        /// It stands still until it is begun again.
        case idle
        /// The server is on its way to answer; then it wants a password, or sends.
        case asking(until: Instant)
        /// Bytes go through since an instant.
        case sending(since: Instant)
        /// Nothing comes any more; at the instant the request's time-out is over.
        case stalled(until: Instant)
        /// The server waits for the answer to a challenge.
        case challenged(UInt32)
    }

    var app: AppID
    var transfer: TransferNumber
    var task: TransferTaskNumber
    var session: NameID
    var order: TransferOrder
    var requestTimeout: Instant.Span
    var stage = Stage.idle
    /// How many bytes have gone through.
    var done: UInt64 = 0
    /// How many quarters of it were told of.
    var quarters: UInt64 = 0
    /// How many of the server's breaks and stillstands it has behind it.
    var cuts = 0
    var stalls = 0
    /// Its answer opened the lock.
    var isOpen = false
    var failures: UInt32 = 0
}

/// What goes on between a transfer and its server.
extension SimulatedTransfer {
    /// What becomes of a transfer that sends.
    enum Step {
        case quarter
        case cut
        case stall
        case end
    }

    /// What comes next, and after how many bytes.
    func next(_ entry: TransferServer.Entry) -> (step: Step, bytes: UInt64) {
        var next: (step: Step, bytes: UInt64) = (.end, entry.size)
        if quarters < 3 {
            let bytes = entry.size / 4 * (quarters + 1)
            if bytes > done, bytes < next.bytes { next = (.quarter, bytes) }
        }
        if stalls < entry.stalls.count, entry.stalls[stalls] <= next.bytes { next = (.stall, entry.stalls[stalls]) }
        if cuts < entry.cuts.count, entry.cuts[cuts] <= next.bytes { next = (.cut, entry.cuts[cuts]) }
        return (next.step, max(done, min(next.bytes, entry.size)))
    }

    /// When so many bytes have gone through.
    func reaches(_ bytes: UInt64, since: Instant, bandwidth: UInt64) -> Instant {
        let left = bytes - done
        let (seconds, rest) = (left / bandwidth, left % bandwidth)
        let nanoseconds = Double(rest) / Double(bandwidth) * 1e9
        return since.advanced(by: Instant.Span(nanoseconds: Int64(seconds) * 1_000_000_000 + Int64(nanoseconds)))
    }

    /// Bytes have gone through up to now.
    mutating func account(at now: Instant, bandwidth: UInt64, size: UInt64) {
        guard case .sending(let since) = stage else { return }
        let seconds = Double(max(0, now.since(since).nanoseconds)) / 1e9
        done = min(size, done + UInt64(min(1e15, seconds * Double(bandwidth))))
        stage = .sending(since: max(now, since))
    }
}

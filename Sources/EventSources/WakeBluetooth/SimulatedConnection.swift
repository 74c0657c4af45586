import WakeDevices
import WakeModel

/// When a simulated link carries what: its connection events, and how far the one at hand is filled.
struct SimulatedConnection: Codable {
    /// The most packets of data in a connection event: an iPhone of any model sends about five (Apple Developer Forums,
    /// thread 773555).
    static let packetLimit = 5

    /// The server has answered every request by then; commands keep their place behind.
    var answersEnd = Instant.zero
    /// When the link came up; from then on there is an event at each interval.
    private var began = Instant.zero
    /// The event that carries the latest command.
    private var event = Instant.zero
    private var packets = 0
    private var taken = Instant.Span.zero

    mutating func begin(at now: Instant) {
        self = SimulatedConnection()
        (answersEnd, began, event) = (now, now, now)
    }

    /// When a write command of so many bytes, handed over at an instant, has gone out.
    mutating func send(
        command bytes: Int,
        at now: Instant,
        by parameters: BluetoothPeripheral.Connection
    ) -> Instant {
        let next = firstEvent(from: max(now, answersEnd), parameters.interval)
        if event < next { enter(next) }
        for packet in parameters.packets(ofCommand: bytes) {
            let time = parameters.exchange(packet)
            if packets == Self.packetLimit || taken + time > parameters.interval {
                enter(event.advanced(by: parameters.interval))
            }
            packets += 1
            taken = taken + time
        }
        return event.advanced(by: taken)
    }

    private func firstEvent(from instant: Instant, _ interval: Instant.Span) -> Instant {
        let since = max(0, instant.since(began).nanoseconds)
        let count = (since + interval.nanoseconds - 1) / interval.nanoseconds
        return began.advanced(by: Instant.Span(nanoseconds: count * interval.nanoseconds))
    }

    private mutating func enter(_ next: Instant) {
        (event, packets, taken) = (next, 0, .zero)
    }
}

extension BluetoothPeripheral.Connection {
    /// From a request to its answer: the events at which the one and the other are sent, and those the peripheral sleeps
    /// through before it hears of it.
    var answerLatency: (low: Instant.Span, high: Instant.Span) {
        let half = Instant.Span(nanoseconds: interval.nanoseconds / 2)
        return (half, half + interval + sleep)
    }
}

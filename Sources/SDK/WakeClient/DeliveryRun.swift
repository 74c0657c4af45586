import Foundation
import WakeWire

/// Deliveries of one packet that follow each other, in number too, and are for the same queue.
///
/// They are done in one go and acknowledged at once. One about a channel stays alone: its work is over only when the
/// channel was read.
struct DeliveryRun: Sendable {
    /// Those for one manager, by their places in the packet.
    struct Part: Sendable {
        let manager: UInt32
        let receivers: [BenchClient.Manager]
        var places: Range<Int>
    }

    /// Where to do them; nil when nobody wants them.
    let queue: DispatchQueue?
    /// The same for the same queue; nil when nobody wants them.
    var queueNumber: UInt64? { parts[0].receivers.first?.queueNumber }
    let isAboutChannel: Bool
    private(set) var parts: [Part]
    private let first: UInt64
    private var last: UInt64

    /// A packet's messages, all of which are one run of values.
    init(_ run: BenchPacketReader.Run, _ receivers: [BenchClient.Manager]) {
        queue = receivers.first?.queue
        isAboutChannel = false
        first = run.numbers.lowerBound
        last = run.numbers.upperBound
        parts = [Part(manager: run.manager, receivers: receivers, places: 0..<run.numbers.count)]
    }

    init(_ delivery: WireDelivery, at place: Int, _ receivers: [BenchClient.Manager]) {
        queue = receivers.first?.queue
        isAboutChannel = delivery.body.isAboutChannel
        first = delivery.delivery
        last = first
        parts = [Part(manager: delivery.manager, receivers: receivers, places: place..<(place + 1))]
    }

    /// Takes the next delivery where it goes on with the run; otherwise it begins another one.
    mutating func takes(
        _ delivery: WireDelivery,
        at place: Int,
        receivers find: () -> [BenchClient.Manager]
    ) -> Bool {
        guard delivery.delivery == last + 1, !isAboutChannel, !delivery.body.isAboutChannel else {
            return false
        }
        let latest = parts.count - 1
        if parts[latest].manager == delivery.manager {
            parts[latest].places = parts[latest].places.lowerBound..<(place + 1)
        } else {
            let receivers = find()
            guard receivers.first?.queueNumber == parts[latest].receivers.first?.queueNumber else {
                return false
            }
            parts.append(Part(manager: delivery.manager, receivers: receivers, places: place..<(place + 1)))
        }
        last = delivery.delivery
        return true
    }

    /// Says that all of them are done.
    var acknowledgement: AppMessage {
        .acknowledge(delivery: first, through: last > first ? last : nil)
    }
}

extension WireDeliveryBody {
    /// Whether an app that has taken it may have bytes of a channel to read.
    fileprivate var isAboutChannel: Bool {
        switch self {
        case .channelData, .peripheral(_, .channelOpened), .peripheralManager(.channelOpened), .voip: true
        case .accessory(.data), .accessory(.sessionEnded): true
        default: false
        }
    }
}

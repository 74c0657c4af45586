import Foundation
import WakeWire

/// Deliveries of one packet that follow each other, in number too, and are for the same queue.
///
/// They are done in one go and acknowledged at once. One about a channel stays alone: its work is over only when the
/// channel was read.
struct DeliveryRun: Sendable {
    typealias Entry = (delivery: WireDelivery, receivers: [BenchClient.Manager])

    /// Where to do them; nil when nobody wants them.
    let queue: DispatchQueue?
    /// What came with the packet.
    let descriptor: ReceivedDescriptor?
    let isAboutChannel: Bool
    private(set) var entries: [Entry]

    init(_ delivery: WireDelivery, _ receivers: [BenchClient.Manager], _ descriptor: ReceivedDescriptor?) {
        queue = receivers.first?.queue
        self.descriptor = descriptor
        isAboutChannel = delivery.body.isAboutChannel
        entries = [(delivery, receivers)]
    }

    /// Takes the next delivery where it goes on with the run; otherwise it begins another one.
    mutating func takes(_ delivery: WireDelivery, receivers find: () -> [BenchClient.Manager]) -> Bool {
        let last = entries[entries.count - 1]
        guard delivery.delivery == last.delivery.delivery + 1, !isAboutChannel, !delivery.body.isAboutChannel else {
            return false
        }
        let receivers = delivery.manager == last.delivery.manager ? last.receivers : find()
        guard receivers.first?.queue === queue else {
            return false
        }
        entries.append((delivery, receivers))
        return true
    }

    /// Says that all of them are done.
    var acknowledgement: AppMessage {
        .acknowledge(
            delivery: entries[0].delivery.delivery,
            through: entries.count > 1 ? entries[entries.count - 1].delivery.delivery : nil
        )
    }
}

extension WireDeliveryBody {
    /// Whether an app that has taken it may have bytes of a channel to read.
    fileprivate var isAboutChannel: Bool {
        switch self {
        case .channelData, .peripheral(_, .channelOpened), .peripheralManager(.channelOpened): true
        default: false
        }
    }
}

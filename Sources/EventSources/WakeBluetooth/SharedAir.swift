import WakeBlueZ
import WakeModel

/// The air that the phones of one bench share: it carries what the radio of one says to that of another.
///
/// Nothing is heard inside the call that says it. It waits until the phone that it is for takes its next turn.
package final class SharedAir {
    private var ends: [String: AirEnd] = [:]
    /// The links of true adapters, which several phones may hold.
    let links = BlueZLinkHolders()

    package init() {}

    /// A phone's radio is there, and hears of all others, as they hear of it.
    ///
    /// - Parameters:
    ///   - phone: what the bench calls it; no other of the name is there.
    ///   - wake: has the phone take a turn, later.
    package func join(_ phone: String, wake: @escaping () -> Void) -> AirEnd {
        precondition(ends[phone] == nil, "\(phone) is on the air twice")
        let end = AirEnd(of: phone, on: self, wake: wake)
        for other in names(but: phone) {
            ends[other]?.hear(.appeared, from: phone)
            end.hear(.appeared, from: other)
        }
        ends[phone] = end
        return end
    }

    fileprivate func leave(_ end: AirEnd, suddenly: Bool) {
        guard ends[end.phone] === end else { return }
        ends[end.phone] = nil
        for other in names(but: end.phone) { ends[other]?.hear(.gone(suddenly: suddenly), from: end.phone) }
    }

    fileprivate func carry(_ message: AirMessage, from phone: String, to other: String) {
        ends[other]?.hear(message, from: phone)
    }

    /// In order, so that all of it happens in the same order each time.
    fileprivate func names(but phone: String) -> [String] { ends.keys.filter { $0 != phone }.sorted() }
}

/// One phone's end of the air.
package final class AirEnd {
    /// What the bench calls the phone.
    package let phone: String
    private let air: SharedAir
    private let wake: () -> Void
    /// What it has not heard yet, oldest first.
    private var inbox: [(from: String, message: AirMessage)] = []

    fileprivate init(of phone: String, on air: SharedAir, wake: @escaping () -> Void) {
        (self.phone, self.air, self.wake) = (phone, air, wake)
    }

    /// The other phones that are there.
    var others: [String] { air.names(but: phone) }

    /// Whether something waits to be heard.
    var hasNews: Bool { !inbox.isEmpty }

    /// Says something to another phone; to one that is not there it is lost.
    func say(_ message: AirMessage, to other: String) { air.carry(message, from: phone, to: other) }

    /// What has come since it was last asked.
    func takeNews() -> [(from: String, message: AirMessage)] {
        defer { inbox.removeAll(keepingCapacity: true) }
        return inbox
    }

    /// The radio is off the air, and hears nothing any more.
    ///
    /// - Parameter suddenly: without a word: what was linked to it finds out when nothing comes any more.
    package func leave(suddenly: Bool) {
        air.leave(self, suddenly: suddenly)
        inbox.removeAll()
    }

    fileprivate func hear(_ message: AirMessage, from other: String) {
        inbox.append((other, message))
        wake()
    }
}

/// What one phone's radio says to another's. Links are numbered by the phone that is the central of them.
enum AirMessage {
    /// The phone is there from now on.
    case appeared
    case gone(suddenly: Bool)

    /// What the phone says of itself to whoever may hear it; nil for nothing.
    case advertises(PhoneAdvertisement?)
    /// The peripheral took the link.
    case accepted(link: UInt64, mtu: Int)
    /// The peripheral ended the link, or did not take it.
    case refused(link: UInt64, BluetoothFailure)
    case answered(link: UInt64, request: UInt64, EventPayload)
    case notified(link: UInt64, AttributeHandle, [UInt8])
    /// What was in the range is void; without a range there is only more.
    case servicesChanged(link: UInt64, ClosedRange<AttributeHandle>?)

    case connects(link: UInt64)
    /// The central asks for something; one request after the other, each after the answer to the last.
    case asks(link: UInt64, request: UInt64, BluetoothOperation)
    /// The central ended the link.
    case left(link: UInt64, BluetoothFailure)
}

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

    /// A phone's radio is there, for those who look for it and those that it looks for.
    ///
    /// - Parameters:
    ///   - phone: what the bench calls it; no other of the name is there.
    ///   - wanted: the phones that it looks for. Of others it hears only when they have a link to it.
    ///   - wake: has the phone take a turn, later.
    func join(_ phone: String, lookingFor wanted: Set<String>, wake: @escaping () -> Void) -> AirEnd {
        precondition(ends[phone] == nil, "\(phone) is on the air twice")
        let end = AirEnd(of: phone, lookingFor: wanted, on: self, wake: wake)
        for other in others(than: phone) {
            if wanted.contains(other.phone) { other.hear(.appeared, from: phone) }
            if other.wanted.contains(phone) { end.hear(.appeared, from: other.phone) }
        }
        ends[phone] = end
        return end
    }

    fileprivate func leave(_ end: AirEnd, suddenly: Bool) {
        guard ends[end.phone] === end else { return }
        ends[end.phone] = nil
        for other in others(than: end.phone)
        where other.wanted.contains(end.phone) || end.wanted.contains(other.phone) {
            other.hear(.gone(suddenly: suddenly), from: end.phone)
        }
    }

    fileprivate func isThere(_ phone: String) -> Bool { ends[phone] != nil }

    fileprivate func carry(_ message: AirMessage, from phone: String, to other: String) {
        ends[other]?.hear(message, from: phone)
    }

    /// In the order of their names, so that all of it happens in the same order each time.
    fileprivate func others(than phone: String) -> [AirEnd] {
        ends.values.filter { $0.phone != phone }.sorted { $0.phone < $1.phone }
    }
}

/// One phone's end of the air.
final class AirEnd {
    /// What the bench calls the phone.
    let phone: String
    fileprivate let wanted: Set<String>
    private let air: SharedAir
    private let wake: () -> Void
    /// What it has not heard yet, oldest first.
    private var inbox: [(from: String, message: AirMessage)] = []

    fileprivate init(of phone: String, lookingFor wanted: Set<String>, on air: SharedAir, wake: @escaping () -> Void) {
        (self.phone, self.wanted, self.air, self.wake) = (phone, wanted, air, wake)
    }

    /// The phones that are there and look for this one.
    var watchers: [String] { air.others(than: phone).filter { $0.wanted.contains(phone) }.map(\.phone) }

    /// Whether another phone is there.
    func reaches(_ other: String) -> Bool { air.isThere(other) }

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
    func leave(suddenly: Bool) {
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
    case asks(link: UInt64, request: UInt64, AirQuestion)
    /// The central ended the link.
    case left(link: UInt64, BluetoothFailure)
}

/// What a central asks. A name has another number in each phone, so that those of the operation are said in full.
struct AirQuestion {
    /// Its names mean nothing here.
    let operation: BluetoothOperation
    /// The UUIDs that are looked for, canonical; none for all.
    let wanted: [String]

    init(_ operation: BluetoothOperation, _ names: NameTable) {
        self.operation = operation
        switch operation {
        case .discoverServices(let wanted), .discoverIncludedServices(_, let wanted),
            .discoverCharacteristics(_, let wanted):
            self.wanted = wanted.map(names.text)
        case .discoverDescriptors, .read, .write, .setNotify, .readDescriptor, .writeDescriptor, .readSignalStrength,
            .openChannel:
            wanted = []
        }
    }
}

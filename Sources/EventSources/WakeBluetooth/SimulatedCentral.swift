import WakeDevices
import WakeModel

/// One central of the simulated radio: its script, where it is in it, and its link to the phone.
struct SimulatedCentral {
    /// What the central is at.
    enum Activity: Codable {
        /// The script is over.
        case done
        /// The next step begins at the instant.
        case pausing(until: Instant)
        /// Looks for an advertisement; gives up at the instant.
        case searching(until: Instant)
        /// It heard the advertisement. The link is up at the instant, unless the advertisement ends before.
        case connecting(at: Instant, givingUp: Instant)
        /// What the step asks reaches the phone at the instant.
        case asking(at: Instant)
        /// An app has the request. The link goes at the instant, as the Attribute Protocol demands.
        case awaitingAnswer(request: UInt32, until: Instant)
        /// An answer reaches the central at the instant.
        case hearing(Answer, at: Instant)
        /// Waits for values of a characteristic until the instant.
        case awaitingValues(String, count: Int, until: Instant)
        /// Waits for what comes back over its channel until the instant.
        case exchanging(until: Instant)
    }

    /// An answer to a request.
    struct Answer: Codable {
        /// An ATT error code; 0 for success.
        var result: UInt8
        /// What a read gave from where it was asked for.
        var value: [UInt8]
    }

    /// A characteristic that the central is subscribed to.
    struct Subscription: Equatable, Codable {
        var client: BluetoothClient
        var characteristic: UInt32
        var uuid: String
        var indications: Bool
    }

    /// A value on its way.
    struct Outgoing: Codable {
        /// The update that it belongs to.
        var update: UInt64
        var subscription: Subscription
        var value: [UInt8]
        /// It arrived, and will not be confirmed.
        var isStuck = false
    }

    /// The faults that are armed.
    struct Faults: Codable {
        /// Values and answers left until the link drops.
        var disconnectAfter: Int?
        var neverConfirms = false
        var slowness: Instant.Span?
    }

    /// How long either end waits for an answer or a confirmation (Bluetooth Core Specification, volume 3, part F, 3.3.3).
    static let transactionTimeout = Instant.Span.seconds(30)

    let name: String
    let nameID: NameID
    let description: BluetoothCentral
    var random: SimulatedRandom

    var step = 0
    var activity = Activity.pausing(until: .zero)
    var isUp = false
    var inRange = true
    /// When a link out of range is lost.
    var lossDue = Instant.distantFuture
    var subscriptions: [Subscription] = []
    /// Values that came and were not waited for, by UUID.
    var received: [String: Int] = [:]
    /// What a read has brought so far.
    var readSoFar: [UInt8] = []
    var outgoing: [Outgoing] = []
    /// The request that has gone out and was not answered, and the handle it is about, as far as a trace of the radio says.
    var asked: (request: [UInt8], handle: AttributeHandle)?
    /// The channel that it has opened.
    var channel: CentralChannel?
    /// When the first of `outgoing` arrives.
    var arrival = Instant.distantFuture
    var faults = Faults()
    /// The phone of the bench that it is, as the bench calls it; nil for one that does what a script says.
    let phone: String?
    /// The number that the phone gave the link; nil without one.
    var link: UInt64?
    /// What the phone waits for an answer to.
    var question: Question?
    /// What the phone asked while it was out of reach, oldest first.
    var unheard: [Question] = []

    /// What it was told to do beside its script, oldest first.
    var orders: [BluetoothCentral.Action] = []
    /// The order that it carries out; nil while it plays its script.
    var interruption: Interruption?

    /// An order that is carried out.
    struct Interruption: Codable {
        var order: BluetoothCentral.Action
        /// What the script was at, and goes on with.
        var script: Activity
    }

    /// What a phone asked.
    struct Question {
        var number: UInt64
        var said: AirQuestion
    }

    init(_ name: String, _ description: BluetoothCentral, names: NameTable, seed: UInt64, phone: String? = nil) {
        self.name = name
        self.phone = phone
        nameID = names.intern(name)
        self.description = description
        random = SimulatedRandom(seed: seed, name: name)
    }

    /// The order that the central carries out, or the step that it is at; nil when the script is over.
    var action: BluetoothCentral.Action? {
        if let interruption { return interruption.order }
        return description.script.indices.contains(step) ? description.script[step].action : nil
    }

    /// Whether an order can go before what it is at: nothing is on its way to the phone or back.
    var canTakeOrder: Bool {
        guard interruption == nil else { return false }
        switch activity {
        case .done, .pausing, .searching, .awaitingValues: return true
        case .connecting, .asking, .awaitingAnswer, .hearing, .exchanging: return false
        }
    }

    /// Whether an order makes a link.
    var isToConnect: Bool { interruption?.order.isConnect == true || orders.contains(where: \.isConnect) }

    /// Whether its script has made the link that it is at a step of.
    var isInScriptedLink: Bool {
        let last = description.script.prefix(step).last { $0.action == .disconnect || $0.action.isConnect }
        return last?.action.isConnect == true
    }

    /// When its activity goes on by itself.
    var due: Instant {
        switch activity {
        case .done: .distantFuture
        case .pausing(let until), .searching(let until): until
        case .connecting(let at, _), .asking(let at), .hearing(_, let at): at
        case .awaitingAnswer(_, let until), .awaitingValues(_, _, let until), .exchanging(let until): until
        }
    }

    /// When it next has something to do of its own.
    var nextTime: Instant { min(due, arrival, lossDue) }

    /// The longest value of a notification.
    var longestUpdate: Int { description.mtu - 3 }

    /// The step after the one that the link was lost in: what needs it is left out.
    var stepAfterLoss: Int {
        let rest = description.script.indices[min(step, description.script.count)...]
        for index in rest {
            switch description.script[index].action {
            case .disconnect: return index + 1
            case .connect: return index
            case .wait, .discover, .read, .write, .subscribe, .unsubscribe, .awaitValues, .exchange: continue
            }
        }
        return description.script.count
    }

    /// How many connection intervals pass until what the step asks has reached the phone.
    var intervalsToAsk: Int {
        switch action {
        // One round each for services, characteristics and descriptors.
        case .discover: 6
        // Each piece of a prepared write is echoed before the next.
        case .write(_, let value, .prepared): Self.pieces(of: value, description.mtu) * 2 + 1
        case .write(_, let value, .request) where value.count > description.mtu - 3:
            Self.pieces(of: value, description.mtu) * 2 + 1
        default: 1
        }
    }

    private static func pieces(of value: [UInt8], _ mtu: Int) -> Int { max(1, (value.count + mtu - 6) / (mtu - 5)) }
}

extension BluetoothCentral.Action {
    /// Whether it makes a link, as all else but a pause needs one.
    var isConnect: Bool {
        if case .connect = self { true } else { false }
    }
}

import WakeBus
import WakeSystem

/// What becomes of profiles and of the connections that are wanted over them.
package enum BlueZProfileEvent {
    /// A wanted connection is up. The descriptor is a non-blocking stream and the hearer's, who ends it by ``hangUp(_:)``.
    case connected(BlueZDeviceID, profile: String, descriptor: Int32)
    /// An attempt came to nothing; there will be others while the connection is wanted.
    case failed(BlueZDeviceID, profile: String, BusError)
    /// bluetoothd wants the connection closed, since somebody disconnects the device.
    case closing(BlueZDeviceID, profile: String)
    /// bluetoothd does not register the profile: another program has it.
    case refused(profile: String, BusError)
}

/// Profiles over RFCOMM that this machine uses as a client, kept registered with bluetoothd's ProfileManager1.
///
/// A profile is a UUID that devices offer; bluetoothd finds its channel in the device's service records, connects, and hands
/// the socket over. There is one registration of a UUID for all apps. After a restart of bluetoothd everything is registered
/// again, and what is wanted is connected again.
package final class BlueZProfiles {
    /// The object below which profiles are exported.
    static let root = "/org/wakebench/profile"
    static let interface = "org.bluez.Profile1"
    static let manager = "org.bluez.ProfileManager1"
    /// How long one attempt may take: bluetoothd pages the device, reads its records and connects.
    static let connectPatience = Duration.seconds(60)
    /// The longest pause between attempts, in milliseconds.
    static let longestPause: Int64 = 8_000

    /// A profile, and how far bluetoothd is with it.
    private struct Registration {
        enum State {
            /// Valid transitions to: `asked`.
            case waiting
            /// Valid transitions to: `registered`, `waiting`, `refused`.
            case asked
            /// Valid transitions to: `waiting`.
            case registered
            /// Another program has it. Valid transitions to: `waiting`, with another bluetoothd.
            case refused
        }

        var profile: String
        var state = State.waiting
        /// The bluetoothd that the state is about.
        var generation = 0
    }

    /// A connection that is wanted until it is up or given up.
    private struct Wish: Equatable {
        var device: BlueZDeviceID
        var profile: String
        var failures = 0
    }

    private let adapter: BlueZAdapter
    /// Where events go.
    package var heard: ((BlueZProfileEvent) -> Void)?
    /// What bluetoothd is to ask of a device before it connects to it: that both know each other by a pairing.
    package var requiresAuthentication = false

    private var registrations: [Registration] = []
    private var wishes: [Wish] = []
    /// The wish that is being tried.
    private var attempt: (device: BlueZDeviceID, profile: String)?
    private var isAsking = false
    private var failures = 0
    private var exported: BusSubscription?

    /// Profiles on an adapter, which has one such list at most. The adapter may be followed already or later.
    package init(on adapter: BlueZAdapter) {
        self.adapter = adapter
        adapter.profiles = self
        if let bus = adapter.bus { busOpened(bus) }
    }

    /// Ends: the profiles are given back, and nothing is told any more. Connections that were handed over stay.
    package func stop() {
        heard = nil
        wishes.removeAll()
        attempt = nil
        if adapter.owner != nil {
            for index in registrations.indices where registrations[index].state == .registered {
                adapter.tell("/org/bluez", Self.manager, "UnregisterProfile", [.objectPath(path(index))])
            }
        }
        registrations.removeAll()
        exported = nil
        adapter.profiles = nil
    }

    private func path(_ index: Int) -> String { "\(Self.root)/\(index)" }

    /// Uses a profile from now on.
    ///
    /// - Parameter profile: its UUID in BlueZ's spelling, 36 characters in small letters.
    package func use(_ profile: String) {
        guard !registrations.contains(where: { $0.profile == profile }) else { return }
        registrations.append(Registration(profile: profile))
        proceed()
    }

    /// Whether a device is known to bluetoothd: it was found, or is paired.
    package func isKnown(_ device: BlueZDeviceID) -> Bool { adapter.path(of: device) != nil }

    // MARK: Connections

    /// Wants a connection over a profile in use: the device is looked for and tried until ``BlueZProfileEvent/connected``.
    package func want(_ device: BlueZDeviceID, profile: String) {
        precondition(registrations.contains { $0.profile == profile }, "want(\(profile)) without use")
        guard wish(device, profile) == nil else { return }
        wishes.append(Wish(device: device, profile: profile))
        adapter.settle()
        proceed()
    }

    /// Wants it no more. A connection that comes all the same is closed.
    package func giveUp(_ device: BlueZDeviceID, profile: String) {
        wishes.removeAll { $0.device == device && $0.profile == profile }
        adapter.delays.cancel(.profile(device, profile))
        adapter.settle()
    }

    private func wish(_ device: BlueZDeviceID, _ profile: String) -> Int? {
        wishes.firstIndex { $0.device == device && $0.profile == profile }
    }

    /// Whether a device must be looked for.
    var isSeeking: Bool { wishes.contains { adapter.path(of: $0.device) == nil } }

    /// Whether an attempt is under way or about to be.
    var isConnecting: Bool { attempt != nil || nextWish != nil }

    private var nextWish: Wish? {
        wishes.first { wish in
            !adapter.delays.isWaiting(.profile(wish.device, wish.profile)) && adapter.path(of: wish.device) != nil
                && registrations.contains { $0.profile == wish.profile && $0.state == .registered }
        }
    }

    /// Asks bluetoothd for the next thing that it does not have: one at a time.
    func proceed() {
        guard adapter.isReady, exported != nil, !isAsking else { return }
        if let index = registrations.firstIndex(where: { $0.state == .waiting }) {
            if !adapter.delays.isWaiting(.profiles) { register(index) }
        } else if attempt == nil, let wish = nextWish, let path = adapter.path(of: wish.device) {
            guard adapter.isDiscoveryAtRest else { return adapter.settle() }
            connect(wish, path)
        }
    }

    private func register(_ index: Int) {
        isAsking = true
        registrations[index].state = .asked
        registrations[index].generation = adapter.generation
        let options: BusValue = .properties([
            ("Name", .string("wakebench")), ("Role", .string("client")), ("AutoConnect", .bool(false)),
            ("RequireAuthentication", .bool(requiresAuthentication)), ("RequireAuthorization", .bool(false)),
        ])
        let arguments: [BusValue] = [.objectPath(path(index)), .string(registrations[index].profile), options]
        adapter.ask("/org/bluez", Self.manager, "RegisterProfile", arguments) { [weak self] answer in
            guard let self else { return }
            isAsking = false
            if registrations.indices.contains(index) { registered(index, answer) }
            proceed()
        }
    }

    private func registered(_ index: Int, _ answer: Bus.Answer) {
        switch answer {
        case .success: registrations[index].state = .registered
        // Asked when the adapter went, and not heard: bluetoothd keeps profiles over that.
        case .failure(let error) where error.kind == "AlreadyExists": registrations[index].state = .registered
        case .failure(let error) where error.kind == "NotPermitted":
            registrations[index].state = .refused
            heard?(.refused(profile: registrations[index].profile, error))
        case .failure:
            registrations[index].state = .waiting
            failures += 1
            adapter.delays.after(min(Self.longestPause, 125 << Int64(min(failures, 6))), .profiles) { [weak self] in
                self?.proceed()
            }
            return
        }
        failures = 0
    }

    private func connect(_ wish: Wish, _ path: String) {
        attempt = (wish.device, wish.profile)
        let call = BusCall(BlueZName.daemon, path, BlueZName.device, "ConnectProfile", [.string(wish.profile)])
        adapter.ask(call, timeout: Self.connectPatience) { [weak self] answer in
            guard let self else { return }
            attempt = nil
            answered(wish, answer)
            adapter.settle()
            proceed()
        }
    }

    /// NewConnection comes before the answer. Without it, a success says that there is a connection that is not ours.
    private func answered(_ wish: Wish, _ answer: Bus.Answer) {
        guard let index = self.wish(wish.device, wish.profile) else { return }
        wishes[index].failures += 1
        // A connection that was just closed is not forgotten yet.
        let pause = min(Self.longestPause, Int64(125) << Int64(min(wishes[index].failures, 6)))
        adapter.delays.after(pause, .profile(wish.device, wish.profile)) { [weak self] in
            self?.adapter.settle()
            self?.proceed()
        }
        if case .failure(let error) = answer { heard?(.failed(wish.device, profile: wish.profile, error)) }
    }

    // MARK: What bluetoothd asks

    private func answer(_ call: IncomingCall) -> Bool {
        guard call.interface == Self.interface, call.path.hasPrefix(Self.root + "/"),
            let index = Int(call.path.dropFirst(Self.root.utf8.count + 1)), registrations.indices.contains(index)
        else { return false }
        guard call.sender == adapter.owner else {
            call.fail(.notTheDaemon(call))
            return true
        }
        let profile = registrations[index].profile
        switch call.member {
        case "NewConnection": newConnection(call, profile)
        case "RequestDisconnection":
            call.reply()
            if let device = call.arguments.first?.text.flatMap(adapter.device(at:)) {
                heard?(.closing(device, profile: profile))
            }
        case "Release":
            call.reply()
            // bluetoothd ends, which is heard of in another way, or it forgets this profile alone.
            registrations[index].state = .waiting
            adapter.delays.after(Self.longestPause, .profiles) { [weak self] in self?.proceed() }
        default: return false
        }
        return true
    }

    private func newConnection(_ call: IncomingCall, _ profile: String) {
        guard call.arguments.count >= 2, let device = call.arguments[0].text.flatMap(adapter.device(at:)),
            let number = call.arguments[1].descriptor?.take(), number >= 0
        else {
            return call.fail(BusError(name: "org.bluez.Error.Rejected", message: "a connection of no device"))
        }
        guard let index = wish(device, profile) else {
            hangUp(number)
            return call.fail(BusError(name: "org.bluez.Error.Canceled", message: "nobody wants it any more"))
        }
        let descriptor = Descriptor(owning: number)
        do throws(SystemError) {
            try descriptor.makeNonBlocking()
        } catch {
            return call.fail(BusError(name: "org.bluez.Error.Rejected", message: error.description))
        }
        wishes.remove(at: index)
        call.reply()
        let given = descriptor.release()
        if let heard { heard(.connected(device, profile: profile, descriptor: given)) } else { hangUp(given) }
    }

    // MARK: The adapter

    func busOpened(_ bus: Bus) {
        exported = try? bus.export(Self.root, andBelow: true) { [weak self] in self?.answer($0) ?? false }
        proceed()
    }

    func busEnded() { exported = nil }

    /// The adapter is there and on. Another bluetoothd knows nothing of what an earlier one was asked.
    func adapterReady() {
        for index in registrations.indices where registrations[index].generation != adapter.generation {
            registrations[index].state = .waiting
        }
        proceed()
    }

    /// The adapter is off or gone, or bluetoothd is. What was asked is not answered any more.
    func adapterLeft() {
        isAsking = false
        attempt = nil
        for index in registrations.indices where registrations[index].state == .asked {
            registrations[index].state = .waiting
        }
        for index in wishes.indices { wishes[index].failures = 0 }
    }
}

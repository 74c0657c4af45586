import WakeBus

/// The other half of bluetoothd: what programs register with it, and centrals that make use of that.
///
/// As the real one does, it reads an application's objects once, calls AcquireNotify where the property NotifyAcquired
/// exists and StartNotify when that is refused, and StopNotify when the last central unsubscribed.
extension StandInBlueZ {
    /// What is registered.
    package struct Offers {
        /// A registered application.
        package struct Application {
            package var path: String
            var owner: String
            package var attributes: [Attribute]
        }

        /// A service, characteristic or descriptor of an application.
        package struct Attribute {
            package var path: String
            package var interface: String
            /// In BlueZ's spelling.
            package var uuid: String
            package var flags: [String]
            package var handle: UInt16
            var hasNotifyAcquired: Bool
        }

        /// A registered advertisement.
        package struct Advertisement {
            package var path: String
            var owner: String
            package var properties: BusValue
        }

        package var applications: [Application] = []
        package var advertisements: [Advertisement] = []
        /// Errors with which the next registrations are answered.
        package var refusals: [String] = []
        /// The longest local name that an advertisement has room for.
        package var longestName = 29
        /// Whether centrals confirm indications.
        package var confirms = true
        /// Values that reached subscribed centrals, as UUID and value.
        package var notified: [(uuid: String, value: [UInt8])] = []
        /// Answers to what centrals asked, in order: the value, nothing for a write, or the error's last word.
        package var answers: [Result<[UInt8], BusError>] = []
        package var nextHandle: UInt16 = 10
        /// Addresses of subscribed centrals, by object of the characteristic.
        var subscribers: [String: [String]] = [:]

        init() {}

        /// Nothing is registered; what a test has seen and set stays.
        init(keeping offers: Offers) {
            notified = offers.notified
            answers = offers.answers
            refusals = offers.refusals
            confirms = offers.confirms
            longestName = offers.longestName
        }
    }

    /// What programs have registered, and what came of it.
    package var registered: Offers {
        get { offers }
        set { offers = newValue }
    }

    func offering(_ call: IncomingCall) -> Bool {
        guard let path = call.arguments.first?.text else { return false }
        if call.member.hasPrefix("Register"), !offers.refusals.isEmpty {
            call.fail(BusError(name: "org.bluez.Error." + offers.refusals.removeFirst(), message: ""))
            return true
        }
        switch call.member {
        case "RegisterApplication": registerApplication(path, call)
        case "UnregisterApplication":
            unregister(call, offers.applications.contains { $0.path == path })
            offers.applications.removeAll { $0.path == path }
            offers.subscribers = offers.subscribers.filter { !$0.key.hasPrefix(path + "/") }
        case "RegisterAdvertisement": registerAdvertisement(path, call)
        case "UnregisterAdvertisement":
            unregister(call, offers.advertisements.contains { $0.path == path })
            offers.advertisements.removeAll { $0.path == path }
        default: return false
        }
        return true
    }

    private func unregister(_ call: IncomingCall, _ isKnown: Bool) {
        if isKnown {
            call.reply()
        } else {
            call.fail(BusError(name: "org.bluez.Error.DoesNotExist", message: ""))
        }
    }

    // MARK: Applications

    private func registerApplication(_ path: String, _ call: IncomingCall) {
        guard !offers.applications.contains(where: { $0.path == path }) else {
            call.fail(BusError(name: "org.bluez.Error.AlreadyExists", message: ""))
            return
        }
        let question = BusCall(call.sender, path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        server?.call(question) { [unowned self] answer in
            let entries = (try? answer.get())?.first?.entries ?? []
            var attributes = entries.compactMap(attribute)
            let hints = attributes.filter { $0.interface == "org.bluez.GattService1" && $0.handle != 0 }
            let taken = Set(offers.applications.flatMap(\.attributes).map(\.handle))
            if attributes.isEmpty || hints.contains(where: { taken.contains($0.handle) }) {
                call.fail(BusError(name: "org.bluez.Error.Failed", message: "Failed to create entry in database"))
                return
            }
            for index in attributes.indices {
                giveHandle(&attributes[index], to: call.sender)
            }
            offers.applications.append(Offers.Application(path: path, owner: call.sender, attributes: attributes))
            call.reply()
        }
    }

    private func attribute(_ entry: BusEntry) -> Offers.Attribute? {
        guard let path = entry.key.text, let described = entry.value.entries?.first, let uuid = described.value["UUID"]
        else { return nil }
        return Offers.Attribute(
            path: path,
            interface: described.key.text ?? "",
            uuid: uuid.text ?? "",
            flags: described.value["Flags"]?.texts ?? [],
            handle: UInt16(described.value["Handle"]?.integer ?? 0),
            hasNotifyAcquired: described.value["NotifyAcquired"] != nil
        )
    }

    private func giveHandle(_ attribute: inout Offers.Attribute, to owner: String) {
        if attribute.interface == "org.bluez.GattService1", attribute.handle != 0 {
            offers.nextHandle = max(offers.nextHandle, attribute.handle)
        }
        let asked = attribute.handle
        if asked == 0 { attribute.handle = offers.nextHandle }
        offers.nextHandle = max(offers.nextHandle, attribute.handle) + (attribute.flags.isEmpty ? 1 : 3)
        guard asked == 0, attribute.interface == "org.bluez.GattService1" else { return }
        let arguments: [BusValue] = [
            .string(attribute.interface), .string("Handle"), .variant(.uint16(attribute.handle)),
        ]
        server?.call(BusCall(owner, attribute.path, "org.freedesktop.DBus.Properties", "Set", arguments)) { _ in }
    }

    /// The first registered attribute of a UUID in BlueZ's spelling.
    package func offered(_ uuid: String) -> Offers.Attribute? {
        offers.applications.flatMap(\.attributes).first { $0.uuid == uuid }
    }

    private func owner(of attribute: Offers.Attribute) -> String {
        offers.applications.first { attribute.path.hasPrefix($0.path + "/") }?.owner ?? ""
    }

    // MARK: Advertisements

    private func registerAdvertisement(_ path: String, _ call: IncomingCall) {
        let interface = "org.bluez.LEAdvertisement1"
        let question = BusCall(
            call.sender,
            path,
            "org.freedesktop.DBus.Properties",
            "GetAll",
            [.string(interface)]
        )
        server?.call(question) { [unowned self] answer in
            guard let properties = (try? answer.get())?.first,
                properties["LocalName"]?.text?.utf8.count ?? 0 <= offers.longestName
            else {
                call.fail(BusError(name: "org.bluez.Error.Failed", message: "Failed to parse advertisement."))
                return
            }
            offers.advertisements.append(
                Offers.Advertisement(path: path, owner: call.sender, properties: properties)
            )
            call.reply()
        }
    }

    /// Takes every advertisement back.
    package func releaseAdvertisements() {
        for advertisement in offers.advertisements {
            let call = BusCall(advertisement.owner, advertisement.path, "org.bluez.LEAdvertisement1", "Release")
            server?.call(call) { _ in }
        }
        offers.advertisements.removeAll()
    }

    // MARK: Centrals

    /// A central makes a link.
    package func centralConnects(_ address: String) {
        let properties: Properties = [
            ("Address", .string(address)), ("AddressType", .string("random")), ("Connected", .bool(true)),
            ("ServicesResolved", .bool(false)), ("Paired", .bool(false)),
        ]
        add(devicePath(address), [Self.deviceInterface: properties])
    }

    /// A central's link goes; its subscriptions go with it.
    package func centralLeaves(_ address: String) {
        change(devicePath(address), Self.deviceInterface, [("Connected", .bool(false))])
        for path in offers.subscribers.keys.sorted() where offers.subscribers[path]?.contains(address) == true {
            forget(address, at: path)
        }
        try? remove(devicePath(address))
    }

    private func options(_ address: String, offset: UInt16, mtu: UInt16) -> [(String, BusValue)] {
        var options: [(String, BusValue)] = [
            ("device", .objectPath(devicePath(address))), ("link", .string("LE")), ("mtu", .uint16(mtu)),
        ]
        if offset > 0 { options.append(("offset", .uint16(offset))) }
        return options
    }

    /// A central reads an attribute; the outcome is added to the answers.
    package func centralReads(_ address: String, _ uuid: String, offset: UInt16 = 0, mtu: UInt16 = 185) {
        guard let attribute = offered(uuid) else { return }
        ask(attribute, "ReadValue", [.properties(options(address, offset: offset, mtu: mtu))])
    }

    /// A central writes an attribute; `kind` is `request`, `command` or `reliable`.
    package func centralWrites(
        _ address: String,
        _ uuid: String,
        _ value: [UInt8],
        kind: String = "request",
        offset: UInt16 = 0,
        preparing: Bool = false
    ) {
        guard let attribute = offered(uuid) else { return }
        var given = options(address, offset: offset, mtu: 185) + [("type", .string(kind))]
        if preparing { given.append(("prepare-authorize", .bool(true))) }
        ask(attribute, "WriteValue", [.bytes(value), .properties(given)])
    }

    private func ask(_ attribute: Offers.Attribute, _ member: String, _ arguments: [BusValue]) {
        server?.call(BusCall(owner(of: attribute), attribute.path, attribute.interface, member, arguments)) {
            [unowned self] answer in
            offers.answers.append(answer.map { $0.first?.bytes ?? [] })
        }
    }

    /// A central writes the client configuration.
    package func centralSubscribes(_ address: String, _ uuid: String, mtu: UInt16 = 185) {
        guard let attribute = offered(uuid) else { return }
        offers.subscribers[attribute.path, default: []].append(address)
        let owner = owner(of: attribute)
        let start = BusCall(owner, attribute.path, attribute.interface, "StartNotify")
        guard attribute.hasNotifyAcquired else {
            server?.call(start) { _ in }
            return
        }
        let given: BusValue = .properties(options(address, offset: 0, mtu: mtu))
        let acquire = BusCall(owner, attribute.path, attribute.interface, "AcquireNotify", [given])
        server?.call(acquire) { [unowned self] answer in
            // As the real one: these two errors are final, any other is followed by StartNotify.
            guard case .failure(let error) = answer, !["NoReply", "Failed"].contains(error.kind) else { return }
            server?.call(start) { _ in }
        }
    }

    package func centralUnsubscribes(_ address: String, _ uuid: String) {
        guard let attribute = offered(uuid) else { return }
        forget(address, at: attribute.path)
    }

    private func forget(_ address: String, at path: String) {
        offers.subscribers[path]?.removeAll { $0 == address }
        guard offers.subscribers[path]?.isEmpty == true else { return }
        offers.subscribers[path] = nil
        guard let attribute = offers.applications.flatMap(\.attributes).first(where: { $0.path == path }) else {
            return
        }
        server?.call(BusCall(owner(of: attribute), path, attribute.interface, "StopNotify")) { _ in }
    }

    /// Hears the values of registered characteristics, and passes them to those who are subscribed.
    func watchOfferedValues(_ server: Bus) throws -> BusSubscription {
        let rule = BusSignal.Rule(interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged")
        return try server.subscribe(to: rule) { [unowned self] signal in
            guard offers.subscribers[signal.path]?.isEmpty == false, signal.arguments.count == 3,
                let value = signal.arguments[1]["Value"]?.bytes,
                let attribute = offers.applications.flatMap(\.attributes).first(where: { $0.path == signal.path })
            else { return }
            offers.notified.append((attribute.uuid, value))
            guard !attribute.flags.contains("notify"), offers.confirms else { return }
            server.call(BusCall(signal.sender, signal.path, attribute.interface, "Confirm")) { _ in }
        }
    }
}

import WakeModel

/// What an app asked for with a connection: to be connected again, and alerts while it is suspended.
extension Router {
    mutating func setOptions(_ options: ConnectOptions, of client: BluetoothClient, to peripheral: NameID) {
        let row = Int(peripheral.number)
        guard let position = areas.bluetooth.peripherals[row].position(of: client) else { return }
        areas.bluetooth.peripherals[row].links[position].options = options
    }

    // MARK: Connecting again

    /// Links are gone: the radio's for everyone connected, or one client's own. Who asked for it is connected again by
    /// the system after a loss, and waits until then (BTC-11).
    mutating func loseLinks(_ event: WakeEvent) {
        if let client = event.client {
            if let link = link(of: client, to: event.peripheral) { tellLost(link, event) }
            removeLink(of: client, to: event.peripheral)
            return
        }
        let row = Int(event.peripheral.number)
        guard row < areas.bluetooth.peripherals.count else { return }
        for link in areas.bluetooth.peripherals[row].links where link.connected {
            guard reconnects(link) else {
                tellLost(link, event)
                removeLink(of: link.client, to: event.peripheral)
                continue
            }
            tellLost(subscriptions(of: link.client, on: event.peripheral), to: Self.taker(by: event), by: event.id)
            areas.bluetooth.peripherals[row].subscriptions.removeAll { $0.client == link.client }
            if let position = areas.bluetooth.peripherals[row].position(of: link.client) {
                areas.bluetooth.peripherals[row].links[position].connected = false
                areas.bluetooth.peripherals[row].links[position].since = now
            }
            act(.did(link.client.app, .connectsAgain, subject: event.peripheral, event.id))
            act(.bluetooth(.connect(link.client, peripheral: event.peripheral)))
        }
    }

    /// Says what took a link, or the wish for one; of what is not kept that was said when its process ended.
    private mutating func tellLost(_ link: Link, _ event: WakeEvent) {
        guard isKept(link.client) else { return }
        let taker = Self.taker(by: event)
        let via: Registration = link.connected ? .connection : .pendingConnect
        act(.lost(link.client.app, via, subject: event.peripheral, taker, event.id))
        tellLost(subscriptions(of: link.client, on: event.peripheral), to: taker, by: event.id)
    }

    /// What took a link that an event ended.
    private static func taker(by event: WakeEvent) -> Deed {
        let isOwnWish = event.client != nil && !event.failed
        return event.parent != .none ? .lostToReboot : isOwnWish ? .unregistered : .lostWithLink
    }

    /// What a client is subscribed to on a peripheral.
    func subscriptions(of client: BluetoothClient, on peripheral: NameID) -> [Subscription] {
        let row = Int(peripheral.number)
        guard row < areas.bluetooth.peripherals.count else { return [] }
        return areas.bluetooth.peripherals[row].subscriptions.filter { $0.client == client }
    }

    /// Says what took subscriptions that the peripheral had confirmed.
    mutating func tellLost(_ subscriptions: [Subscription], to taker: Deed, by event: EventID) {
        for one in subscriptions where one.subject != .none && isKept(one.client) {
            act(.lost(one.client.app, .subscription, subject: one.subject, taker, event))
        }
    }

    private func reconnects(_ link: Link) -> Bool {
        profile.areas.bluetooth.reconnects && link.options.contains(.reconnects) && isKept(link.client)
    }

    /// Whether the system makes the link that was lost again by itself for an app's manager.
    func reconnects(_ app: AppID, _ manager: ManagerNumber, after event: WakeEvent) -> Bool {
        guard let slot = areas.bluetooth.apps[app].slot(of: manager) else { return false }
        return link(of: BluetoothClient(app: app, slot: UInt16(slot)), to: event.peripheral).map(reconnects) ?? false
    }

    // MARK: Alerts

    /// Shows the user an alert when a suspended app asked for one (BTC-9). Of several such apps the one that the user saw
    /// last shows it.
    mutating func showAlert(of event: WakeEvent, to interest: Interest) {
        guard let wanted = Self.alert(on: event.kind), event.client == nil || !event.failed,
            asks(for: wanted, interest.app, of: event.peripheral)
        else { return }
        let row = Int(event.peripheral.number)
        let mine = apps[interest.app].leftForeground
        let isLast = !areas.bluetooth.peripherals[row].links.contains { link in
            let other = apps[link.client.app]
            return link.client.app != interest.app && other.state == .suspended
                && link.options.contains(wanted)
                && (other.leftForeground, link.client.app) > (mine, interest.app)
        }
        if isLast {
            act(.alert(interest.app, event.kind, subject: event.peripheral, event.id))
            act(.did(interest.app, .alertedOfDevice, subject: event.peripheral, event.id))
        }
    }

    private static func alert(on kind: EventKind) -> ConnectOptions? {
        switch kind {
        case .peripheralConnected: .alertsOnConnection
        case .peripheralDisconnected: .alertsOnDisconnection
        case .characteristicNotified: .alertsOnNotification
        default: nil
        }
    }

    private func asks(for alert: ConnectOptions, _ app: AppID, of peripheral: NameID) -> Bool {
        let row = Int(peripheral.number)
        guard row < areas.bluetooth.peripherals.count else { return false }
        return areas.bluetooth.peripherals[row].links.contains { $0.client.app == app && $0.options.contains(alert) }
    }
}

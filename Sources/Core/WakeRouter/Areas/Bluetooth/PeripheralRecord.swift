import WakeModel

/// All that apps hold on one peripheral.
struct PeripheralRecord: Equatable, Codable {
    /// Ascending by client.
    var links: [Link] = []
    /// Ascending by characteristic, then by client.
    var subscriptions: [Subscription] = []

    /// The position of a client's link; nil when it has none.
    func position(of client: BluetoothClient) -> Int? {
        links.firstIndex { $0.client == client }
    }

    /// The position of the first link of an app with this or a higher number.
    func firstLink(from app: UInt32) -> Int {
        links.place { $0.client.app.number >= app }
    }

    /// The position of the first subscription to a characteristic by an app with this or a higher number.
    func firstSubscription(to attribute: AttributeHandle, from app: UInt32) -> Int {
        subscriptions.place {
            $0.attribute != attribute ? $0.attribute > attribute : $0.client.app.number >= app
        }
    }

    mutating func insert(_ link: Link) {
        links.insert(link, at: links.place { $0.client > link.client })
    }

    /// Adds a subscription unless it is there.
    mutating func insert(_ subscription: Subscription) {
        let place = subscriptions.place {
            ($0.attribute, $0.client) >= (subscription.attribute, subscription.client)
        }
        if place < subscriptions.count, subscriptions[place].attribute == subscription.attribute,
            subscriptions[place].client == subscription.client
        {
            return
        }
        subscriptions.insert(subscription, at: place)
    }

    /// Removes a client's link and its subscriptions.
    mutating func remove(_ client: BluetoothClient) {
        links.removeAll { $0.client == client }
        subscriptions.removeAll { $0.client == client }
    }

    mutating func removeSubscription(of client: BluetoothClient, to attribute: AttributeHandle) {
        subscriptions.removeAll { $0.client == client && $0.attribute == attribute }
    }

    /// A peripheral has answered to a client's subscription, and its characteristic has a name.
    mutating func confirm(_ attribute: AttributeHandle, as subject: NameID, of client: BluetoothClient) {
        let place = subscriptions.firstIndex { $0.attribute == attribute && $0.client == client }
        if let place { subscriptions[place].subject = subject }
    }

    /// The characteristics that a client is subscribed to, ascending.
    func subscriptions(of client: BluetoothClient) -> [AttributeHandle] {
        subscriptions.compactMap { $0.client == client ? $0.attribute : nil }
    }
}

/// One client's connection to one peripheral, or its wish for one.
struct Link: Equatable, Codable {
    var client: BluetoothClient
    var connected: Bool
    var since: Instant
    var options: ConnectOptions = []
}

/// One client's subscription to one characteristic.
struct Subscription: Equatable, Codable {
    var attribute: AttributeHandle
    var client: BluetoothClient
    var since: Instant
    /// The characteristic as records call it, such as `belt/2A37`; ``NameID/none`` before the peripheral has answered.
    var subject = NameID.none
}

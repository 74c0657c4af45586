/// What happened to a peripheral manager.
package enum WirePeripheralManagerEvent: Equatable, Sendable {
    /// The radio's state changed, or is told for the first time.
    case state(WireRadioState)
    /// A manager made with a restore identifier gets its past back, before its first state.
    case willRestore(WirePeripheralRestoration)
    /// A service is published, or could not be.
    case serviceAdded(service: UInt32, failure: WireFailure?)
    /// The advertising began, or could not.
    case advertisingStarted(failure: WireFailure?)
    /// A central wants the values of a characteristic.
    case subscribed(WireCentral, characteristic: UInt32)
    /// A central wants them no more, or is gone.
    case unsubscribed(WireCentral, characteristic: UInt32)
    /// A central reads; it waits for the answer to the request.
    case readRequest(WireCentral, request: UInt32, characteristic: UInt32, offset: UInt16)
    /// A central writes, several values at once perhaps; it waits for the one answer to the request.
    case writeRequests(WireCentral, request: UInt32, [WireLocalWrite])
    /// The queue to a central was full and has room again.
    case readyToUpdate
    /// The PSM that centrals can open channels to, or 0 with a failure.
    case channelPublished(psm: UInt16, failure: WireFailure?)
    /// Nobody listens on the PSM any more.
    case channelUnpublished(psm: UInt16, failure: WireFailure?)
    /// A central opened a channel; a connected socket comes with the packet unless there is a failure.
    case channelOpened(WireCentral, psm: UInt16, failure: WireFailure?)
}

/// A central that speaks to the app's services.
package struct WireCentral: Equatable, Sendable {
    /// The identifier, a UUID of 36 characters in capitals.
    package var identifier: String
    /// The longest value that one notification or indication to it carries, in bytes.
    package var maximumUpdateLength: UInt16

    /// A central; without a length, the least that the specification allows.
    package init(identifier: String, maximumUpdateLength: UInt16 = 20) {
        self.identifier = identifier
        self.maximumUpdateLength = maximumUpdateLength
    }
}

/// One value of a write request.
package struct WireLocalWrite: Equatable, Sendable {
    /// The number of the characteristic.
    package var characteristic: UInt32
    /// Where in the value it begins, in bytes.
    package var offset: UInt16
    /// What is written there.
    package var value: [UInt8]

    /// One value of a write request.
    package init(characteristic: UInt32, offset: UInt16 = 0, value: [UInt8]) {
        self.characteristic = characteristic
        self.offset = offset
        self.value = value
    }
}

/// What a restored peripheral manager gets back.
package struct WirePeripheralRestoration: Equatable, Sendable {
    /// The services it had published, in the order in which they were added, with their numbers of then.
    package var services: [WireLocalService]
    /// Who was subscribed to what.
    package var subscriptions: [Subscription]
    /// What it advertised; nil when it did not.
    package var advertisement: Advertisement?

    /// A central that is subscribed to a characteristic.
    package struct Subscription: Equatable, Sendable {
        /// The number of the characteristic.
        package var characteristic: UInt32
        /// The central.
        package var central: WireCentral

        /// A central that is subscribed to a characteristic.
        package init(characteristic: UInt32, central: WireCentral) {
            self.characteristic = characteristic
            self.central = central
        }
    }

    /// What an app asked to advertise.
    package struct Advertisement: Equatable, Sendable {
        /// The name.
        package var localName: String?
        /// The services' UUIDs.
        package var services: [String]

        /// What an app asked to advertise.
        package init(localName: String?, services: [String]) {
            self.localName = localName
            self.services = services
        }
    }

    /// What a restored peripheral manager gets back.
    package init(
        services: [WireLocalService],
        subscriptions: [Subscription] = [],
        advertisement: Advertisement? = nil
    ) {
        self.services = services
        self.subscriptions = subscriptions
        self.advertisement = advertisement
    }
}

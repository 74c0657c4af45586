/// A kind of event that sources report: the number of its row in Tables/events.tsv, where all else that there is of it stands.
/// Each area declares its own.
///
/// Public, since other rooms inline equality of public types only.
public struct EventKind: RawRepresentable, Hashable, Worded, Codable, Sendable, CustomStringConvertible {
    /// The number of the row, from 0.
    public let rawValue: UInt8

    @inlinable
    package init(row: UInt8) { rawValue = row }

    /// Nil when there is no such row.
    public init?(rawValue: UInt8) {
        guard Int(rawValue) < Self.allCases.count else { return nil }
        self.init(row: rawValue)
    }

    /// Whether both are the same row.
    @inlinable
    public static func == (left: EventKind, right: EventKind) -> Bool { left.rawValue == right.rawValue }
}

/// A fact that a source reports: codes and numbers only; what the app is to read travels beside it as ``EventPayload``.
package struct WakeEvent: Hashable, Codable, Sendable {
    /// Given by the bench when the event is accepted; ``EventID/none`` before.
    package var id: EventID
    package var kind: EventKind
    /// The handle of the attribute it is about; 0 when about none.
    package var attribute: AttributeHandle
    /// The number of what it is about; 0 when about none. What that is depends on the kind, and areas read it by a name of
    /// their own: ``socket``, ``connection``, ``session``, ``service``, ``characteristic``, ``psm``, ``audioRequest``,
    /// ``lateBuffers``, ``voidHandles``. For `channelOpened` and `channelDataAvailable` it is the channel, and for `audioInterrupted` and
    /// `audioRouteChanged` the reason.
    package var local: UInt32
    /// The number of a read or write that wants an answer, minted by the source and not used twice by it; 0 for none.
    package var request: UInt32
    /// Whether the operation failed; the payload says how. Of sound: `audioInterruptionEnded` without shouldResume,
    /// `audioStopped` because the device or the app's memory was of no use, `microphoneAnswered` with no. Of `servicesModified`: the
    /// phone was not told, see ``isUntoldChange``.
    package var failed: Bool
    /// The one client it answers; nil when it is for everyone interested.
    package var client: BluetoothClient?
    /// The interned name of the peripheral, of the central in the peripheral role, or of the accessory, the same on all backends; none
    /// for the state of the adapter.
    package var peripheral: NameID
    /// What records call the subject, such as `heart-rate-belt/2A37`.
    package var subject: NameID
    /// The services in an advertisement, as interned canonical UUIDs; the interned protocols of an accessory, or the one of
    /// a session.
    package var services: [NameID]
    /// Where the phone is, in a ``EventKind/positionFixed``.
    package var fix: Fix?
    /// The beacon of a ``EventKind/beaconSighted``.
    package var beacon: BeaconSighting?
    /// The identifier of the region it is about.
    package var region: NameID
    /// The one app it is for; nil when it is for everyone interested.
    package var app: AppID?
    /// The manager that it answers; 0 when it is for every location manager of its app.
    package var manager: ManagerNumber
    /// What the app may know from now on, in a ``EventKind/authorizationChanged``.
    package var authorization: LocationAuthorization?
    /// The push, of events about one: areas read it as ``push``.
    package var boxedPush: BoxedPush?
    /// Where it comes from, such as `night.yaml:31` or `bluez`.
    package var origin: NameID
    /// The event that led to it.
    package var parent: EventID

    @inlinable
    package init(
        kind: EventKind,
        peripheral: NameID = .none,
        attribute: AttributeHandle = 0,
        local: UInt32 = 0,
        request: UInt32 = 0,
        subject: NameID = .none,
        client: BluetoothClient? = nil,
        failed: Bool = false,
        services: [NameID] = [],
        fix: Fix? = nil,
        beacon: BeaconSighting? = nil,
        region: NameID = .none,
        app: AppID? = nil,
        manager: ManagerNumber = 0,
        authorization: LocationAuthorization? = nil,
        push: BoxedPush? = nil,
        origin: NameID = .none,
        parent: EventID = .none,
        id: EventID = .none
    ) {
        self.id = id
        self.kind = kind
        self.attribute = attribute
        self.local = local
        self.request = request
        self.failed = failed
        self.client = client
        self.peripheral = peripheral
        self.subject = subject
        self.services = services
        self.fix = fix
        self.beacon = beacon
        self.region = region
        self.app = app
        self.manager = manager
        self.authorization = authorization
        self.boxedPush = push
        self.origin = origin
        self.parent = parent
    }
}

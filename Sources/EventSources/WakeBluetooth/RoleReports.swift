import WakeModel
import WakePorts

/// A radio in the central role: simulated or BlueZ's, it speaks of peripherals in the same words.
protocol CentralRoleReporter: AnyObject {
    /// What records name as the origin of what it says by itself.
    var origin: NameID { get }
}

extension CentralRoleReporter {
    /// An event of a peripheral, by whose name records call it unless it is about something of it.
    func event(
        _ kind: EventKind,
        of name: NameID = .none,
        attribute: AttributeHandle = 0,
        local: UInt32 = 0,
        subject: NameID? = nil,
        client: BluetoothClient? = nil,
        failed: Bool = false,
        services: [NameID] = [],
        origin: NameID? = nil
    ) -> WakeEvent {
        WakeEvent(
            kind: kind,
            peripheral: name,
            attribute: attribute,
            local: local,
            subject: subject ?? name,
            client: client,
            failed: failed,
            services: services,
            origin: origin ?? self.origin
        )
    }

    /// The answer to an operation on a peripheral.
    func answer(
        to operation: BluetoothOperation,
        on name: NameID,
        _ payload: EventPayload,
        local: UInt32 = 0,
        subject: NameID? = nil,
        for client: BluetoothClient
    ) -> SourceReport {
        let failed = if case .failure = payload { true } else { false }
        let answer = event(
            operation.answerKind,
            of: name,
            attribute: operation.attribute,
            local: local,
            subject: subject,
            client: client,
            failed: failed
        )
        return SourceReport(answer, payload)
    }
}

/// The same in the peripheral role, where it speaks of centrals to those who offer something.
protocol PeripheralRoleReporter: AnyObject {
    var origin: NameID { get }
}

extension PeripheralRoleReporter {
    func event(
        _ kind: EventKind,
        _ client: BluetoothClient,
        local: UInt32 = 0,
        request: UInt32 = 0,
        central: NameID = .none,
        subject: NameID = .none,
        failed: Bool = false
    ) -> WakeEvent {
        WakeEvent(
            kind: kind,
            peripheral: central,
            local: local,
            request: request,
            subject: subject,
            client: client,
            failed: failed,
            origin: origin
        )
    }
}

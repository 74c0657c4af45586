import WakeDevices
import WakeModel
import WakePorts

/// What a snapshot holds of the simulated radio.
extension SimulatedBluetooth {
    /// Whether all of its state can be kept now: sockets of open channels cannot.
    package var canBeKept: Bool { channels.isEmpty }

    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&poweredOn)
        try coder.code(each: &peripherals)
        try coder.code(each: &characteristics)
        try coder.code(&scans, blank: Scan(client: .blank, services: [], allowDuplicates: false, seen: []))
        try coder.code(&schedule)
        try coder.code(&prepared, blank: .joined(peripheral: 0, .blank))
        try coder.code(&preparedDone)
        try coder.code(&links)
        try coder.code(each: &beacons)
        try coder.code(&watched)
        try coder.code(&phone)
        try coder.code(&watches)
        try table.code(with: &coder)
    }
}

extension BluetoothClient {
    fileprivate static var blank: BluetoothClient { BluetoothClient(app: .none, slot: 0) }
}

extension BluetoothPeripheral.Security: ByteCoded {}

extension SimulatedBluetooth.Scan: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&client)
        try coder.code(&services)
        try coder.code(&allowDuplicates)
        try coder.code(&seen)
    }
}

extension SimulatedBluetooth.Prepared: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var (isReport, event, payload) = (false, WakeEvent(kind: .peripheralConnected), EventPayload.none)
        var (place, joining) = (0, BluetoothClient.blank)
        switch self {
        case .report(let report): (isReport, event, payload) = (true, report.event, report.payload)
        case .joined(let peripheral, let client): (place, joining) = (peripheral, client)
        }
        try coder.code(&isReport)
        if isReport {
            try coder.code(&event)
            try coder.code(&payload)
            self = .report(SourceReport(event, payload))
        } else {
            try coder.code(&place)
            try coder.code(&joining)
            self = .joined(peripheral: place, joining)
        }
    }
}

extension SimulatedPeripheral: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&attributes)
        try coder.code(&random)
        try coder.code(&link)
        try coder.code(&linkGeneration)
        try coder.code(&lossGeneration)
        try coder.code(&connectedAs)
        try coder.code(&inRange)
        try coder.code(&wasDiscovered)
        try coder.code(&wasConnected)
        try coder.code(&sightingPlanned)
        try coder.code(&holders, blank: Holder(client: .blank, state: .pending))
        try coder.code(&requests, blank: Request(client: nil, operation: .readSignalStrength))
        try coder.code(&security)
        try coder.code(&pairingEnds)
        try coder.code(&busyUntil)
        try coder.code(&faults)
    }
}

extension SimulatedPeripheral.Holder: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&client)
        try coder.code(&state)
    }
}

extension SimulatedPeripheral.Request: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&client)
        try coder.code(&operation)
        try coder.code(&hasPaired)
    }
}

extension SimulatedPeripheral.Faults: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&lateSubscribeAnswer)
        try coder.code(&disconnectAfter)
        try coder.code(&staleHandles)
        try coder.code(&noAnswer)
        try coder.code(&unanswered)
        try coder.code(&cutValues)
        try coder.code(&closeChannelAfter)
        try coder.code(&refusesChannels)
    }
}

extension SimulatedCharacteristic: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&value)
        try coder.code(&subscribers)
        try coder.code(&place)
        try coder.code(&left)
        try coder.code(&due)
        try coder.code(&generation)
    }
}

extension SimulatedBeacon: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&random)
        try coder.code(&inRange)
        try coder.code(&generation)
        try coder.code(&isPlanned)
        try coder.code(&silentUntil)
        try coder.code(&weakenedBy)
        try coder.code(&signal.major)
        try coder.code(&signal.minor)
        var power = Int32(signal.measuredPower)
        try coder.code(&power)
        signal.measuredPower = Int8(truncatingIfNeeded: power)
    }
}

extension SimulatedPhone: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var (isSomewhere, here) = (globe != nil, globe ?? (0, 0))
        try coder.code(&isSomewhere)
        try coder.code(&here.latitude)
        try coder.code(&here.longitude)
        globe = isSomewhere ? here : nil
        try coder.code(&plan.x)
        try coder.code(&plan.y)
    }
}

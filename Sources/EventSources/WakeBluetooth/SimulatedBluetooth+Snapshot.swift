import WakeDevices
import WakeModel
import WakePorts

/// What a snapshot holds of the simulated radio: all but channels, which end with the processes that have them.
extension SimulatedBluetooth {
    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&poweredOn)
        try coder.code(each: &peripherals)
        try coder.code(each: &characteristics)
        try coder.code(&scans)
        try coder.code(&schedule)
        try coder.code(&prepared)
        try coder.code(&preparedDone)
        try coder.code(&links)
        try coder.code(each: &beacons)
        try coder.code(&watched)
        try coder.code(&phone)
        try coder.code(&watches)
        try table.code(with: &coder)
        if let phones {
            phones.isOn = poweredOn
            try coder.code(each: &phones.phones)
        }
    }
}

extension SimulatedPeripheral: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try codeTables(with: &coder)
        try coder.code(&random)
        try coder.code(&link)
        try coder.code(&linkGeneration)
        try coder.code(&lossGeneration)
        try coder.code(&connectedAs)
        try coder.code(&inRange)
        try coder.code(&wasDiscovered)
        try coder.code(&wasConnected)
        try coder.code(&localName)
        try coder.code(&knownName)
        try coder.code(&heardAnswer)
        try coder.code(&sightingPlanned)
        try coder.code(&holders)
        try coder.code(&requests)
        try coder.code(&security)
        try coder.code(&pairingEnds)
        try coder.code(&busyUntil)
        try coder.code(&connection)
        try coder.code(&faults)
        try coder.code(&machine.memory)
        try coder.code(&answerGeneration)
        if coder.isReading, !machine.isConsistent { throw coder.fault }
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
        try coder.code(&next)
        try coder.code(&fresh)
        try coder.code(&heard)
        try coder.code(&silentUntil)
        try coder.code(&weakenedBy)
        try coder.code(&signal.major)
        try coder.code(&signal.minor)
        try coder.code(&signal.measuredPower)
        let numbers = 0...Int64.max / 2
        guard numbers.contains(next), numbers.contains(fresh), heard?.isPossible != false else { throw coder.fault }
    }
}

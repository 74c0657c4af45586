import WakeModel

/// The whole state of the router as bytes, from which a fresh one goes on with the same output. The profile in force is not in
/// them.
extension Router: SnapshotPart {
    /// Changes whenever the layout does; bytes of another version are refused.
    private static let snapshotVersion: UInt8 = 20

    /// Equal states are equal bytes.
    ///
    /// - Throws: ``EncodingFault`` when the bytes are cut, of another version, or contradict themselves.
    package mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        let fault = coder.fault
        var version = Self.snapshotVersion
        try coder.code(&version)
        guard version == Self.snapshotVersion else { throw fault }
        try coder.code(&conditions)
        try coder.code(&passcode)
        try coder.code(&unlockedSinceBoot)
        try coder.code(&unlockedAt)
        try coder.code(&now)
        try coder.code(&lastDecision)
        try coder.code(&lastExit)
        try coder.code(&foreground)
        try coder.code(&isLocked)
        try coder.code(&apps)
        try coder.code(&areas)
        guard coder.isReading else { return }
        guard isConsistent else { throw fault }
        areas.restore()
        for app in everyApp { reschedule(app) }
    }

    /// Whether every number in the state stands for something.
    private var isConsistent: Bool {
        if let foreground, Int(foreground.number) >= apps.count { return false }
        guard areas.isConsistent(apps: apps.count) else { return false }
        for app in everyApp {
            guard apps[app].state == apps[app].stage.shown else { return false }
            for interest in apps[app].waiting.map(\.interest)
                + (apps[app].held + apps[app].awaitingUnlock).map(\.interest)
            {
                guard interest.app == app, interest.slot < 64, !interest.slots.isEmpty,
                    area(of: interest.via.source).isConsistent(interest, self)
                else { return false }
            }
        }
        return true
    }
}

// What waits for apps is most of what a router keeps.

extension AppLifecycle.Waiting: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(event)
        writer.write(interest)
        writer.write(decision)
        writer.write(deferred)
        writer.write(undelivered)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        event = try reader.read()
        interest = try reader.read()
        decision = try reader.read()
        deferred = try reader.readBool()
        undelivered = try reader.readBool()
    }
}

extension Interest: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(app)
        writer.write(slot)
        writer.write(slots.bits)
        writer.write(byte: via.rawValue)
        writer.write(since)
        writer.write(wanted)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        app = try reader.read()
        slot = try reader.readUInt16()
        slots = SlotSet()
        slots.bits = try reader.readUInt64()
        let start = reader.offset
        guard let known = Registration(rawValue: try reader.readByte()) else {
            throw EncodingFault(.unknownValue, at: start)
        }
        via = known
        since = try reader.read()
        wanted = try reader.readBool()
    }
}

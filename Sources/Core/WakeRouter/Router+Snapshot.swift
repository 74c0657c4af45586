import WakeModel

/// The whole state of the router as bytes, from which another goes on with the same output.
extension Router {
    /// Changes whenever the layout does; bytes of another version are refused.
    private static let snapshotVersion: UInt8 = 7

    /// Writes all that the router knows; equal states give equal bytes.
    package func encode(into writer: inout ByteWriter) {
        writer.write(byte: Self.snapshotVersion)
        writer.write(passcode)
        writer.write(unlockedSinceBoot)
        writer.write(unlockedAt)
        writer.write(now)
        writer.write(lastDecision)
        writer.write(lastExit)
        writer.write(optional: foreground)
        writer.write(isLocked)
        writer.write(apps)
        writer.write(areas)
    }

    /// Reads a router that goes on where the written one stood.
    ///
    /// - Parameter profile: The profile that was in force, which the bytes do not hold.
    /// - Throws: ``EncodingFault`` when the bytes are cut, of another version, or contradict themselves.
    package init(from reader: inout ByteReader, profile: Profile) throws(EncodingFault) {
        let start = reader.offset
        guard try reader.readByte() == Self.snapshotVersion else { throw EncodingFault(.unknownValue, at: start) }
        self.init(profile: profile, passcode: try reader.readBool())
        unlockedSinceBoot = try reader.readBool()
        unlockedAt = try reader.read()
        now = try reader.read()
        lastDecision = try reader.readUInt64()
        lastExit = try reader.readUInt64()
        foreground = try reader.read()
        isLocked = try reader.readBool()
        apps = try reader.read()
        areas = try reader.read()
        guard isConsistent else { throw EncodingFault(.unknownValue, at: start) }
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

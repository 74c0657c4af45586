import WakeModel

/// The whole state of the router as bytes, from which another goes on with the same output.
extension Router {
    /// Changes whenever the layout does; bytes of another version are refused.
    private static let snapshotVersion: UInt8 = 6

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
        foreground = try reader.readOptional()
        isLocked = try reader.readBool()
        apps = try reader.readArray()
        areas = try reader.read()
        guard isConsistent else { throw EncodingFault(.unknownValue, at: start) }
        for index in apps.indices { reschedule(AppID(UInt32(index))) }
    }

    /// Whether every number in the state stands for something.
    private var isConsistent: Bool {
        if let foreground, Int(foreground.number) >= apps.count { return false }
        guard areas.isConsistent(apps: apps.count) else { return false }
        for (index, app) in apps.enumerated() {
            for interest in app.waiting.map(\.interest) + (app.held + app.awaitingUnlock).map(\.interest) {
                guard Int(interest.app.number) == index, !interest.slots.isEmpty,
                    area(of: interest.via.source).isConsistent(interest, self)
                else { return false }
            }
        }
        return true
    }
}

extension AppRecord: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(installed)
        writer.write(face)
        writer.write(phase)
        writer.write(optional: window)
        writer.write(tasks)
        writer.write(optional: taskBudgetEnds)
        writer.write(launchTarget)
        writer.write(optional: userLaunchAfterEnd)
        writer.write(leftForeground)
        writer.write(installedAt)
        writer.write(waiting)
        writer.write(held)
        writer.write(awaitingUnlock)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init()
        installed = try reader.readBool()
        face = try reader.read()
        phase = try reader.read()
        window = try reader.readOptional()
        tasks = try reader.readArray()
        taskBudgetEnds = try reader.readOptional()
        launchTarget = try reader.read()
        userLaunchAfterEnd = try reader.readOptional()
        leftForeground = try reader.read()
        installedAt = try reader.read()
        waiting = try reader.readArray()
        held = try reader.readArray()
        awaitingUnlock = try reader.readArray()
    }
}

extension AppRecord.Phase: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        switch self {
        case .resting: writer.write(byte: 0)
        case .launching(let deadline):
            writer.write(byte: 1)
            writer.write(deadline)
        case .running: writer.write(byte: 2)
        case .leaving(let deadline):
            writer.write(byte: 3)
            writer.write(deadline)
        case .freezing: writer.write(byte: 4)
        case .ending(let deadline, let cause, let code, let event):
            writer.write(byte: 5)
            writer.write(deadline)
            writer.write(cause)
            writer.write(code)
            writer.write(event)
        }
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .resting
        case 1: self = .launching(deadline: try reader.read())
        case 2: self = .running
        case 3: self = .leaving(deadline: try reader.read())
        case 4: self = .freezing
        case 5:
            self = .ending(
                deadline: try reader.read(),
                cause: try reader.read(),
                code: try reader.readInt64(),
                by: try reader.read()
            )
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension AppRecord.Window: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(began)
        writer.write(ends)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(began: try reader.read(), ends: try reader.read())
    }
}

extension AppRecord.BackgroundTask: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(token)
        writer.write(expired)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(token: try reader.readUInt64(), expired: try reader.readBool())
    }
}

extension AppRecord.Waiting: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(event)
        writer.write(interest)
        writer.write(decision)
        writer.write(deferred)
        writer.write(undelivered)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            event: try reader.read(),
            interest: try reader.read(),
            decision: try reader.read(),
            deferred: try reader.readBool(),
            undelivered: try reader.readBool()
        )
    }
}

extension AppRecord.Held: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(event)
        writer.write(interest)
        writer.write(supersedes)
        writer.write(restarted)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            event: try reader.read(),
            interest: try reader.read(),
            supersedes: try reader.read(),
            restarted: try reader.readBool()
        )
    }
}

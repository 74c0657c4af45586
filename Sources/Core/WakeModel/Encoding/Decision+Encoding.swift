extension Decision: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(id)
        writer.write(at)
        writer.write(event)
        writer.write(kind)
        writer.write(subject)
        writer.write(origin)
        writer.write(parent)
        writer.write(app)
        writer.write(verdict)
        writer.write(reason)
        writer.write(rule)
        writer.write(checks)
        writer.write(optional: wouldHave)
        writer.write(supersedes)
        writer.write(snapshot)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            id: try reader.read(),
            at: try reader.read(),
            event: try reader.read(),
            kind: try reader.read(),
            subject: try reader.read(),
            origin: try reader.read(),
            parent: try reader.read(),
            app: try reader.read(),
            verdict: try reader.read(),
            reason: try reader.read(),
            rule: try reader.read(),
            checks: try reader.read(),
            wouldHave: try reader.readOptional(),
            supersedes: try reader.read(),
            snapshot: try reader.read()
        )
    }
}

extension AppSnapshot: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(bundle)
        writer.write(state)
        writer.write(stateSince)
        writer.write(generation)
        writer.write(modes)
        writer.write(lastExit)
        writer.write(lastExitCause)
        writer.write(lastExitAt)
        writer.write(flags)
        writer.write(forceQuitAt)
        writer.write(forceQuitBy)
        writer.write(unlockedAt)
        writer.write(via)
        writer.write(restoreIdentifier)
        writer.write(registeredAt)
        writer.write(budgetLimit)
        writer.write(budgetUsed)
        writer.write(locationAuthorization)
        writer.write(sdk)
        if via.source == .voip {
            writer.write(voipWakes)
            writer.write(voipWakeLimitLifted)
        }
        if via == .scan { writer.write(scanServices) }
        guard via == .standardUpdates else { return }
        writer.write(filterChord)
        writer.write(movedSquare)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init()
        bundle = try reader.read()
        state = try reader.read()
        stateSince = try reader.read()
        generation = try reader.readUInt32()
        modes = try reader.read()
        lastExit = try reader.readUInt64()
        lastExitCause = try reader.read()
        lastExitAt = try reader.read()
        flags = try reader.readUInt16()
        forceQuitAt = try reader.read()
        forceQuitBy = try reader.read()
        unlockedAt = try reader.read()
        via = try reader.read()
        restoreIdentifier = try reader.read()
        registeredAt = try reader.read()
        budgetLimit = try reader.read()
        budgetUsed = try reader.read()
        locationAuthorization = try reader.read()
        sdk = try reader.read()
        if via.source == .voip {
            voipWakes = try reader.readUInt32()
            voipWakeLimitLifted = try reader.readBool()
        }
        if via == .scan { scanServices = try reader.readUInt16() }
        guard via == .standardUpdates else { return }
        filterChord = try reader.readDouble()
        movedSquare = try reader.readDouble()
    }

    /// The yes-or-no values, one bit each.
    private var flags: UInt16 {
        get {
            (forceQuit ? 1 : 0) | (unlockedSinceBoot ? 2 : 0) | (passcode ? 4 : 0) | (bluetoothOn ? 8 : 0)
                | (exitsOnSuspend ? 16 : 0) | (bluetoothAllowed ? 256 : 0) | (beganInForeground ? 512 : 0)
                | (forceQuitLifted ? 1024 : 0) | (rebootedSince ? 2048 : 0)
                | (bluetoothOffSince ? 4096 : 0) | (endedByReboot ? 8192 : 0)
                | (accessorySetUp ? 16384 : 0) | (bluetoothOffLifted ? 32768 : 0)
        }
        set {
            forceQuit = newValue & 1 != 0
            unlockedSinceBoot = newValue & 2 != 0
            passcode = newValue & 4 != 0
            bluetoothOn = newValue & 8 != 0
            exitsOnSuspend = newValue & 16 != 0
            bluetoothAllowed = newValue & 256 != 0
            beganInForeground = newValue & 512 != 0
            forceQuitLifted = newValue & 1024 != 0
            rebootedSince = newValue & 2048 != 0
            bluetoothOffSince = newValue & 4096 != 0
            endedByReboot = newValue & 8192 != 0
            accessorySetUp = newValue & 16384 != 0
            bluetoothOffLifted = newValue & 32768 != 0
        }
    }
}

extension ExitRecord: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(number)
        writer.write(app)
        writer.write(generation)
        writer.write(cause)
        writer.write(code)
        writer.write(stateBefore)
        writer.write(causedBy)
        writer.write(at)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            number: try reader.readUInt64(),
            app: try reader.read(),
            generation: try reader.readUInt32(),
            cause: try reader.read(),
            code: try reader.readInt64(),
            stateBefore: try reader.read(),
            causedBy: try reader.read(),
            at: try reader.read()
        )
    }
}

extension Profile: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(name)
        for setting in ProfileSetting.all { writer.write(setting.value(self)) }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self = .ios17
        name = try reader.readString()
        for setting in ProfileSetting.all {
            let start = reader.offset
            let value: SettingValue = try reader.read()
            guard setting.set(value, of: &self) else { throw EncodingFault(.unknownValue, at: start) }
        }
    }
}

extension SettingValue: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .flag(let flag):
            writer.write(byte: 0)
            writer.write(flag)
        case .count(let count):
            writer.write(byte: 1)
            writer.write(count)
        case .time(let time):
            writer.write(byte: 2)
            writer.write(time)
        case .code(let code):
            writer.write(byte: 3)
            writer.write(code)
        case .word(let word):
            writer.write(byte: 4)
            writer.write(word)
        case .off: writer.write(byte: 5)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .flag(try reader.readBool())
        case 1: self = .count(try reader.readUInt32())
        case 2: self = .time(try reader.read())
        case 3: self = .code(try reader.readInt64())
        case 4: self = .word(try reader.readString())
        case 5: self = .off
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

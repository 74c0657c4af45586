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
        writer.write(taskBudget)
        writer.write(taskExpirationMargin)
        writer.write(taskTerminationCode)
        writer.write(bluetoothWindow)
        writer.write(transitionBudget)
        writer.write(launchBudget)
        writer.write(restoration)
        writer.write(forceQuitBars)
        writer.write(rebootLiftsForceQuit)
        writer.write(firstUnlockGates)
        writer.write(bluetoothRelaunchesAfterReboot)
        writer.write(reconnects)
        writer.write(multitasking)
        writer.write(locationWindow)
        writer.write(accessoryWindow)
        writer.write(significantDistance)
        writer.write(significantInterval)
        writer.write(regionMargin)
        writer.write(regionDwell)
        writer.write(regionLimit)
        writer.write(regionRadiusLimit)
        writer.write(beaconExitDelay)
        writer.write(pauseDistance)
        writer.write(pauseDelay)
        writer.write(locationLiftsForceQuit)
        writer.write(locationLevels)
        writer.write(provisionalAlways)
        writer.write(locationBackgroundFlag)
        writer.write(beaconRegions)
        writer.write(visits)
        writer.write(legacyVoIP)
        writer.write(voipWindow)
        writer.write(keepAliveMinimum)
        writer.write(optional: voipWakeLimit) { $0.write($1) }
        writer.write(voipWakeWindow)
        writer.write(audioWindow)
        writer.write(optional: audioSilenceLimit)
        writer.write(audioRelaunches)
        writer.write(optional: connectionsLast)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            name: try reader.readString(),
            taskBudget: try reader.read(),
            taskExpirationMargin: try reader.read(),
            taskTerminationCode: try reader.readInt64(),
            bluetoothWindow: try reader.read(),
            transitionBudget: try reader.read(),
            launchBudget: try reader.read(),
            restoration: try reader.readBool(),
            forceQuitBars: try reader.readBool(),
            rebootLiftsForceQuit: try reader.readBool(),
            firstUnlockGates: try reader.readBool(),
            bluetoothRelaunchesAfterReboot: try reader.readBool(),
            reconnects: try reader.readBool(),
            multitasking: try reader.readBool(),
            locationWindow: try reader.read(),
            accessoryWindow: try reader.read(),
            significantDistance: try reader.readUInt32(),
            significantInterval: try reader.read(),
            regionMargin: try reader.readUInt32(),
            regionDwell: try reader.read(),
            regionLimit: try reader.readUInt32(),
            regionRadiusLimit: try reader.readUInt32(),
            beaconExitDelay: try reader.read(),
            pauseDistance: try reader.readUInt32(),
            pauseDelay: try reader.read(),
            locationLiftsForceQuit: try reader.readBool(),
            locationLevels: try reader.readBool(),
            provisionalAlways: try reader.readBool(),
            locationBackgroundFlag: try reader.readBool(),
            beaconRegions: try reader.readBool(),
            visits: try reader.readBool(),
            legacyVoIP: try reader.readBool(),
            voipWindow: try reader.read(),
            keepAliveMinimum: try reader.read(),
            voipWakeLimit: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readUInt32() },
            voipWakeWindow: try reader.read(),
            audioWindow: try reader.read(),
            audioSilenceLimit: try reader.readOptional(),
            audioRelaunches: try reader.readBool(),
            connectionsLast: try reader.readOptional()
        )
    }
}

import WakeModel

/// The whole state of the router as bytes, from which another goes on with the same output.
extension Router {
    /// Changes whenever the layout does; bytes of another version are refused.
    private static let snapshotVersion: UInt8 = 5

    /// Writes all that the router knows; equal states give equal bytes.
    package func encode(into writer: inout ByteWriter) {
        writer.write(byte: Self.snapshotVersion)
        writer.write(passcode)
        writer.write(unlockedSinceBoot)
        writer.write(unlockedAt)
        writer.write(bluetoothOn)
        writer.write(bluetoothSwitch)
        writer.write(optional: bluetoothReturns)
        writer.write(now)
        writer.write(lastDecision)
        writer.write(lastExit)
        writer.write(optional: foreground)
        writer.write(optional: lastFix)
        writer.write(inCall)
        writer.write(isLocked)
        writer.write(apps)
        writer.write(peripherals)
        writer.write(accessories)
        writer.write(lastSession)
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
        bluetoothOn = try reader.readBool()
        bluetoothSwitch = try reader.read()
        bluetoothReturns = try reader.readOptional()
        now = try reader.read()
        lastDecision = try reader.readUInt64()
        lastExit = try reader.readUInt64()
        foreground = try reader.readOptional()
        lastFix = try reader.readOptional()
        inCall = try reader.readBool()
        isLocked = try reader.readBool()
        apps = try reader.readArray()
        peripherals = try reader.readArray()
        accessories = try reader.readArray()
        lastSession = try reader.readUInt32()
        guard isConsistent else { throw EncodingFault(.unknownValue, at: start) }
        for index in apps.indices {
            let app = AppID(UInt32(index))
            apps[index].requestDeadline = firstRequestDeadline(of: index)
            reschedule(app)
            for slot in apps[index].managers.indices where apps[index].managers[slot].scan != nil {
                scanners.append(BluetoothClient(app: app, slot: UInt16(slot)))
            }
        }
        gatherLocation()
        audioApps = apps.indices.filter { apps[$0].audio.since != nil }.map { AppID(UInt32($0)) }
    }

    /// Whether every number in the state stands for something.
    private var isConsistent: Bool {
        func isKnown(_ client: BluetoothClient) -> Bool {
            Int(client.app.number) < apps.count && Int(client.slot) < apps[Int(client.app.number)].managers.count
        }
        func isConsistent(_ interest: Interest, _ index: Int) -> Bool {
            guard Int(interest.client.app.number) == index, !interest.slots.isEmpty else { return false }
            // What an app wants of other sources is looked up by number, and may be gone.
            if interest.via.source != .bluetooth { return true }
            let count = apps[index].managers.count
            let slots = count == 64 ? UInt64.max : (1 << UInt64(count)) - 1
            return isKnown(interest.client) && interest.slots.bits & ~slots == 0
        }
        if let foreground, Int(foreground.number) >= apps.count { return false }
        for record in peripherals {
            guard record.links.allSatisfy({ isKnown($0.client) }) else { return false }
            guard record.subscriptions.allSatisfy({ isKnown($0.client) }) else { return false }
        }
        for (index, app) in apps.enumerated() {
            for interest in app.waiting.map(\.interest) + (app.held + app.awaitingUnlock).map(\.interest) {
                guard isConsistent(interest, index) else { return false }
            }
            for name in app.managers.flatMap(\.peripherals) where Int(name.number) >= peripherals.count {
                return false
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
        writer.write(managers)
        writer.write(mayBeSetUp)
        writer.write(accessoriesSetUp)
        writer.write(location)
        writer.write(audio)
        writer.write(accessory)
        writer.write(voip)
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
        let start = reader.offset
        managers = try reader.readArray()
        guard managers.count <= Router.managersLimit else { throw EncodingFault(.unknownValue, at: start) }
        mayBeSetUp = try reader.readBool()
        accessoriesSetUp = try reader.readArray()
        location = try reader.read()
        audio = try reader.read()
        accessory = try reader.read()
        voip = try reader.read()
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

extension AppRecord.Manager: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(inUse)
        writer.write(attached)
        writer.write(number)
        writer.write(restoreIdentifier)
        writer.write(createdAt)
        writer.write(optional: scan)
        writer.write(peripherals)
        writer.write(optional: local)
        writer.write(optional: watch)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            inUse: try reader.readBool(),
            attached: try reader.readBool(),
            number: try reader.readUInt32(),
            restoreIdentifier: try reader.read(),
            createdAt: try reader.read(),
            scan: try reader.readOptional(),
            peripherals: try reader.readArray(),
            local: try reader.readOptional(),
            watch: try reader.readOptional()
        )
    }
}

extension AppRecord.ConnectionWatch: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(peripherals)
        writer.write(services)
        writer.write(since)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            peripherals: try reader.readArray(),
            services: try reader.readArray(),
            since: try reader.read()
        )
    }
}

extension AppRecord.Scan: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(services)
        writer.write(allowDuplicates)
        writer.write(since)
        writer.write(seen.sorted())
        writer.write(missed)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            services: try reader.readArray(),
            allowDuplicates: try reader.readBool(),
            since: try reader.read(),
            seen: Set(try reader.readArray(of: NameID.self)),
            missed: try reader.readBool()
        )
    }
}

extension PeripheralRecord: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(links)
        writer.write(subscriptions)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(links: try reader.readArray(), subscriptions: try reader.readArray())
    }
}

extension Link: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(client)
        writer.write(connected)
        writer.write(since)
        writer.write(byte: options.rawValue)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            client: try reader.read(),
            connected: try reader.readBool(),
            since: try reader.read(),
            options: ConnectOptions(rawValue: try reader.readByte())
        )
    }
}

extension Subscription: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(attribute)
        writer.write(client)
        writer.write(since)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(attribute: try reader.readUInt16(), client: try reader.read(), since: try reader.read())
    }
}

extension Interest: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(client)
        writer.write(slots)
        writer.write(via)
        writer.write(since)
        writer.write(wanted)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        let client: BluetoothClient = try reader.read()
        let slots: SlotSet = try reader.read()
        let start = reader.offset
        guard client.slot < 64 else { throw EncodingFault(.unknownValue, at: start) }
        self.init(client, via: try reader.read(), since: try reader.read(), wanted: try reader.readBool())
        self.slots = slots
    }
}

extension SlotSet: ByteCoded {
    func encode(into writer: inout ByteWriter) { writer.write(bits) }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init()
        bits = try reader.readUInt64()
    }
}

import WakeModel

/// A generator that gives the same numbers for the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    mutating func flag() -> Bool { Bool.random(using: &self) }
    mutating func any<Value: CaseIterable>(_ type: Value.Type = Value.self) -> Value {
        Value.allCases.randomElement(using: &self)!
    }

    /// Small numbers, large ones and the ends of the range, about equally often.
    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_ type: Number.Type = Number.self) -> Number {
        switch below(4) {
        case 0: return Number(below(200))
        case 1: return .max
        case 2: return 0
        default: return Number(truncatingIfNeeded: next())
        }
    }

    mutating func signed<Number: FixedWidthInteger & SignedInteger>(_ type: Number.Type = Number.self) -> Number {
        switch below(5) {
        case 0: return Number(below(200) - 100)
        case 1: return .max
        case 2: return .min
        case 3: return 0
        default: return Number(truncatingIfNeeded: next())
        }
    }

    mutating func text() -> String {
        ["", "180D", "Polar H10", "Gürtel – 心拍", String(repeating: "x", count: 300)].randomElement(using: &self)!
    }

    mutating func list<Element>(_ each: (inout SeededGenerator) -> Element) -> [Element] {
        let count = below(4)
        var elements: [Element] = []
        for _ in 0..<count { elements.append(each(&self)) }
        return elements
    }

    mutating func optional<Value>(_ each: (inout SeededGenerator) -> Value) -> Value? {
        flag() ? each(&self) : nil
    }

    mutating func data() -> [UInt8] { list { $0.number() } }
    mutating func app() -> AppID { flag() ? AppID(number()) : .none }
    mutating func name() -> NameID { NameID(number()) }
    mutating func names() -> [NameID] { list { $0.name() } }
    mutating func event() -> EventID { EventID(number()) }
    mutating func instant() -> Instant { Instant(nanoseconds: signed()) }
    mutating func span() -> Instant.Span { Instant.Span(nanoseconds: signed()) }
}

/// A random value of each kind of thing that is written as bytes.
enum RandomModel: CaseIterable {
    case input, payload, manifest, operation, profile, snapshot, exit, client

    /// Writes a value, reads it back, and gives its bytes and whether both are equal.
    func roundTrip(_ random: inout SeededGenerator) throws -> (bytes: [UInt8], same: Bool) {
        switch self {
        case .input: try check(random.input())
        case .payload: try check(random.payload())
        case .manifest: try check(random.manifest())
        case .operation: try check(random.operation())
        case .profile: try check(Profile.all.randomElement(using: &random)!)
        case .snapshot: try check(random.snapshot())
        case .exit: try check(random.exit())
        case .client: try check(BluetoothClient(app: random.app(), slot: random.number()))
        }
    }

    /// Reads bytes as this kind, and writes what was read again.
    func again(_ bytes: [UInt8]) throws(EncodingFault) -> [UInt8] {
        switch self {
        case .input: try again(bytes, as: Input.self)
        case .payload: try again(bytes, as: EventPayload.self)
        case .manifest: try again(bytes, as: AppManifest.self)
        case .operation: try again(bytes, as: BluetoothOperation.self)
        case .profile: try again(bytes, as: Profile.self)
        case .snapshot: try again(bytes, as: AppSnapshot.self)
        case .exit: try again(bytes, as: ExitRecord.self)
        case .client: try again(bytes, as: BluetoothClient.self)
        }
    }

    private func again<Value: Codable>(_ bytes: [UInt8], as type: Value.Type) throws(EncodingFault) -> [UInt8] {
        ByteWriter.bytes(of: try ByteReader.read(type, from: bytes))
    }

    private func check<Value: Codable & Equatable>(_ value: Value) throws -> (bytes: [UInt8], same: Bool) {
        let bytes = ByteWriter.bytes(of: value)
        return (bytes, try ByteReader.read(Value.self, from: bytes) == value)
    }
}

extension SeededGenerator {
    mutating func input() -> Input {
        switch below(16) {
        case 14: .clock(PhoneClock(epoch: Int64(below(1_000_000)), zone: zone()))
        case 12: .update(app(), manifest())
        case 13: .refuseUpdate(app(), key: name())
        case 11: .setUp(app(), peripheral: name())
        case 0: .timeReached
        case 1: .phone(any())
        case 2: .install(app(), manifest())
        case 3: .uninstall(app())
        case 4: .user(app(), any())
        case 5: .terminate(app(), any(), any())
        case 6: .request(app(), request())
        case 7: .process(app(), report())
        case 8: .event(wakeEvent())
        case 9: .redeliver(app(), wakeEvent(), supersedes: DecisionID(number()))
        case 10: .overflowed(wakeEvent())
        default: .benchRestarted
        }
    }

    mutating func manifest() -> AppManifest {
        AppManifest(
            bundle: name(),
            modes: BackgroundModes(rawValue: number()),
            exitsOnSuspend: flag(),
            bluetoothAuthorization: any(),
            accessoryProtocols: names(),
            sdk: SDKVersion(number(), number()),
            accessorySetup: flag(),
            serviceExtension: flag(),
            taskIdentifiers: optional { $0.names() }
        )
    }

    mutating func request() -> AppRequest {
        switch below(19) {
        case 16: .transfer(number(), transferRequest())
        case 17: .push(pushRequest())
        case 18: .backgroundTask(backgroundTaskRequest())
        case 13: .voip(voipRequest())
        case 15: .notification(notificationRequest())
        case 0: .beginTask(token: number())
        case 1: .endTask(token: number())
        case 2: .done
        case 3: .createManager(number(), restoreIdentifier: name())
        case 4: .releaseManager(number())
        case 5: .scan(number(), services: names(), allowDuplicates: flag())
        case 6: .stopScan(number())
        case 7: .connect(number(), peripheral: name(), options: ConnectOptions(rawValue: number()))
        case 8: .cancelConnection(number(), peripheral: name())
        case 11: .watchConnections(number(), peripherals: names(), services: names())
        case 9: .peripheralManager(number(), peripheralManagerRequest())
        case 10: .location(number(), locationRequest())
        case 14: .audio(audioRequest())
        case 12: .accessory(number(), accessoryRequest())
        default: .operate(number(), peripheral: name(), operation())
        }
    }

    mutating func notificationRequest() -> NotificationRequest {
        switch below(7) {
        case 0:
            .schedule(
                ScheduledNotification(identifier: name(), content: notificationContent(), trigger: trigger()),
                clock: PhoneClock(epoch: signed(), zone: zone())
            )
        case 1: .cancel(names())
        case 2: .cancelAll
        case 3: .withdraw(names())
        case 4: .withdrawAll
        case 5: .present(number(), shows: flag())
        default: .setBadge(number())
        }
    }

    mutating func zone() -> PhoneZone {
        var zone = PhoneZone(offset: Int32(below(50_000)) - 25_000)
        guard flag() else { return zone }
        zone.name = "Europe/Berlin"
        for year in 0..<Int64(below(4)) {
            zone.changes.append(.init(at: year * 31_536_000 - Int64(below(1_000)), offset: Int32(below(8)) * 3_600))
        }
        return zone
    }

    mutating func backgroundTaskRequest() -> BackgroundTaskRequest {
        let clock = PhoneClock(epoch: signed(), zone: zone())
        return switch below(8) {
        case 0: .register(name(), answer: optional { $0.number() })
        case 1:
            .submit(
                BackgroundTaskSubmission(
                    identifier: name(),
                    isProcessing: flag(),
                    begins: optional { $0.instant() },
                    needsPower: flag(),
                    needsNetwork: flag(),
                    isOfExtension: flag()
                ),
                clock: clock,
                answer: optional { $0.number() }
            )
        case 2: .cancel(name())
        case 3: .cancelAll
        case 4: .complete(number(), success: flag())
        case 5: .setFetchInterval(optional { $0.span() }, clock: clock)
        case 6: .list(answer: number())
        default: .fetched(number(), any(), downloaded: optional { $0.flag() })
        }
    }

    mutating func notificationContent() -> NotificationContent {
        var content = NotificationContent()
        content.title = flag() ? "" : "A title"
        content.badge = flag() ? nil : number()
        content.category = flag() ? "" : "drink"
        content.sound =
            flag() ? .standard : .file("chime.caf", flag() ? nil : SoundFile(format: any(), length: span()))
        return content
    }

    private mutating func trigger() -> NotificationTrigger {
        switch below(4) {
        case 0: return .now
        case 1: return .interval(span(), repeats: flag())
        case 2: return .date(seconds: signed(), isWall: flag(), repeats: any())
        default:
            var match = DateMatch()
            match.hour = flag() ? nil : number()
            match.year = flag() ? nil : signed()
            match.weekdayOrdinal = flag() ? nil : number()
            match.dayOfYear = flag() ? nil : number()
            return .matching(match, repeats: flag())
        }
    }

    mutating func voipRequest() -> VoIPRequest {
        switch below(4) {
        case 0: .watch(number(), peer: name())
        case 1: .unwatch(number())
        case 2: .setKeepAlive(period: span())
        default: .clearKeepAlive
        }
    }

    mutating func report() -> ProcessReport {
        switch below(7) {
        case 0: .launched
        case 1: .returned(any())
        case 2: .suspended
        case 3: .suspensionRefused
        case 4: .exited(signed())
        case 5: .took(EventID(number()))
        default: .launchFailed(signed())
        }
    }

    mutating func wakeEvent() -> WakeEvent {
        WakeEvent(
            kind: any(),
            peripheral: name(),
            attribute: number(),
            local: number(),
            request: number(),
            subject: name(),
            client: optional { BluetoothClient(app: $0.app(), slot: $0.number()) },
            failed: flag(),
            services: names(),
            fix: optional { $0.fix() },
            beacon: optional { $0.sighting() },
            region: name(),
            app: optional { $0.app() },
            manager: number(),
            authorization: optional { $0.any() },
            push: optional { .push($0.push()) },
            origin: name(),
            parent: event(),
            id: event()
        )
    }

    mutating func operation() -> BluetoothOperation {
        switch below(11) {
        case 0: .discoverServices(names())
        case 1: .discoverIncludedServices(of: number(), names())
        case 2: .discoverCharacteristics(of: number(), names())
        case 3: .discoverDescriptors(of: number())
        case 4: .read(number())
        case 5: .write(number(), data(), withResponse: flag())
        case 6: .setNotify(number(), flag())
        case 7: .readDescriptor(number())
        case 8: .writeDescriptor(number(), data())
        case 9: .openChannel(psm: number())
        default: .readSignalStrength
        }
    }

    mutating func payload() -> EventPayload {
        switch below(29) {
        case 26: .notification(notificationContent())
        case 27: .transfer(transferReport())
        case 28: .push(data())
        case 0: .none
        case 1: .value(data())
        case 2: .advertisement(advertisement())
        case 3: .services(list { GATTService(uuid: $0.text(), handle: $0.number(), primary: $0.flag()) })
        case 4:
            .characteristics(
                list {
                    GATTCharacteristic(
                        uuid: $0.text(),
                        handle: $0.number(),
                        properties: $0.number(),
                        service: $0.number()
                    )
                }
            )
        case 5:
            .descriptors(
                list { GATTDescriptor(uuid: $0.text(), handle: $0.number(), characteristic: $0.number()) }
            )
        case 6: .signalStrength(signed())
        case 7: .name(text())
        case 8: .notifying(flag())
        case 9: .handles(list { $0.number() })
        case 10: .readRequest(offset: number())
        case 11:
            .writeRequests(
                list { LocalWrite(characteristic: $0.number(), offset: $0.number(), value: $0.data()) }
            )
        case 12: .central(maximumUpdateLength: number())
        case 13: .psm(number())
        case 14: .position(position())
        case 15: .positions(list { $0.position() })
        case 16: .beacons(list { $0.sighting() })
        case 17: .regionState(any())
        case 18: .locationFailure(code: signed(), message: text())
        case 19: .visit(visit())
        case 22: .audioRoute(audioRoute(), previous: audioRoute())
        case 20: .accessory(accessory())
        case 21: .accessoryFailure(AccessoryFailure(code: signed(), message: text()))
        default: .failure(BluetoothFailure(domain: flag() ? .core : .att, code: signed(), message: text()))
        }
    }

    mutating func accessoryRequest() -> AccessoryRequest {
        switch below(4) {
        case 0: .register
        case 1: .unregister
        case 2: .open(number(), accessory: number(), protocolName: name())
        default: .close(number())
        }
    }

    mutating func accessory() -> Accessory {
        Accessory(
            connection: number(),
            name: text(),
            manufacturer: text(),
            model: text(),
            serialNumber: text(),
            firmwareRevision: text(),
            hardwareRevision: text(),
            protocols: list { $0.text() }
        )
    }

    mutating func advertisement() -> Advertisement {
        Advertisement(
            localName: optional { $0.text() },
            services: list { $0.text() },
            manufacturerData: optional { $0.data() },
            serviceData: list { Advertisement.ServiceData(service: $0.text(), data: $0.data()) },
            txPower: optional { $0.signed() },
            connectable: flag(),
            signalStrength: signed()
        )
    }

    mutating func exit() -> ExitRecord {
        ExitRecord(
            number: number(),
            app: app(),
            generation: number(),
            cause: any(),
            code: signed(),
            stateBefore: any(),
            causedBy: event(),
            at: instant()
        )
    }

    mutating func snapshot() -> AppSnapshot {
        var snapshot = AppSnapshot()
        snapshot.bundle = name()
        snapshot.state = any()
        snapshot.stateSince = instant()
        snapshot.generation = number()
        snapshot.modes = BackgroundModes(rawValue: number())
        snapshot.lastExit = number()
        snapshot.lastExitCause = any()
        snapshot.lastExitAt = instant()
        snapshot.forceQuit = flag()
        snapshot.forceQuitAt = instant()
        snapshot.forceQuitBy = event()
        snapshot.forceQuitLifted = flag()
        snapshot.rebootedSince = flag()
        snapshot.bluetoothOffSince = flag()
        snapshot.bluetoothOffLifted = flag()
        snapshot.endedByReboot = flag()
        snapshot.accessorySetUp = flag()
        snapshot.unlockedSinceBoot = flag()
        snapshot.unlockedAt = instant()
        snapshot.passcode = flag()
        snapshot.bluetoothOn = flag()
        snapshot.exitsOnSuspend = flag()
        snapshot.bluetoothAllowed = flag()
        snapshot.via = any()
        snapshot.restoreIdentifier = name()
        snapshot.registeredAt = instant()
        snapshot.budgetLimit = span()
        snapshot.budgetUsed = span()
        snapshot.locationAuthorization = any()
        snapshot.keptInUse = flag()
        snapshot.beganInForeground = flag()
        snapshot.voipWakes = number()
        snapshot.voipWakeLimitLifted = flag()
        snapshot.scanServices = number()
        snapshot.sdk = SDKVersion(number(), number())
        snapshot.transfersLeft = number()
        snapshot.sendsLaunchEvents = flag()
        snapshot.filterChord = Double(instant().nanoseconds)
        snapshot.movedSquare = Double(instant().nanoseconds)
        snapshot.task.opens = instant()
        snapshot.task.expectedUse = instant()
        snapshot.task.lever = any()
        return snapshot
    }
}

extension SeededGenerator {
    mutating func transferRequest() -> TransferRequest {
        switch below(9) {
        case 0: .join(name(), transferConfiguration())
        case 1: .invalidate(cancels: flag())
        case 2: .create(number(), transferOrder())
        case 3: .resume(number(), transferWishes())
        case 4: .suspend(number())
        case 5: .cancel(number())
        case 6: .answer(number(), flag() ? .cancel : .credential(user: text(), password: text()))
        case 7: .cancelKeepingBytes(number())
        default: .handledEvents(name())
        }
    }

    private mutating func transferConfiguration() -> TransferConfiguration {
        var configuration = TransferConfiguration()
        configuration.kind = any()
        configuration.sendsLaunchEvents = flag()
        configuration.isDiscretionary = flag()
        configuration.requestTimeout = optional { $0.span() }
        configuration.resourceTimeout = optional { $0.span() }
        configuration.allowsCellular = flag()
        return configuration
    }

    private mutating func transferOrder() -> TransferOrder {
        TransferOrder(
            any(),
            url: text(),
            method: text(),
            fields: list { $0.httpField() },
            file: text(),
            resumes: optional { $0.number() }
        )
    }

    private mutating func httpField() -> HTTPField { HTTPField(text(), text()) }

    private mutating func transferWishes() -> TransferWishes {
        var wishes = TransferWishes()
        wishes.earliestBegin = optional { $0.instant() }
        wishes.bytesToSend = optional { $0.number() }
        wishes.bytesToReceive = optional { $0.number() }
        return wishes
    }

    mutating func transferReport() -> TransferReport {
        switch below(4) {
        case 0: .progress(sent: number(), received: number(), expected: optional { $0.number() })
        case 1:
            .finished(
                TransferResponse(
                    status: number(),
                    fields: list { $0.httpField() },
                    sent: number(),
                    received: number(),
                    file: text(),
                    url: optional { $0.text() }
                )
            )
        case 2:
            .failed(
                TransferFailure(
                    code: signed(),
                    message: text(),
                    reason: optional { $0.any() },
                    resumes: optional { $0.number() }
                )
            )
        default: .challenge(AuthenticationChallenge(host: text(), realm: text(), scheme: text(), failures: number()))
        }
    }
}

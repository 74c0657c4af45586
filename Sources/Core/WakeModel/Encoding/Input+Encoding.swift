extension Input: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .timeReached:
            writer.write(byte: 0)
        case .phone(let change):
            writer.write(byte: 1)
            writer.write(change)
        case .install(let app, let manifest):
            writer.write(byte: 2)
            writer.write(app)
            writer.write(manifest)
        case .uninstall(let app):
            writer.write(byte: 3)
            writer.write(app)
        case .user(let app, let action):
            writer.write(byte: 4)
            writer.write(app)
            writer.write(action)
        case .terminate(let app, let cause, let pressure):
            writer.write(byte: 5)
            writer.write(app)
            writer.write(cause)
            writer.write(pressure)
        case .request(let app, let request):
            writer.write(byte: 6)
            writer.write(app)
            writer.write(request)
        case .process(let app, let report):
            writer.write(byte: 7)
            writer.write(app)
            writer.write(report)
        case .event(let event):
            writer.write(byte: 8)
            writer.write(event)
        case .benchRestarted:
            writer.write(byte: 9)
        case .redeliver(let app, let event, let supersedes):
            writer.write(byte: 10)
            writer.write(app)
            writer.write(event)
            writer.write(supersedes)
        case .overflowed(let event):
            writer.write(byte: 11)
            writer.write(event)
        case .setUp(let app, let peripheral):
            writer.write(byte: 12)
            writer.write(app)
            writer.write(peripheral)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .timeReached
        case 1: self = .phone(try reader.read())
        case 2: self = .install(try reader.read(), try reader.read())
        case 3: self = .uninstall(try reader.read())
        case 4: self = .user(try reader.read(), try reader.read())
        case 5: self = .terminate(try reader.read(), try reader.read(), try reader.read())
        case 6: self = .request(try reader.read(), try reader.read())
        case 7: self = .process(try reader.read(), try reader.read())
        case 8: self = .event(try reader.read())
        case 9: self = .benchRestarted
        case 10: self = .redeliver(try reader.read(), try reader.read(), supersedes: try reader.read())
        case 11: self = .overflowed(try reader.read())
        case 12: self = .setUp(try reader.read(), peripheral: try reader.read())
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension AppRequest: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .beginTask(let token):
            writer.write(byte: 0)
            writer.write(token)
        case .endTask(let token):
            writer.write(byte: 1)
            writer.write(token)
        case .done:
            writer.write(byte: 2)
        case .createManager(let manager, let restoreIdentifier):
            writer.write(byte: 3)
            writer.write(manager)
            writer.write(restoreIdentifier)
        case .releaseManager(let manager):
            writer.write(byte: 4)
            writer.write(manager)
        case .scan(let manager, let services, let allowDuplicates):
            writer.write(byte: 5)
            writer.write(manager)
            writer.write(services)
            writer.write(allowDuplicates)
        case .stopScan(let manager):
            writer.write(byte: 6)
            writer.write(manager)
        case .connect(let manager, let peripheral, let options):
            writer.write(byte: 7)
            writer.write(manager)
            writer.write(peripheral)
            writer.write(byte: options.rawValue)
        case .cancelConnection(let manager, let peripheral):
            writer.write(byte: 8)
            writer.write(manager)
            writer.write(peripheral)
        case .operate(let manager, let peripheral, let operation):
            writer.write(byte: 9)
            writer.write(manager)
            writer.write(peripheral)
            writer.write(operation)
        case .watchConnections(let manager, let peripherals, let services):
            writer.write(byte: 12)
            writer.write(manager)
            writer.write(peripherals)
            writer.write(services)
        case .peripheralManager(let manager, let request):
            writer.write(byte: 10)
            writer.write(manager)
            writer.write(request)
        case .location(let manager, let request):
            writer.write(byte: 11)
            writer.write(manager)
            writer.write(request)
        case .audio(let request):
            writer.write(byte: 14)
            writer.write(request)
        case .accessory(let manager, let request):
            writer.write(byte: 30)
            writer.write(manager)
            writer.write(request)
        case .voip(let request):
            writer.write(byte: 13)
            writer.write(request)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .beginTask(token: try reader.readUInt64())
        case 1: self = .endTask(token: try reader.readUInt64())
        case 2: self = .done
        case 3: self = .createManager(try reader.readUInt32(), restoreIdentifier: try reader.read())
        case 4: self = .releaseManager(try reader.readUInt32())
        case 5:
            self = .scan(
                try reader.readUInt32(),
                services: try reader.readArray(),
                allowDuplicates: try reader.readBool()
            )
        case 6: self = .stopScan(try reader.readUInt32())
        case 7:
            self = .connect(
                try reader.readUInt32(),
                peripheral: try reader.read(),
                options: ConnectOptions(rawValue: try reader.readByte())
            )
        case 8: self = .cancelConnection(try reader.readUInt32(), peripheral: try reader.read())
        case 9: self = .operate(try reader.readUInt32(), peripheral: try reader.read(), try reader.read())
        case 10: self = .peripheralManager(try reader.readUInt32(), try reader.read())
        case 12:
            self = .watchConnections(
                try reader.readUInt32(),
                peripherals: try reader.readArray(),
                services: try reader.readArray()
            )
        case 11: self = .location(try reader.readUInt32(), try reader.read())
        case 14: self = .audio(try reader.read())
        case 30: self = .accessory(try reader.readUInt32(), try reader.read())
        case 13: self = .voip(try reader.read())
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension ProcessReport: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .launched:
            writer.write(byte: 0)
        case .returned(let callback):
            writer.write(byte: 1)
            writer.write(callback)
        case .suspended:
            writer.write(byte: 2)
        case .suspensionRefused:
            writer.write(byte: 3)
        case .exited(let code):
            writer.write(byte: 4)
            writer.write(code)
        case .launchFailed(let errno):
            writer.write(byte: 5)
            writer.write(errno)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .launched
        case 1: self = .returned(try reader.read())
        case 2: self = .suspended
        case 3: self = .suspensionRefused
        case 4: self = .exited(try reader.readInt64())
        case 5: self = .launchFailed(try reader.readInt32())
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension WakeEvent: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(id)
        writer.write(kind)
        writer.write(attribute)
        writer.write(local)
        writer.write(request)
        writer.write(failed)
        writer.write(optional: client)
        writer.write(peripheral)
        writer.write(subject)
        writer.write(services)
        writer.write(origin)
        writer.write(parent)
        encodeLocation(into: &writer)
    }

    /// What only events of location have: one byte says which, and most have none.
    private func encodeLocation(into writer: inout ByteWriter) {
        let present: [Bool] = [
            fix != nil, beacon != nil, region != .none, app != nil, manager != 0, authorization != nil,
        ]
        writer.write(byte: present.enumerated().reduce(0) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) })
        if let fix { writer.write(fix) }
        if let beacon { writer.write(beacon) }
        if region != .none { writer.write(region) }
        if let app { writer.write(app) }
        if manager != 0 { writer.write(manager) }
        if let authorization { writer.write(authorization) }
    }

    private mutating func decodeLocation(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        let present = try reader.readByte()
        guard present < 64 else { throw EncodingFault(.unknownValue, at: start) }
        if present & 1 != 0 { fix = try reader.read() as Fix }
        if present & 2 != 0 { beacon = try reader.read() as BeaconSighting }
        if present & 4 != 0 { region = try reader.read() }
        if present & 8 != 0 { app = try reader.read() as AppID }
        if present & 16 != 0 { manager = try reader.readUInt32() }
        if present & 32 != 0 { authorization = try reader.read() as LocationAuthorization }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let id: EventID = try reader.read()
        let kind: EventKind = try reader.read()
        let attribute = try reader.readUInt16()
        let local = try reader.readUInt32()
        let request = try reader.readUInt32()
        let failed = try reader.readBool()
        let client: BluetoothClient? = try reader.readOptional()
        self.init(
            kind: kind,
            peripheral: try reader.read(),
            attribute: attribute,
            local: local,
            request: request,
            subject: try reader.read(),
            client: client,
            failed: failed,
            services: try reader.readArray(),
            origin: try reader.read(),
            parent: try reader.read(),
            id: id
        )
        try decodeLocation(from: &reader)
    }
}

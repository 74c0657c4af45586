import WakeModel

extension LastFix: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(direction)
        writer.write(event)
        writer.write(subject)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(direction: try reader.read(), event: try reader.read(), subject: try reader.read())
    }
}

extension LocationRecord: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(managers)
        writer.write(array: regions) { $0.write(optional: $1) }
        writer.write(ranged)
        writer.write(rangingDue)
        writer.write(optional: significant)
        writer.write(optional: visits)
        writer.write(keepsWhenInUse)
        writer.write(optional: receiverSince)
        writer.write(receiverTime)
        writer.write(needsFixes)
        writer.write(due)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init()
        let start = reader.offset
        managers = try reader.readArray()
        regions = try reader.readArray { (reader) throws(EncodingFault) in try reader.readOptional() }
        ranged = try reader.readArray()
        rangingDue = try reader.read()
        significant = try reader.readOptional()
        visits = try reader.readOptional()
        keepsWhenInUse = try reader.readBool()
        receiverSince = try reader.readOptional()
        receiverTime = try reader.read()
        needsFixes = try reader.readBool()
        due = try reader.read()
        guard managers.count <= Router.locationManagersLimit, regions.count <= Int(UInt16.max) else {
            throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension LocationRecord.Ranged: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(region)
        writer.write(since)
        writer.write(heard)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(region: try reader.read(), since: try reader.read(), heard: try reader.readArray())
    }
}

extension LocationRecord.Ranged.Heard: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(beacon)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(beacon: try reader.read(), at: try reader.read())
    }
}

extension LocationRecord.Manager: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(inUse)
        writer.write(attached)
        writer.write(number)
        writer.write(createdAt)
        writer.write(optional: updates)
        writer.write(optional: wantsFix)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            inUse: try reader.readBool(),
            attached: try reader.readBool(),
            number: try reader.readUInt32(),
            createdAt: try reader.read(),
            updates: try reader.readOptional(),
            wantsFix: try reader.readOptional()
        )
    }
}

extension LocationRecord.Updates: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(filterChord)
        writer.write(allowsBackground)
        writer.write(pausesAutomatically)
        writer.write(beganInForeground)
        writer.write(since)
        writer.write(optional: last)
        writer.write(optional: anchor)
        writer.write(stillSince)
        writer.write(paused)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            filterChord: try reader.readDouble(),
            allowsBackground: try reader.readBool(),
            pausesAutomatically: try reader.readBool(),
            beganInForeground: try reader.readBool(),
            since: try reader.read(),
            last: try reader.readOptional(),
            anchor: try reader.readOptional(),
            stillSince: try reader.read(),
            paused: try reader.readBool()
        )
    }
}

extension LocationRecord.Significant: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(since)
        writer.write(optional: reference)
        writer.write(optional: last)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(since: try reader.read(), reference: try reader.readOptional(), last: try reader.readOptional())
    }
}

extension LocationRecord.Region: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        switch shape {
        case .circular(let region):
            writer.write(byte: 0)
            writer.write(region)
        case .beacons(let region):
            writer.write(byte: 1)
            writer.write(region)
        }
        writer.write(since)
        writer.write(state)
        writer.write(optional: pending)
        writer.write(optional: lastSeen)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        let shape: Shape
        switch try reader.readByte() {
        case 0: shape = .circular(try reader.read())
        case 1: shape = .beacons(try reader.read())
        default: throw EncodingFault(.unknownValue, at: start)
        }
        self.init(
            shape: shape,
            since: try reader.read(),
            state: try reader.read(),
            pending: try reader.readOptional(),
            lastSeen: try reader.readOptional()
        )
    }
}

extension LocationRecord.Crossing: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(to)
        writer.write(due)
        writer.write(event)
        writer.write(origin)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            to: try reader.read(),
            due: try reader.read(),
            event: try reader.read(),
            origin: try reader.read()
        )
    }
}

extension LocationArea: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(apps)
        writer.write(optional: lastFix)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(apps: try reader.readArray(), lastFix: try reader.readOptional())
        gather()
    }

    /// Makes again what follows from the records of the apps: the lists and the index.
    private mutating func gather() {
        if let lastFix { regionIndex.move(to: lastFix.direction) }
        for (index, record) in apps.enumerated() {
            let app = AppID(UInt32(index))
            for (place, manager) in record.managers.enumerated()
            where manager.updates != nil || manager.wantsFix != nil {
                updaters.append(AppSlot(app: app, slot: UInt16(place + 1)))
            }
            if record.significant != nil { significantApps.append(app) }
            if !record.ranged.isEmpty { rangingApps.append(app) }
            if record.needsFixes { appsNeedingFixes += 1 }
            for ranged in record.ranged { watchedBeacons[ranged.region.beacons, default: 0] += 1 }
            for (slot, region) in record.regions.enumerated() {
                guard let region else { continue }
                gather(region, RegionKey(app: app, slot: UInt16(slot)))
            }
        }
    }

    private mutating func gather(_ region: LocationRecord.Region, _ key: RegionKey) {
        switch region.shape {
        case .circular(let circle):
            regionIndex.insert(
                key,
                center: circle.center,
                innerChord: circle.inwardChord,
                outerChord: circle.outwardChord
            )
        case .beacons(let beacons):
            watchedBeacons[beacons.beacons, default: 0] += 1
            beaconRegions[beacons.beacons.uuid, default: []].append(key)
        }
    }
}

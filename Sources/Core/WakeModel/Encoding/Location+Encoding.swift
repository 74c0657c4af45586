extension LocationAuthorization: ByteCoded {}
extension RegionState: ByteCoded {}

extension Direction: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(x)
        writer.write(y)
        writer.write(z)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(x: try reader.readDouble(), y: try reader.readDouble(), z: try reader.readDouble())
    }
}

extension CircularRegion: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(identifier)
        writer.write(center)
        writer.write(radiusChord)
        writer.write(outwardChord)
        writer.write(inwardChord)
        writer.write(notifyOnEntry)
        writer.write(notifyOnExit)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            identifier: try reader.read(),
            center: try reader.read(),
            radiusChord: try reader.readDouble(),
            outwardChord: try reader.readDouble(),
            inwardChord: try reader.readDouble(),
            notifyOnEntry: try reader.readBool(),
            notifyOnExit: try reader.readBool()
        )
    }
}

extension BeaconIdentity: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(uuid)
        writer.write(optional: major) { $0.write($1) }
        writer.write(optional: minor) { $0.write($1) }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            uuid: try reader.read(),
            major: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readUInt16() },
            minor: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readUInt16() }
        )
    }
}

extension BeaconRegion: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(identifier)
        writer.write(beacons)
        writer.write(notifyOnEntry)
        writer.write(notifyOnExit)
        writer.write(notifyEntryStateOnDisplay)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            identifier: try reader.read(),
            beacons: try reader.read(),
            notifyOnEntry: try reader.readBool(),
            notifyOnExit: try reader.readBool(),
            notifyEntryStateOnDisplay: try reader.readBool()
        )
    }
}

extension LocationRequest: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .create: writer.write(byte: 0)
        case .release: writer.write(byte: 1)
        case .startUpdating(let filter, let allowsBackground, let pauses):
            writer.write(byte: 2)
            writer.write(filter)
            writer.write(allowsBackground)
            writer.write(pauses)
        case .stopUpdating: writer.write(byte: 3)
        case .startSignificant: writer.write(byte: 4)
        case .stopSignificant: writer.write(byte: 5)
        case .startVisits: writer.write(byte: 6)
        case .stopVisits: writer.write(byte: 7)
        case .monitor(let region):
            writer.write(byte: 8)
            writer.write(region)
        case .monitorBeacons(let region):
            writer.write(byte: 9)
            writer.write(region)
        case .stopMonitoring(let identifier):
            writer.write(byte: 10)
            writer.write(identifier)
        case .requestState(let identifier):
            writer.write(byte: 11)
            writer.write(identifier)
        case .requestLocation: writer.write(byte: 12)
        case .requestAuthorization(let always):
            writer.write(byte: 13)
            writer.write(always)
        case .range(let region):
            writer.write(byte: 14)
            writer.write(region)
        case .stopRanging(let identifier):
            writer.write(byte: 15)
            writer.write(identifier)
        case .allowBackground: writer.write(byte: 16)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .create
        case 1: self = .release
        case 2:
            self = .startUpdating(
                distanceFilterChord: try reader.readDouble(),
                allowsBackground: try reader.readBool(),
                pausesAutomatically: try reader.readBool()
            )
        case 3: self = .stopUpdating
        case 4: self = .startSignificant
        case 5: self = .stopSignificant
        case 6: self = .startVisits
        case 7: self = .stopVisits
        case 8: self = .monitor(try reader.read())
        case 9: self = .monitorBeacons(try reader.read())
        case 10: self = .stopMonitoring(identifier: try reader.read())
        case 11: self = .requestState(identifier: try reader.read())
        case 12: self = .requestLocation
        case 13: self = .requestAuthorization(always: try reader.readBool())
        case 14: self = .range(try reader.read())
        case 15: self = .stopRanging(identifier: try reader.read())
        case 16: self = .allowBackground
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension Fix: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(direction)
        writer.write(accuracyChord)
        writer.write(speed)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            direction: try reader.read(),
            accuracyChord: try reader.readDouble(),
            speed: try reader.readFloat()
        )
    }
}

extension BeaconSighting: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(uuid)
        writer.write(major)
        writer.write(minor)
        writer.write(distance)
        writer.write(signalStrength)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            uuid: try reader.read(),
            major: try reader.readUInt16(),
            minor: try reader.readUInt16(),
            distance: try reader.readFloat(),
            signalStrength: try reader.readInt16()
        )
    }
}

extension Position: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        for number in [latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed, timestamp] {
            writer.write(number)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            latitude: try reader.readDouble(),
            longitude: try reader.readDouble(),
            altitude: try reader.readDouble(),
            horizontalAccuracy: try reader.readDouble(),
            verticalAccuracy: try reader.readDouble(),
            course: try reader.readDouble(),
            speed: try reader.readDouble(),
            timestamp: try reader.readDouble()
        )
    }
}

extension Visit: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(latitude)
        writer.write(longitude)
        writer.write(horizontalAccuracy)
        writer.write(optional: arrival) { $0.write($1) }
        writer.write(optional: departure) { $0.write($1) }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            latitude: try reader.readDouble(),
            longitude: try reader.readDouble(),
            horizontalAccuracy: try reader.readDouble(),
            arrival: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readDouble() },
            departure: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readDouble() }
        )
    }
}

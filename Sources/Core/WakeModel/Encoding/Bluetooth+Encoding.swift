extension BluetoothClient: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(app)
        writer.write(slot)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(app: try reader.read(), slot: try reader.readUInt16())
    }
}

extension BluetoothOperation: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .discoverServices(let services):
            writer.write(byte: 0)
            writer.write(services)
        case .discoverIncludedServices(let service, let services):
            writer.write(byte: 1)
            writer.write(service)
            writer.write(services)
        case .discoverCharacteristics(let service, let characteristics):
            writer.write(byte: 2)
            writer.write(service)
            writer.write(characteristics)
        case .discoverDescriptors(let characteristic):
            writer.write(byte: 3)
            writer.write(characteristic)
        case .read(let characteristic):
            writer.write(byte: 4)
            writer.write(characteristic)
        case .write(let characteristic, let value, let withResponse):
            writer.write(byte: 5)
            writer.write(characteristic)
            writer.write(value)
            writer.write(withResponse)
        case .setNotify(let characteristic, let enabled):
            writer.write(byte: 6)
            writer.write(characteristic)
            writer.write(enabled)
        case .readDescriptor(let descriptor):
            writer.write(byte: 7)
            writer.write(descriptor)
        case .writeDescriptor(let descriptor, let value):
            writer.write(byte: 8)
            writer.write(descriptor)
            writer.write(value)
        case .readSignalStrength:
            writer.write(byte: 9)
        case .openChannel(let psm):
            writer.write(byte: 10)
            writer.write(psm)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .discoverServices(try reader.readArray())
        case 1: self = .discoverIncludedServices(of: try reader.readUInt16(), try reader.readArray())
        case 2: self = .discoverCharacteristics(of: try reader.readUInt16(), try reader.readArray())
        case 3: self = .discoverDescriptors(of: try reader.readUInt16())
        case 4: self = .read(try reader.readUInt16())
        case 5:
            self = .write(
                try reader.readUInt16(),
                try reader.readBytes(),
                withResponse: try reader.readBool()
            )
        case 6: self = .setNotify(try reader.readUInt16(), try reader.readBool())
        case 7: self = .readDescriptor(try reader.readUInt16())
        case 8: self = .writeDescriptor(try reader.readUInt16(), try reader.readBytes())
        case 9: self = .readSignalStrength
        case 10: self = .openChannel(psm: try reader.readUInt16())
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension EventPayload: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .none:
            writer.write(byte: 0)
        case .value(let value):
            writer.write(byte: 1)
            writer.write(value)
        case .advertisement(let advertisement):
            writer.write(byte: 2)
            writer.write(advertisement)
        case .services(let services):
            writer.write(byte: 3)
            writer.write(services)
        case .characteristics(let characteristics):
            writer.write(byte: 4)
            writer.write(characteristics)
        case .descriptors(let descriptors):
            writer.write(byte: 5)
            writer.write(descriptors)
        case .signalStrength(let strength):
            writer.write(byte: 6)
            writer.write(strength)
        case .name(let name):
            writer.write(byte: 7)
            writer.write(name)
        case .notifying(let enabled):
            writer.write(byte: 8)
            writer.write(enabled)
        case .handles(let handles):
            writer.write(byte: 9)
            writer.write(array: handles) { $0.write($1) }
        case .failure(let failure):
            writer.write(byte: 10)
            writer.write(failure)
        case .readRequest(let offset):
            writer.write(byte: 11)
            writer.write(offset)
        case .writeRequests(let writes):
            writer.write(byte: 12)
            writer.write(writes)
        case .central(let maximumUpdateLength):
            writer.write(byte: 13)
            writer.write(maximumUpdateLength)
        case .psm(let psm):
            writer.write(byte: 14)
            writer.write(psm)
        case .connectionEvent(let connected):
            writer.write(byte: 21)
            writer.write(connected)
        case .position(let position):
            writer.write(byte: 15)
            writer.write(position)
        case .positions(let positions):
            writer.write(byte: 16)
            writer.write(positions)
        case .beacons(let beacons):
            writer.write(byte: 17)
            writer.write(beacons)
        case .regionState(let state):
            writer.write(byte: 18)
            writer.write(state)
        case .locationFailure(let code, let message):
            writer.write(byte: 19)
            writer.write(code)
            writer.write(message)
        case .visit(let visit):
            writer.write(byte: 20)
            writer.write(visit)
        case .audioRoute(let route, let previous):
            writer.write(byte: 22)
            writer.write(route)
            writer.write(previous)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .none
        case 1: self = .value(try reader.readBytes())
        case 2: self = .advertisement(try reader.read())
        case 3: self = .services(try reader.readArray())
        case 4: self = .characteristics(try reader.readArray())
        case 5: self = .descriptors(try reader.readArray())
        case 6: self = .signalStrength(try reader.readInt16())
        case 7: self = .name(try reader.readString())
        case 8: self = .notifying(try reader.readBool())
        case 9: self = .handles(try reader.readHandles())
        case 10: self = .failure(try reader.read())
        case 11: self = .readRequest(offset: try reader.readUInt16())
        case 12: self = .writeRequests(try reader.readArray())
        case 13: self = .central(maximumUpdateLength: try reader.readUInt16())
        case 14: self = .psm(try reader.readUInt16())
        case 21: self = .connectionEvent(connected: try reader.readBool())
        case 15: self = .position(try reader.read())
        case 16: self = .positions(try reader.readArray())
        case 17: self = .beacons(try reader.readArray())
        case 18: self = .regionState(try reader.read())
        case 19: self = .locationFailure(code: try reader.readInt32(), message: try reader.readString())
        case 20: self = .visit(try reader.read())
        case 22: self = .audioRoute(try reader.read(), previous: try reader.read())
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension ByteReader {
    fileprivate mutating func readHandles() throws(EncodingFault) -> [AttributeHandle] {
        try readArray { (reader) throws(EncodingFault) in try reader.readUInt16() }
    }
}

extension Advertisement: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(optional: localName) { $0.write($1) }
        writer.write(array: services) { $0.write($1) }
        writer.write(optional: manufacturerData) { $0.write($1) }
        writer.write(serviceData)
        writer.write(optional: txPower) { $0.write($1) }
        writer.write(connectable)
        writer.write(signalStrength)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            localName: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readString() },
            services: try reader.readArray { (reader) throws(EncodingFault) in try reader.readString() },
            manufacturerData: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readBytes() },
            serviceData: try reader.readArray(),
            txPower: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readInt16() },
            connectable: try reader.readBool(),
            signalStrength: try reader.readInt16()
        )
    }
}

extension Advertisement.ServiceData: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(service)
        writer.write(data)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(service: try reader.readString(), data: try reader.readBytes())
    }
}

extension GATTService: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(uuid)
        writer.write(handle)
        writer.write(primary)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(uuid: try reader.readString(), handle: try reader.readUInt16(), primary: try reader.readBool())
    }
}

extension GATTCharacteristic: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(uuid)
        writer.write(handle)
        writer.write(properties)
        writer.write(service)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            uuid: try reader.readString(),
            handle: try reader.readUInt16(),
            properties: try reader.readUInt16(),
            service: try reader.readUInt16()
        )
    }
}

extension GATTDescriptor: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(uuid)
        writer.write(handle)
        writer.write(characteristic)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            uuid: try reader.readString(),
            handle: try reader.readUInt16(),
            characteristic: try reader.readUInt16()
        )
    }
}

extension BluetoothFailure: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(domain)
        writer.write(code)
        writer.write(message)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(domain: try reader.read(), code: try reader.readInt32(), message: try reader.readString())
    }
}

extension RestoredState: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(peripherals)
        writer.write(optional: scanServices) { $0.write($1) }
        writer.write(scanAllowsDuplicates)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            peripherals: try reader.readArray(),
            scanServices: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readArray() },
            scanAllowsDuplicates: try reader.readBool()
        )
    }
}

extension RestoredState.Peripheral: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(name)
        writer.write(connected)
        writer.write(array: subscriptions) { $0.write($1) }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            name: try reader.read(),
            connected: try reader.readBool(),
            subscriptions: try reader.readHandles()
        )
    }
}

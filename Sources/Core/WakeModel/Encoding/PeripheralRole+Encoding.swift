extension LocalService: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(number)
        writer.write(uuid)
        writer.write(primary)
        writer.write(characteristics)
        writer.write(array: includes) { $0.write($1) }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            number: try reader.readUInt32(),
            uuid: try reader.readString(),
            primary: try reader.readBool(),
            characteristics: try reader.readArray(),
            includes: try reader.readArray { (reader) throws(EncodingFault) in try reader.readUInt32() }
        )
    }
}

extension LocalCharacteristic: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(number)
        writer.write(uuid)
        writer.write(properties)
        writer.write(byte: permissions)
        writer.write(optional: value) { $0.write($1) }
        writer.write(descriptors)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            number: try reader.readUInt32(),
            uuid: try reader.readString(),
            properties: try reader.readUInt16(),
            permissions: try reader.readByte(),
            value: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readBytes() },
            descriptors: try reader.readArray()
        )
    }
}

extension LocalDescriptor: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(uuid)
        writer.write(value)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(uuid: try reader.readString(), value: try reader.readBytes())
    }
}

extension LocalWrite: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(characteristic)
        writer.write(offset)
        writer.write(value)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            characteristic: try reader.readUInt32(),
            offset: try reader.readUInt16(),
            value: try reader.readBytes()
        )
    }
}

extension LocalAdvertisement: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(optional: localName) { $0.write($1) }
        writer.write(services)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            localName: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readString() },
            services: try reader.readArray()
        )
    }
}

extension RestoredPeripheral: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(services)
        writer.write(subscribed)
        writer.write(optional: advertised)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            services: try reader.readArray(),
            subscribed: try reader.readArray(),
            advertised: try reader.readOptional()
        )
    }
}

extension RestoredPeripheral.Subscriber: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(characteristic)
        writer.write(central)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(characteristic: try reader.readUInt32(), central: try reader.read())
    }
}

extension BluetoothAuthorization: ByteCoded {}

extension PeripheralManagerRequest: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .create(let restoreIdentifier):
            writer.write(byte: 0)
            writer.write(restoreIdentifier)
        case .release:
            writer.write(byte: 1)
        case .addService(let service):
            writer.write(byte: 2)
            writer.write(service)
        case .removeService(let number):
            writer.write(byte: 3)
            writer.write(number)
        case .removeAllServices:
            writer.write(byte: 4)
        case .startAdvertising(let localName, let services):
            writer.write(byte: 5)
            writer.write(optional: localName) { $0.write($1) }
            writer.write(services)
        case .stopAdvertising:
            writer.write(byte: 6)
        case .updateValue(let characteristic, let value, let centrals):
            writer.write(byte: 7)
            writer.write(characteristic)
            writer.write(value)
            writer.write(centrals)
        case .respond(let request, let result, let value):
            writer.write(byte: 8)
            writer.write(request)
            writer.write(byte: result)
            writer.write(optional: value) { $0.write($1) }
        case .publishChannel(let encrypted):
            writer.write(byte: 9)
            writer.write(encrypted)
        case .unpublishChannel(let psm):
            writer.write(byte: 10)
            writer.write(psm)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .create(restoreIdentifier: try reader.read())
        case 1: self = .release
        case 2: self = .addService(try reader.read())
        case 3: self = .removeService(try reader.readUInt32())
        case 4: self = .removeAllServices
        case 5:
            self = .startAdvertising(
                localName: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readString() },
                services: try reader.readArray()
            )
        case 6: self = .stopAdvertising
        case 7:
            self = .updateValue(
                characteristic: try reader.readUInt32(),
                value: try reader.readBytes(),
                centrals: try reader.readArray()
            )
        case 8:
            self = .respond(
                request: try reader.readUInt32(),
                result: try reader.readByte(),
                value: try reader.readOptional { (reader) throws(EncodingFault) in try reader.readBytes() }
            )
        case 9: self = .publishChannel(encrypted: try reader.readBool())
        case 10: self = .unpublishChannel(psm: try reader.readUInt16())
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

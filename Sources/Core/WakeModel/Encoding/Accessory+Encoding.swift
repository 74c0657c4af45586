extension Accessory: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(connection)
        for text in [name, manufacturer, model, serialNumber, firmwareRevision, hardwareRevision] { writer.write(text) }
        writer.write(array: protocols) { $0.write($1) }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            connection: try reader.readUInt32(),
            name: try reader.readString(),
            manufacturer: try reader.readString(),
            model: try reader.readString(),
            serialNumber: try reader.readString(),
            firmwareRevision: try reader.readString(),
            hardwareRevision: try reader.readString(),
            protocols: try reader.readArray { (reader) throws(EncodingFault) in try reader.readString() }
        )
    }
}

extension AccessoryRequest: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .register: writer.write(byte: 0)
        case .unregister: writer.write(byte: 1)
        case .open(let session, let accessory, let protocolName):
            writer.write(byte: 2)
            writer.write(session)
            writer.write(accessory)
            writer.write(protocolName)
        case .close(let session):
            writer.write(byte: 3)
            writer.write(session)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .register
        case 1: self = .unregister
        case 2:
            self = .open(
                try reader.readUInt32(),
                accessory: try reader.readUInt32(),
                protocolName: try reader.read()
            )
        case 3: self = .close(try reader.readUInt32())
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension AccessoryFailure: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(code)
        writer.write(message)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(code: try reader.readInt32(), message: try reader.readString())
    }
}

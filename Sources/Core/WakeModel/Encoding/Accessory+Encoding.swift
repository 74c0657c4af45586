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

extension AccessoryFailure: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(code)
        writer.write(message)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(code: try reader.readInt32(), message: try reader.readString())
    }
}

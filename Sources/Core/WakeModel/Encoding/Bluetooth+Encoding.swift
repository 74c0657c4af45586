extension BluetoothClient: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(app)
        writer.write(slot)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(app: try reader.read(), slot: try reader.readUInt16())
    }
}

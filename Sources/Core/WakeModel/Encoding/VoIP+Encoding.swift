extension VoIPRequest: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .watch(let socket, let peer):
            writer.write(byte: 0)
            writer.write(socket)
            writer.write(peer)
        case .unwatch(let socket):
            writer.write(byte: 1)
            writer.write(socket)
        case .setKeepAlive(let period):
            writer.write(byte: 2)
            writer.write(period)
        case .clearKeepAlive:
            writer.write(byte: 3)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .watch(try reader.readUInt32(), peer: try reader.read())
        case 1: self = .unwatch(try reader.readUInt32())
        case 2: self = .setKeepAlive(period: try reader.read())
        case 3: self = .clearKeepAlive
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension Input: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .event(let event):
            writer.write(byte: 0)
            writer.write(event)
        case .process(let app, let report):
            writer.write(byte: 1)
            writer.write(app)
            writer.write(report)
        case .timeReached: writer.write(byte: 2)
        default:
            writer.write(byte: 3)
            writer.write(fieldsOf: self)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .event(try reader.read())
        case 1: self = .process(try reader.read(), try reader.read())
        case 2: self = .timeReached
        case 3: self = try reader.readFields()
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension LifecycleCallback: ByteCoded {}

/// What a wake is made of by hand, the rest by its type.
extension ProcessReport: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .launched: writer.write(byte: 0)
        case .returned(let callback):
            writer.write(byte: 1)
            writer.write(callback)
        case .suspended: writer.write(byte: 2)
        default:
            writer.write(byte: 3)
            writer.write(fieldsOf: self)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .launched
        case 1: self = .returned(try reader.read())
        case 2: self = .suspended
        case 3: self = try reader.readFields()
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension EventPayload: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        if case .value(let value) = self {
            writer.write(byte: 0)
            writer.write(value)
        } else {
            writer.write(byte: 1)
            writer.write(fieldsOf: self)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .value(try reader.readBytes())
        case 1: self = try reader.readFields()
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

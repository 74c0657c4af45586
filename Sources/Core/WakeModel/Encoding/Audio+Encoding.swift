extension AudioCategory: ByteCoded {}
extension AudioPortKind: ByteCoded {}
extension MicrophonePermission: ByteCoded {}

extension AudioOptions: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(rawValue) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self.init(rawValue: try reader.readUInt16()) }
}

extension AudioRequest: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .setCategory(let category, let options):
            writer.write(byte: 0)
            writer.write(category)
            writer.write(options)
        case .activate(let request):
            writer.write(byte: 1)
            writer.write(request)
        case .deactivate(let notifiesOthers):
            writer.write(byte: 2)
            writer.write(notifiesOthers)
        case .start(let request, let plays, let records):
            writer.write(byte: 3)
            writer.write(request)
            writer.write(plays)
            writer.write(records)
        case .stop: writer.write(byte: 4)
        case .preferBuffer(let span):
            writer.write(byte: 5)
            writer.write(span)
        case .requestPermission: writer.write(byte: 6)
        }
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .setCategory(try reader.read(), try reader.read())
        case 1: self = .activate(request: try reader.readUInt32())
        case 2: self = .deactivate(notifiesOthers: try reader.readBool())
        case 3:
            self = .start(
                request: try reader.readUInt32(),
                plays: try reader.readBool(),
                records: try reader.readBool()
            )
        case 4: self = .stop
        case 5: self = .preferBuffer(try reader.read())
        case 6: self = .requestPermission
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension AudioRoute: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(optional: output)
        writer.write(optional: input)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(output: try reader.readOptional(), input: try reader.readOptional())
    }
}

extension AudioRoute.End: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(kind)
        writer.write(name)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(try reader.read(), name: try reader.readString())
    }
}

extension AudioStream: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(plays)
        writer.write(records)
        writer.write(runs)
        writer.write(frames)
        writer.write(gain)
        writer.write(hears)
        writer.write(optional: silenceLimit)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            plays: try reader.readBool(),
            records: try reader.readBool(),
            runs: try reader.readBool(),
            frames: try reader.readUInt32(),
            gain: try reader.readUInt16(),
            hears: try reader.readBool(),
            silenceLimit: try reader.readOptional()
        )
    }
}

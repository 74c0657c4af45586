extension EventKind: ByteCoded {}

extension WakeEvent: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(id)
        writer.write(kind)
        writer.write(attribute)
        writer.write(local)
        writer.write(request)
        writer.write(failed)
        writer.write(optional: client)
        writer.write(peripheral)
        writer.write(subject)
        writer.write(services)
        writer.write(optional: fix)
        writer.write(optional: beacon)
        writer.write(region)
        writer.write(optional: app)
        writer.write(manager)
        writer.write(optional: authorization)
        writer.write(optional: boxedPush)
        writer.write(origin)
        writer.write(parent)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let id: EventID = try reader.read()
        self.init(kind: try reader.read(), id: id)
        attribute = try reader.readUInt16()
        local = try reader.readUInt32()
        request = try reader.readUInt32()
        failed = try reader.readBool()
        client = try reader.read()
        peripheral = try reader.read()
        subject = try reader.read()
        services = try reader.readArray()
        fix = try reader.read()
        beacon = try reader.read()
        region = try reader.read()
        app = try reader.read()
        manager = try reader.readUInt32()
        authorization = try reader.read()
        boxedPush = try reader.read()
        origin = try reader.read()
        parent = try reader.read()
    }
}

extension BoxedPush: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(push) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = .push(try reader.read(Push.self)) }
}

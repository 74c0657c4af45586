import WakeModel

extension BluetoothRecord: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(managers)
        writer.write(mayBeSetUp)
        writer.write(accessoriesSetUp)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        self.init(
            managers: try reader.readArray(),
            mayBeSetUp: try reader.readBool(),
            accessoriesSetUp: try reader.readArray()
        )
        guard managers.count <= Router.managersLimit else { throw EncodingFault(.unknownValue, at: start) }
        requestDeadline = firstRequestDeadline
    }
}

extension BluetoothRecord.Manager: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(inUse)
        writer.write(attached)
        writer.write(number)
        writer.write(restoreIdentifier)
        writer.write(createdAt)
        writer.write(optional: scan)
        writer.write(peripherals)
        writer.write(optional: local)
        writer.write(optional: watch)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            inUse: try reader.readBool(),
            attached: try reader.readBool(),
            number: try reader.readUInt32(),
            restoreIdentifier: try reader.read(),
            createdAt: try reader.read(),
            scan: try reader.readOptional(),
            peripherals: try reader.readArray(),
            local: try reader.readOptional(),
            watch: try reader.readOptional()
        )
    }
}

extension BluetoothRecord.ConnectionWatch: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(peripherals)
        writer.write(services)
        writer.write(since)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            peripherals: try reader.readArray(),
            services: try reader.readArray(),
            since: try reader.read()
        )
    }
}

extension BluetoothRecord.Scan: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(services)
        writer.write(allowDuplicates)
        writer.write(since)
        writer.write(seen.sorted())
        writer.write(missed)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            services: try reader.readArray(),
            allowDuplicates: try reader.readBool(),
            since: try reader.read(),
            seen: Set(try reader.readArray(of: NameID.self)),
            missed: try reader.readBool()
        )
    }
}

extension PeripheralRecord: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(links)
        writer.write(subscriptions)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(links: try reader.readArray(), subscriptions: try reader.readArray())
    }
}

extension Link: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(client)
        writer.write(connected)
        writer.write(since)
        writer.write(byte: options.rawValue)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            client: try reader.read(),
            connected: try reader.readBool(),
            since: try reader.read(),
            options: ConnectOptions(rawValue: try reader.readByte())
        )
    }
}

extension Subscription: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(attribute)
        writer.write(client)
        writer.write(since)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(attribute: try reader.readUInt16(), client: try reader.read(), since: try reader.read())
    }
}

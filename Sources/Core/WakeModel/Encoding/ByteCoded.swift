/// A value that can be written as bytes and read back.
package protocol ByteCoded {
    func encode(into writer: inout ByteWriter)

    /// Reads the value that starts at the reader's offset.
    init(from reader: inout ByteReader) throws(EncodingFault)
}

extension ByteCoded {
    /// The value alone, in a buffer of its own.
    package var encoded: [UInt8] {
        var writer = ByteWriter(reserving: 64)
        encode(into: &writer)
        return writer.bytes
    }

    /// Reads bytes that hold this value and nothing else.
    ///
    /// - Parameter names: how many names there are: the number of another is a fault.
    package init(decoding bytes: [UInt8], names: UInt32 = .max) throws(EncodingFault) {
        var reader = ByteReader(bytes, names: names)
        try self.init(from: &reader)
        try reader.finish()
    }
}

extension ByteCoded where Self: RawRepresentable, RawValue == UInt8 {
    package func encode(into writer: inout ByteWriter) {
        writer.write(byte: rawValue)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        guard let value = Self(rawValue: try reader.readByte()) else { throw EncodingFault(.unknownValue, at: start) }
        self = value
    }
}

extension AppState: ByteCoded {}
extension BackgroundMode: ByteCoded {}
extension BluetoothFailure.Domain: ByteCoded {}
extension Check: ByteCoded {}
extension CheckResult: ByteCoded {}
extension EventKind: ByteCoded {}
extension ExitCause: ByteCoded {}
extension MemoryPressure: ByteCoded {}
extension LifecycleCallback: ByteCoded {}
extension PhoneChange: ByteCoded {}
extension Reason: ByteCoded {}
extension Registration: ByteCoded {}
extension RequestFault: ByteCoded {}
extension RuleID: ByteCoded {}
extension Source: ByteCoded {}
extension UserAction: ByteCoded {}
extension Verdict: ByteCoded {}

extension AppID: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(number) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self.init(try reader.readUInt32()) }
}

extension EventID: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(number) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self.init(try reader.readUInt64()) }
}

extension DecisionID: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(number) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self.init(try reader.readUInt64()) }
}

extension NameID: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(number) }
    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        let number = try reader.readUInt32()
        guard number <= reader.names else { throw EncodingFault(.unknownValue, at: start) }
        self.init(number)
    }
}

extension Instant: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(nanoseconds) }
    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(nanoseconds: try reader.readInt64())
    }
}

extension Instant.Span: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(nanoseconds) }
    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(nanoseconds: try reader.readInt64())
    }
}

extension BackgroundModes: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(rawValue) }
    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(rawValue: try reader.readUInt16())
    }
}

extension CheckResults: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(UInt64(truncatingIfNeeded: bits))
        writer.write(UInt64(truncatingIfNeeded: bits >> 64))
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let low = try reader.readUInt64()
        self.init(bits: UInt128(try reader.readUInt64()) << 64 | UInt128(low))
    }
}

extension AppManifest: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(bundle)
        writer.write(modes)
        writer.write(exitsOnSuspend)
        writer.write(bluetoothAuthorization)
        writer.write(accessoryProtocols)
        writer.write(sdk)
        writer.write(accessorySetup)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            bundle: try reader.read(),
            modes: try reader.read(),
            exitsOnSuspend: try reader.readBool(),
            bluetoothAuthorization: try reader.read(),
            accessoryProtocols: try reader.readArray(),
            sdk: try reader.read(),
            accessorySetup: try reader.readBool()
        )
    }
}

extension SDKVersion: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(major)
        writer.write(minor)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(try reader.readUInt16(), try reader.readUInt16())
    }
}

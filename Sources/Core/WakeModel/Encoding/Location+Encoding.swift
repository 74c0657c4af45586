extension LocationAuthorization: ByteCoded {}

extension Direction: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(x)
        writer.write(y)
        writer.write(z)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(x: try reader.readDouble(), y: try reader.readDouble(), z: try reader.readDouble())
    }
}

extension Fix: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(direction)
        writer.write(accuracyChord)
        writer.write(speed)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            direction: try reader.read(),
            accuracyChord: try reader.readDouble(),
            speed: try reader.readFloat()
        )
    }
}

extension BeaconSighting: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(uuid)
        writer.write(major)
        writer.write(minor)
        writer.write(distance)
        writer.write(signalStrength)
        writer.write(age)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            uuid: try reader.read(),
            major: try reader.readUInt16(),
            minor: try reader.readUInt16(),
            distance: try reader.readFloat(),
            signalStrength: try reader.readInt16(),
            age: try reader.read()
        )
    }
}

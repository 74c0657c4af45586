import WakeDevices

// Files of other programs are cut short, have undeclared prefixes and stray bytes, which a reader of XML refuses as a whole. What is wanted of
// them is places, which are elements of one form: these are looked for, and nothing else.
extension PlaceLog {
    private static let kinds: [[UInt8]] = [Array("trkpt".utf8), Array("rtept".utf8), Array("wpt".utf8)]

    mutating func readGPX(_ bytes: [UInt8]) {
        let kinds = Self.kinds.filter { bytes.firstRange(of: [UInt8(ascii: "<")] + $0) != nil }
        // Tracks, else routes, else waypoints.
        guard let kind = kinds.first else { return }
        let opening = [UInt8(ascii: "<")] + kind
        let closing = [UInt8(ascii: "<"), UInt8(ascii: "/")] + kind
        var rest = bytes[...]
        while let found = rest.firstRange(of: opening) {
            rest = rest[found.upperBound...]
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return skip("places that are cut short") }
            let attributes = rest[..<end]
            let isEmpty = attributes.last == UInt8(ascii: "/")
            rest = rest[(end + 1)...]
            var body = rest.prefix(0)
            if !isEmpty {
                // The next place begins where this one is not ended.
                let next = rest.firstRange(of: opening)?.lowerBound ?? rest.endIndex
                guard let close = rest[..<next].firstRange(of: closing) else {
                    skip("places that are cut short")
                    rest = rest[next...]
                    continue
                }
                body = rest[..<close.lowerBound]
                rest = rest[close.upperBound...]
            }
            takeGPX(attributes, body)
        }
    }

    private mutating func takeGPX(_ attributes: ArraySlice<UInt8>, _ body: ArraySlice<UInt8>) {
        guard let latitude = Self.attribute("lat", attributes), let longitude = Self.attribute("lon", attributes),
            let place = Coordinate(checking: latitude, longitude)
        else { return skip("places without a latitude and a longitude") }
        var point = TrackPoint(place)
        if let text = Self.element("ele", body), let altitude = Double(text), abs(altitude) < 100_000 {
            point.altitude = altitude
        }
        if let text = Self.element("time", body) {
            guard let timestamp = UTCTime.seconds(dateTime: text) else {
                return skip("places whose time cannot be read")
            }
            point.timestamp = timestamp
        }
        if let first = points.first, first.timestamp == nil, point.timestamp != nil {
            return skip("places with a time among places without one")
        }
        take(point)
    }

    /// The number of an attribute, in quotes of either kind.
    private static func attribute(_ name: String, _ attributes: ArraySlice<UInt8>) -> Double? {
        guard let start = attributes.firstRange(of: Array("\(name)=".utf8))?.upperBound, start < attributes.endIndex
        else { return nil }
        let quote = attributes[start]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        let value = attributes[(start + 1)...].prefix { $0 != quote }
        guard value.count <= 32, let number = Double(String(decoding: value, as: UTF8.self)), number.isFinite else {
            return nil
        }
        return number
    }

    /// The text of a child, without the white space around it.
    private static func element(_ name: String, _ body: ArraySlice<UInt8>) -> String? {
        guard let start = body.firstRange(of: Array("<\(name)>".utf8))?.upperBound else { return nil }
        let value = body[start...].prefix { $0 != UInt8(ascii: "<") }
        let words = value.prefix(64).split(whereSeparator: { $0 <= 0x20 })
        return words.count == 1 ? String(decoding: words[0], as: UTF8.self) : nil
    }
}

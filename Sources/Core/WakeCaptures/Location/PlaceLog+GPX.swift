import WakeDevices

extension PlaceLog {
    mutating func readGPX(_ bytes: [UInt8]) {
        let read = GPXPlaces(bytes)
        for place in read.places {
            switch place {
            case .point(let point): takeGPX(point)
            case .leftOut(let why): skip(why)
            }
        }
        skip("places behind what is no XML", read.unread)
        skip(Self.tooMany, read.more)
    }

    private mutating func takeGPX(_ point: TrackPoint) {
        if let first = points.first, first.timestamp == nil, point.timestamp != nil {
            return skip("places with a time among places without one")
        }
        if let time = point.timestamp, UTCTime.Parts(time) == nil { return skip("places whose time cannot be read") }
        take(point)
    }
}

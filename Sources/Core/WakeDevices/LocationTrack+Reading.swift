import WakeModel

extension LocationTrack: Device {
    package static let kind = "location-track"
    package static let article = "a track"
    package static let lack = "is no track"
    package static let keys = [
        "gpx", "nmea", "route", "speed", "rate", "interval", "accuracy", "noise", "repeat", "faults",
    ]

    package var form: DeviceFile { .track(self) }

    /// Reads the text of a device file; `file` is for errors, and for where the file of places is.
    ///
    /// - Parameter read: gives the bytes of a file.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        read: (String) throws(FileError) -> [UInt8]
    ) throws(FileError) -> LocationTrack {
        try LocationTrack(try fields(try YAMLReader.read(bytes, file: file)), read)
    }

    /// Reads the GPX or NMEA file, too, that the device file names and that stands beside it.
    package init(_ fields: Fields) throws(FileError) {
        try self.init(fields) { (path) throws(FileError) in try InputFile.read(path) }
    }

    /// The same, where `read` gives the bytes of that file.
    package init(_ fields: Fields, _ read: (String) throws(FileError) -> [UInt8]) throws(FileError) {
        let (source, node) = try fields.one(of: ["gpx", "nmea", "route"], called: "places")
        if source != "gpx" { try fields.refuse(["speed"], beside: source) }
        if source == "nmea" { try fields.refuse(["interval"], beside: source) }
        let interval = try fields.value("interval", Self.interval) ?? .seconds(1)
        let path: Path =
            switch source {
            case "gpx": .way(try Self.way(gpx: node, fields, read), interval: interval)
            case "nmea": .log(try Self.log(nmea: node, read))
            default: .way(try Way(route: node), interval: interval)
            }
        self.init(
            file: fields.node.file,
            path: path,
            rate: try fields["rate"]?.number(in: 0.001...1000, "a rate") ?? 1,
            accuracy: try fields["accuracy"]?.metres(in: 0...100_000) ?? 5,
            noise: try fields["noise"]?.metres(in: 0...100_000) ?? 0,
            repeats: try fields["repeat"]?.bool() ?? false,
            faults: try fields.faults()
        )
        try check(fields)
    }

    private static func interval(_ node: YAMLNode) throws(FileError) -> Instant.Span {
        let interval = try node.duration()
        if interval < .milliseconds(10) { throw node.error(expected: "a time of at least 10ms") }
        return interval
    }

    private func check(_ fields: Fields) throws(FileError) {
        if repeats, length <= .zero, let node = fields["repeat"] {
            throw node.error(found: "a repetition that takes no time", expected: "places at different times")
        }
        // What is played fast must still be a time of the bench's clock.
        if Double(length.nanoseconds) / rate > Double(DurationText.longest.nanoseconds) {
            throw fields.node.error(
                found: "a track that takes more than \(DurationText.longest.nanoseconds / 86_400_000_000_000) days",
                expected: "a higher rate or speed"
            )
        }
    }

    /// The track's own time from its first place to its last.
    package var length: Instant.Span {
        switch path {
        case .way(let way, _): way.length
        case .log(let entries): entries.last?.offset ?? .zero
        }
    }

    // MARK: Files of places

    /// The path of a file beside the device file, and what reads it.
    private static func bytes(
        _ node: YAMLNode,
        _ read: (String) throws(FileError) -> [UInt8]
    ) throws(FileError) -> (path: String, bytes: [UInt8]) {
        let name = try node.text(expecting: "the path of a file")
        if name.utf8.contains(0) { throw node.error(expected: "the path of a file") }
        let folder = node.file.lastIndex(of: "/").map { node.file[...$0] } ?? ""
        let path = name.hasPrefix("/") ? name : folder + name
        do {
            return (path, try read(path))
        } catch  where error.line == 0 {
            throw node.error(found: "'\(excerpt(path))', \(error.found)", expected: error.expected)
        }
    }

    private static func way(
        gpx node: YAMLNode,
        _ fields: Fields,
        _ read: (String) throws(FileError) -> [UInt8]
    ) throws(FileError) -> Way {
        let (path, bytes) = try bytes(node, read)
        let points = try GPXFile.parse(bytes, file: path).points
        if let start = points[0].timestamp {
            try fields.refuse(["speed"], beside: "gpx with times")
            return Way(
                stops: points.map { point in
                    let offset = ((point.timestamp ?? start) - start) * 1e9
                    return Way.Stop(
                        offset: Instant.Span(nanoseconds: Int64(min(offset, Self.mostNanoseconds))),
                        place: point.place,
                        altitude: point.altitude
                    )
                },
                timestamp: start
            )
        }
        guard let speed = try fields["speed"]?.speed() else {
            throw node.error(found: "'\(excerpt(path))', whose places have no <time>", expected: "'speed' beside it")
        }
        var travelled = 0.0
        var stops: [Way.Stop] = []
        for point in points {
            if let before = stops.last { travelled += Geometry.distance(from: before.place, to: point.place) }
            let offset = Instant.Span(nanoseconds: Int64(min(travelled / speed * 1e9, Self.mostNanoseconds)))
            stops.append(Way.Stop(offset: offset, place: point.place, altitude: point.altitude))
        }
        return Way(stops: stops)
    }

    /// Longer than any track may be, and far from overflow.
    fileprivate static let mostNanoseconds = 1e18

    private static func log(
        nmea node: YAMLNode,
        _ read: (String) throws(FileError) -> [UInt8]
    ) throws(FileError) -> [Entry] {
        let (path, bytes) = try bytes(node, read)
        let (moments, counts) = NMEAReader.moments(of: bytes)
        guard let first = moments.first, moments.contains(where: { $0.point != nil }) else {
            throw node.error(
                found: "'\(excerpt(path))' with \(counts.sentences) sentences, \(counts.damaged) damaged, and no fix",
                expected: "RMC, GGA, GNS or GLL sentences with a fix"
            )
        }
        var entries: [Entry] = []
        for moment in moments {
            let offset = (moment.timestamp - first.timestamp) * 1000
            // The clock of a receiver without a fix may be ahead of the time.
            while let last = entries.last, last.point == nil, Double(last.offset.milliseconds) >= offset.rounded() {
                entries.removeLast()
            }
            guard offset < mostNanoseconds / 1e6, offset > (entries.last.map { Double($0.offset.milliseconds) } ?? -1)
            else {
                throw node.error(
                    found: "'\(excerpt(path))', whose time does not go on at fix \(entries.count + 1)",
                    expected: "fixes in the order of time, as 'wakebench import' writes them"
                )
            }
            entries.append(Entry(offset: .milliseconds(Int64(offset.rounded())), point: moment.point))
        }
        return entries
    }
}

extension Way {
    /// The key `route`: places, how fast one goes on from each, and how long one stays there before.
    init(route node: YAMLNode) throws(FileError) {
        var stops: [Stop] = []
        var speed: Double?
        var offset = 0.0
        for node in try node.list(expecting: "places", limit: GPXFile.pointLimit) {
            let fields = try Fields(node, of: "a place", keys: ["latitude", "longitude", "altitude", "speed", "wait"])
            let said = try Coordinate(fields, ("a latitude", "a longitude"))
            guard let place = Coordinate(checking: said.latitude, said.longitude) else {
                throw node.error(expected: "a latitude and a longitude")
            }
            let altitude = try fields["altitude"]?.number(in: -20_000...100_000, "an altitude in metres")
            if let before = stops.last {
                guard let speed else {
                    throw node.error(
                        found: "a second place without a speed before it",
                        expected: "'speed' in the first"
                    )
                }
                offset += Geometry.distance(from: before.place, to: place) / speed * 1e9
            }
            func add() {
                let span = Instant.Span(nanoseconds: Int64(min(offset, LocationTrack.mostNanoseconds)))
                stops.append(Stop(offset: span, place: place, altitude: altitude))
            }
            add()
            if let wait = try fields["wait"]?.duration(), wait > .zero {
                offset += Double(wait.nanoseconds)
                add()
            }
            if let node = fields["speed"] { speed = try node.speed() }
        }
        if stops.isEmpty { throw node.error(found: "an empty list", expected: "at least one place") }
        self.init(stops: stops)
    }
}

extension LocationTrack.Effect: FaultEffect {
    package static let effects = ["lost-fix", "jump", "frozen", "poor-accuracy"]

    package init(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) {
        switch key {
        case "lost-fix": self = .lostFix(try value.interval())
        case "frozen": self = .frozen(try value.interval())
        case "jump":
            let fields = try Fields(value, of: "a jump", keys: ["distance", "bearing", "lasting"])
            self = .jump(
                metres: try fields.required("distance").metres(in: 0...20_000_000),
                bearing: try fields["bearing"]?.number(in: 0...360, "degrees") ?? 0,
                lasting: try fields.required("lasting").interval()
            )
        default:
            let fields = try Fields(value, of: "poor accuracy", keys: ["accuracy", "lasting"])
            self = .poorAccuracy(
                metres: try fields.required("accuracy").metres(in: 0...1_000_000),
                lasting: try fields.required("lasting").interval()
            )
        }
    }
}

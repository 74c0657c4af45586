import WakeDevices

extension PlaceLog {
    /// What the file of places is called beside a device file: another ending.
    package var ending: String { form == .gpx ? "gpx" : "nmea" }

    /// Whether the places have times.
    package var isTimed: Bool { points.first?.timestamp != nil }

    /// The device file of the track.
    ///
    /// - Parameters:
    ///   - places: the file of places, as it is called beside the device file.
    ///   - rate: how much faster than in the log it is played.
    ///   - repeats: whether it begins again after its end; a single place never does.
    package func deviceText(places: String, from file: String, rate: Double = 1, repeats: Bool = false) -> String {
        var text = YAMLText()
        text.comment("From \(file): \(form.name), \(points.count) places")
        for (why, count) in skipped { text.comment("left out: \(count) \(why)") }
        for note in notes { text.comment(note) }
        text.line(0, "device: \(LocationTrack.kind)")
        text.line(0, "\(ending): \(YAMLText.quoted(places))")
        if form == .gpx && !isTimed { text.line(0, "speed: 50km/h") }
        if rate != 1 { text.line(0, "rate: \(rate)") }
        if repeats && points.count > 1 { text.line(0, "repeat: true") }
        return text.text
    }

    /// The places alone, as the reader of device files reads them.
    package var placesText: String { form == .gpx ? gpxText : nmeaText }

    private var gpxText: String {
        var text =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\" creator=\"wakebench\"><trk><trkseg>\n"
        for point in points {
            text += "<trkpt lat=\"\(point.place.latitude)\" lon=\"\(point.place.longitude)\">"
            if let altitude = point.altitude { text += "<ele>\(altitude)</ele>" }
            if let time = point.timestamp.flatMap(UTCTime.Parts.init) { text += "<time>\(time.dateTime)</time>" }
            text += "</trkpt>\n"
        }
        return text + "</trkseg></trk></gpx>\n"
    }

    private var nmeaText: String {
        var text = ""
        for point in points {
            guard let time = point.timestamp.flatMap(UTCTime.Parts.init) else { continue }
            let clock = time.time("")
            let place =
                Self.angle(point.place.latitude, 2, "N", "S") + "," + Self.angle(point.place.longitude, 3, "E", "W")
            let date = UTCTime.padded(time.day, 2) + UTCTime.padded(time.month, 2) + UTCTime.padded(time.year % 100, 2)
            let speed = point.speed.map { Self.fixed($0 / NMEAReader.knot, 3) } ?? ""
            let course = point.course.map { Self.fixed($0, 1) } ?? ""
            text += Self.sentence("GNRMC,\(clock),A,\(place),\(speed),\(course),\(date),,,A")
            let dilution =
                point.horizontalAccuracy.map { Self.fixed(min($0 / NMEAReader.horizontalError, 99), 2) } ?? ""
            let altitude = point.altitude.map { Self.fixed($0, 1) } ?? ""
            text += Self.sentence("GNGGA,\(clock),\(place),1,,\(dilution),\(altitude),M,,M,,")
        }
        return text
    }

    private static func sentence(_ body: String) -> String {
        let checksum = body.utf8.reduce(0, ^)
        return "$\(body)*\(checksum.hexadecimal.uppercased())\r\n"
    }

    /// Degrees and minutes to a millionth, as NMEA has them.
    private static func angle(_ degrees: Double, _ digits: Int, _ positive: String, _ negative: String) -> String {
        let millionths = Int((abs(degrees) * 60_000_000).rounded())
        let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 60_000_000)
        let minutes = "\(UTCTime.padded(rest / 1_000_000, 2)).\(UTCTime.padded(rest % 1_000_000, 6))"
        return "\(UTCTime.padded(whole, digits))\(minutes),\(degrees < 0 ? negative : positive)"
    }

    /// A number with so many digits behind the point.
    private static func fixed(_ number: Double, _ digits: Int) -> String {
        let power = (0..<digits).reduce(1) { product, _ in product * 10 }
        let scaled = Int((abs(number) * Double(power)).rounded())
        let sign = number < 0 && scaled > 0 ? "-" : ""
        return "\(sign)\(scaled / power).\(UTCTime.padded(scaled % power, digits))"
    }
}

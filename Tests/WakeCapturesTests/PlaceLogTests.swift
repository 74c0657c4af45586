import Foundation
import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

@Suite("Logs of places")
struct PlaceLogTests {
    private static func shipped(_ name: String) throws -> [UInt8] {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        return [UInt8](try Data(contentsOf: URL(filePath: "\(root)/Devices/Location/\(name)")))
    }

    /// The track that the written files are read as.
    private static func track(_ log: PlaceLog) throws -> LocationTrack {
        let text = log.deviceText(places: "way.\(log.ending)", from: "a log\nof two lines")
        return try LocationTrack.parse(Array(text.utf8), file: "way.yaml") { (path) throws(FileError) in
            precondition(path == "way.\(log.ending)")
            return Array(log.placesText.utf8)
        }
    }

    @Test(
        "A log is known by how it begins",
        arguments: [("commute.gpx", PlaceLog.Form.gpx), ("office-visit.nmea", .nmea)]
    )
    func detected(name: String, form: PlaceLog.Form) throws {
        #expect(PlaceLog.detect(try Self.shipped(name)) == form)
        #expect(PlaceLog.detect(Array("{\"class\":\"VERSION\",\"release\":\"3.22\"}\n".utf8)) == .gpsd)
        #expect(PlaceLog.detect(Array("device: location-track\n".utf8)) == nil)
    }

    @Test("A whole GPX file keeps all of its places, and the written one is read the same")
    func wholeGPX() throws {
        let bytes = try Self.shipped("commute.gpx")
        let log = PlaceLog(bytes, .gpx)
        let strict = try GPXFile.parse(bytes, file: "commute.gpx").points
        #expect(log.skipped.isEmpty)
        #expect(log.points.map(\.place) == strict.map(\.place))
        #expect(log.points.map(\.timestamp) == strict.map(\.timestamp))
        let written = try GPXFile.parse(Array(log.placesText.utf8), file: "way.gpx").points
        #expect(written.map(\.place) == strict.map(\.place))
        #expect(written.map(\.altitude) == strict.map(\.altitude))
        _ = try Self.track(log)
    }

    @Test("Places later than a track may take are left out and counted, so that what is written can be played")
    func tooLong() {
        let text = """
            <gpx version="1.1"><trk><trkseg>
            <trkpt lat="50.1" lon="8.6"><time>1999-05-06T07:08:09Z</time></trkpt>
            <trkpt lat="50.2" lon="8.6"><time>1999-05-06T07:08:10Z</time></trkpt>
            <trkpt lat="50.3" lon="8.6"><time>2024-05-06T07:08:11Z</time></trkpt>
            </trkseg></trk></gpx>
            """
        let log = PlaceLog(Array(text.utf8), .gpx)
        #expect(log.points.count == 2)
        #expect(Self.skipped(log) == ["1 places more than 3660 days after the first"])
    }

    @Test("Of a damaged GPX file the places that make sense are kept, and the others counted by why")
    func damagedGPX() throws {
        let text = """
            <gpx version="1.1"><x:odd><trk><trkseg>
            <trkpt lat="50.1" lon="8.6"><ele>100</ele><time>2024-05-06T07:08:09Z</time></trkpt>
            <trkpt lat="99.1" lon="8.6"><time>2024-05-06T07:08:10Z</time></trkpt>
            <trkpt lat='50.2' lon='8.7'><time> 2024-05-06T07:08:11Z </time><y:unknown/></trkpt>
            <trkpt lat="50.3" lon="8.8"><time>yesterday</time></trkpt>
            <trkpt lat="50.3" lon="8.8"/>
            <trkpt lat="50.3" lon="8.8"><time>2024-05-06T07:08:10Z</time></trkpt>
            <trkpt lat="50.4" lon="8.9"><time>2024-05-06T07:08:12Z
            """
        let log = PlaceLog(Array(text.utf8), .gpx)
        #expect(log.points.map(\.place.latitude) == [50.1, 50.2])
        #expect(
            log.skipped.map { "\($0.count) \($0.why)" } == [
                "1 places without a latitude and a longitude", "1 places whose time cannot be read",
                "1 places without a time among places with one", "1 places whose time does not go on",
                "1 places that are cut short",
            ]
        )
        #expect(try Self.track(log).length == .seconds(2))
    }

    @Test("An NMEA log is written again as the reader of device files reads it")
    func nmea() throws {
        let bytes = try Self.shipped("office-visit.nmea")
        let log = PlaceLog(bytes + Array("$GPRMC,broken*00\r\nnonsense\r\n".utf8), .nmea)
        #expect(log.points.count > 10)
        #expect(log.skipped.contains { $0.why == "damaged sentences" && $0.count == 2 })
        try Self.expectWritten(log)
    }

    @Test("What NMEA cannot say is left out and counted: other centuries; the same time of another day is none of it")
    func unwritable() throws {
        let times = ["1972-05-06T07:32:00Z", "2024-05-06T07:32:00Z", "2025-05-06T07:32:00Z", "2025-05-06T07:32:01Z"]
        let lines = times.map { "{\"class\":\"TPV\",\"mode\":3,\"time\":\"\($0)\",\"lat\":48.1,\"lon\":11.5}" }
        let log = PlaceLog(Array(lines.joined(separator: "\n").utf8), .gpsd)
        #expect(log.points.map(\.timestamp) == [1_714_980_720, 1_746_516_720, 1_746_516_721])
        #expect(Self.skipped(log) == ["1 places before 1980 or after 2079"])
        try Self.expectWritten(log)
    }

    @Test("Fixes of gpsd become a log of the same places and times")
    func gpsd() throws {
        let lines = (0..<20).map { second in
            "{\"class\":\"TPV\",\"mode\":3,\"time\":\"2024-02-29T23:59:\(40 + second).250Z\",\"lat\":\(-33.85 + Double(second) / 1000),"
                + "\"lon\":151.2,\"altMSL\":12.5,\"track\":359.5,\"speed\":13.9,\"eph\":4.2}"
        }
        let others = [
            "{\"class\":\"VERSION\",\"release\":\"3.22\"}", "{\"class\":\"TPV\",\"mode\":1}", "{\"class\":", "?",
        ]
        let log = PlaceLog(Array((others + lines).joined(separator: "\n").utf8), .gpsd)
        #expect(log.points.count == 20)
        #expect(
            log.skipped.map { "\($0.count) \($0.why)" } == [
                "1 lines that say nothing of the position", "1 reports without a fix",
                "2 lines that are none of gpsd's",
            ]
        )
        try Self.expectWritten(log)
    }

    private static func skipped(_ log: PlaceLog) -> [String] { log.skipped.map { "\($0.count) \($0.why)" } }

    private static func report(_ second: Int, _ rest: String, device: String = "/dev/ttyACM0") -> String {
        #"{"class":"TPV","device":"\#(device)","mode":3,"time":"2026-06-15T10:15:0\#(second).000Z",\#(rest)}"#
    }

    private static func log(_ lines: [String], _ form: PlaceLog.Form) -> PlaceLog {
        PlaceLog(Array(lines.joined(separator: "\r\n").utf8), form)
    }

    @Test("Later reports of gpsd about one time complete the earlier one, and leave nothing of it out")
    func completed() throws {
        let log = Self.log(
            [
                // gpsd's own reckoning of the speed first, then what the receiver says.
                Self.report(0, #""lat":10.5,"lon":20.25,"altMSL":100,"epv":34.5,"speed":181.3"#),
                Self.report(0, #""lat":10.50001,"lon":20.25,"eph":19,"speed":6.5,"track":90"#),
                #"{"class":"SKY","hdop":1}"#,
                Self.report(0, #""lat":10.50002,"lon":20.25"#),
                Self.report(1, #""lat":10.5,"lon":20.26"#),
                Self.report(0, #""lat":11,"lon":21"#),
            ],
            .gpsd
        )
        let first = try #require(log.points.first)
        #expect(log.points.map(\.timestamp) == [1_781_518_500, 1_781_518_501])
        #expect(first.place == Coordinate(latitude: 10.50002, longitude: 20.25))
        #expect(first.altitude == 100 && first.speed == 6.5 && first.course == 90)
        #expect(first.horizontalAccuracy == 19 && first.verticalAccuracy == 34.5)
        #expect(
            Self.skipped(log) == ["1 lines that say nothing of the position", "1 places whose time does not go on"]
        )
        try Self.expectWritten(log)
    }

    @Test(
        "Of several receivers of a gpsd the first with a fix is taken, and the others are named; the next when it is gone"
    )
    func receivers() {
        func at(_ second: Int, _ device: String) -> String {
            Self.report(second, #""lat":\#(device == "/dev/a" ? 10 : 11),"lon":20"#, device: device)
        }
        var lines = [#"{"class":"TPV","device":"/dev/b","mode":1}"#]
        lines += [at(0, "/dev/a"), at(1, "/dev/b"), at(2, "/dev/a"), at(3, "/dev/b")]
        var log = Self.log(lines, .gpsd)
        #expect(log.points.map(\.place.latitude) == [10, 10])
        #expect(Self.skipped(log) == ["1 reports without a fix", "2 fixes of another receiver"])
        #expect(log.notes == ["several receivers have fixes: /dev/a is followed, and /dev/b left out"])
        #expect(log.deviceText(places: "way.nmea", from: "log").contains("# \(log.notes[0])\n"))
        let gone = #"{"class":"DEVICE","path":"/dev/a","activated":0}"#
        log = Self.log([at(0, "/dev/a"), gone, at(1, "/dev/b")], .gpsd)
        #expect(log.points.map(\.place.latitude) == [10, 11])
        #expect(log.notes == [])
    }

    private static let greeting = [
        #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#,
        #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/ttyACM0"}]}"#,
    ]
    private static let sentences = [
        "$GNRMC,100000.00,A,1000.00000,N,02000.00000,E,2.5,0.0,150626,,,A,V*39",
        "$GNGGA,100000.00,1000.00000,N,02000.00000,E,1,08,0.9,100.0,M,40.0,M,,*74",
        "$GNRMC,100001.00,A,1000.06000,N,02000.00000,E,2.5,0.0,150626,,,A,V*3E",
    ]

    @Test(
        "What gpspipe writes is NMEA where it is the receivers' words, and gpsd's where it has reports, with times too"
    )
    func relayed() {
        let watch = #"{"class":"WATCH","enable":true,"json":false,"nmea":true}"#
        for front in ["", "2026-06-15 10:00:00.5: "] {
            let lines = (Self.greeting + [watch] + Self.sentences).map { front + $0 }
            #expect(PlaceLog.detect(Array(lines.joined(separator: "\n").utf8)) == .nmea)
            let log = Self.log(lines, .nmea)
            // 15 June 2026, 10:00:00 UTC.
            #expect(log.points.map(\.timestamp) == [1_781_517_600, 1_781_517_601])
            #expect(Self.skipped(log) == ["3 lines of gpsd's own"])
            let reports = (Self.greeting + Self.sentences + [Self.report(0, #""lat":1,"lon":2"#)]).map { front + $0 }
            #expect(PlaceLog.detect(Array(reports.joined(separator: "\n").utf8)) == .gpsd)
            #expect(Self.log(reports, .gpsd).points.count == 1)
        }
    }

    @Test(
        "A log is known by any of its forms",
        arguments: [
            ("$GNRMC,100000.00,A,1000.00000,N,02000.00000,E,2.5,0.0,150626,,,A,V", PlaceLog.Form.nmea),
            (
                "\\s:GP0001,c:1623752500*29\\$GNRMC,100000.00,A,1000.00000,N,02000.00000,E,2.5,0.0,150626,,,A,V*39",
                .nmea
            ),
            ("noise\n!AIVDM,1,1,,A,13aG?P0P00PD;88MD5MTDww@2<0L,0*71", .nmea),
            ("<?xml version='1.0'?><ns0:gpx xmlns:ns0='http://www.topografix.com/GPX/1/1'>", .gpx),
        ]
    )
    func forms(text: String, form: PlaceLog.Form) {
        #expect(PlaceLog.detect(Array(text.utf8)) == form)
        #expect(PlaceLog.detect(Array("$HELLO,1\n# 10:00 $x\n<!-- <gpx> -->".utf8)) == nil)
    }

    @Test("Sentences are counted by what they are, and what is assumed of them is said")
    func counted() throws {
        let log = Self.log(
            [
                "$GPGGA,101500,1030.0,N,02015.0,E,1,08,1.0,100.0,M,10.0,M,,",
                "$GPGGA,101501,1030.0,N,02015.1,E,1,08,1.0,100.0,M,10.0,M,,",
                "$GPGGA,101560,1030.0,N,02015.1,E,1,08,1.0,100.0,M,10.0,M,,", "$GPRMC,,V,,,,,,,,,,N", "$GPGSV,1,1,00",
                "$PUBX,40,GLL,0,0,0,0", "!AIVDM,1,1,,A,13aG?P0P00PD;88MD5MTDww@2<0L,0*71", "$GPGGA,1015*00",
                "{\"class\":\"SKY\"}",
            ],
            .nmea
        )
        #expect(log.points.map(\.timestamp) == [946_721_700, 946_721_701])
        #expect(
            Self.skipped(log) == [
                "1 damaged sentences", "1 sentences that say nothing of the position",
                "1 sentences of a receiver that knows neither time nor place", "1 sentences of a leap second",
                "1 makers' own sentences", "1 sentences of AIS", "1 lines of gpsd's own",
            ]
        )
        #expect(
            log.notes == [
                "2 sentences without a checksum are taken as they are",
                "no sentence says the date: 2000-01-01 is assumed",
            ]
        )
        try Self.expectWritten(log)
    }

    @Test("The same time of three days is three places, and the moments of a cold start are counted")
    func days() throws {
        func rmc(_ time: String, _ status: String, _ date: String) -> String {
            "$GPRMC,\(time),\(status),4807.038,N,01131.000,E,0.0,0.0,\(date),,,A"
        }
        let log = Self.log(
            [
                rmc("000010", "V", "060180"), rmc("120000", "A", "010126"), rmc("120000", "A", "020126"),
                rmc("120000", "A", "030126"), rmc("120001", "V", "060180"),
            ],
            .nmea
        )
        #expect(log.points.map(\.timestamp) == [1_767_268_800, 1_767_355_200, 1_767_441_600])
        #expect(Self.skipped(log) == ["2 moments without a fix"])
        try Self.expectWritten(log)
    }

    @Test("Of GPX that is damaged what was not read is counted, and the file that is written has no comment's place")
    func lenientGPX() throws {
        let text = """
            <gpx><!-- <trkpt lat="50" lon="8"/> --><trk><trkseg>
            <trkpt lat="10.0000000000000017763568394002504646778106689453125" lon = "20.0"/><trkpt lat="11" lon="20"/>
            <a b="<"/><trkpt lat="12" lon="20"/>
            """
        let log = PlaceLog(Array(text.utf8), .gpx)
        let read = log.points.count
        #expect(log.points.map(\.place.latitude).prefix(2) == [10.000000000000002, 11])
        #expect(read == 3 || Self.skipped(log).contains("\(3 - read) places behind what is no XML"))
        #expect(try GPXFile.parse(Array(log.placesText.utf8), file: "way.gpx").points.count == read)
    }

    /// The places, to a tenth of a metre, and their times are in the written log.
    private static func expectWritten(_ log: PlaceLog) throws {
        guard case .log(let entries) = try track(log).path else {
            Issue.record("no log")
            return
        }
        #expect(entries.count == log.points.count)
        let start = try #require(log.points.first?.timestamp)
        for (entry, point) in zip(entries, log.points) {
            let read = try #require(entry.point)
            #expect(abs(read.place.latitude - point.place.latitude) < 1e-6)
            #expect(abs(read.place.longitude - point.place.longitude) < 1e-6)
            #expect(abs(Double(entry.offset.milliseconds) / 1000 - (try #require(point.timestamp) - start)) < 0.002)
            if let altitude = point.altitude { #expect(abs(try #require(read.altitude) - altitude) <= 0.06) }
            if let speed = point.speed { #expect(abs(try #require(read.speed) - speed) < 0.01) }
            if let accuracy = point.horizontalAccuracy {
                #expect(abs(try #require(read.horizontalAccuracy) - accuracy) < 0.2)
            }
        }
    }

    @Test("Moments of the calendar are those of the reader of times", arguments: 0..<200)
    func calendar(seed: UInt64) throws {
        var state = seed
        let seconds = Double(Int64(Mixing.next(&state) % 200_000_000_000_000)) / 1000 - 60_000_000_000
        let parts = try #require(UTCTime.Parts(seconds))
        #expect(
            UTCTime.seconds(dateTime: parts.dateTime).map { abs($0 - seconds) < 0.0005 } == true,
            "\(parts.dateTime)"
        )
    }
}

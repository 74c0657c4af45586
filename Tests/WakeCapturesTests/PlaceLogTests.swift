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

    @Test("What NMEA cannot say is left out and counted: other centuries, and moments of one time of day")
    func unwritable() throws {
        let times = ["1972-05-06T07:32:00Z", "2024-05-06T07:32:00Z", "2025-05-06T07:32:00Z", "2025-05-06T07:32:01Z"]
        let lines = times.map { "{\"class\":\"TPV\",\"mode\":3,\"time\":\"\($0)\",\"lat\":48.1,\"lon\":11.5}" }
        let log = PlaceLog(Array(lines.joined(separator: "\n").utf8), .gpsd)
        #expect(log.points.map(\.timestamp) == [1_714_980_720, 1_746_516_721])
        #expect(
            log.skipped.map { "\($0.count) \($0.why)" } == [
                "1 places before 1980 or after 2079", "1 places at the same time of day as one just before",
            ]
        )
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

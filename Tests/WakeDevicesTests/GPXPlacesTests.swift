import Foundation
import Testing

@testable import WakeDevices

private func read(_ text: String) -> GPXPlaces { GPXPlaces(Array(text.utf8)) }

private func latitudes(_ read: GPXPlaces) -> [Double] {
    read.places.compactMap { place -> Double? in
        guard case .point(let point) = place else { return nil }
        return point.place.latitude
    }
}

private func reasons(_ read: GPXPlaces) -> [String] {
    read.places.compactMap { place -> String? in
        guard case .leftOut(let why) = place else { return nil }
        return why
    }
}

private func point(_ latitude: String) -> String { "<trkpt lat=\"\(latitude)\" lon=\"20\"><ele>5</ele></trkpt>" }

@Suite("Places of other programs' GPX")
struct GPXPlacesTests {
    @Test(
        "GPX is read as XML: comments, prefixes, spaces, CDATA and attributes of any element",
        arguments: [
            "<!-- \(point("50")) -->\(point("10"))\(point("11"))",
            "<x:trkpt lat='10' lon='20'/><x:trkpt lat='11' lon='20'></x:trkpt>",
            "<trkpt lat = \"10\" lon\n=\t'20'/><trkpt lon=' 20 ' lat=' 11 ' />",
            "<trkpt lat='10' lon='20' note='a > b'/><trkpt lat='11' lon='20'><name>&lt;trkpt lat='50'></name></trkpt>",
            "<trkpt lat='10' lon='20'><desc><![CDATA[<trkpt lat='50' lon='20'>]]></desc></trkpt>\(point("11"))",
            "<trkpt lat='1e1' lon='+20.'/><trkpt lat='11.' lon='20'/>",
        ]
    )
    func xml(body: String) {
        let places = read("<gpx xmlns:x=\"u\" creator=\"x > y\"><trk><trkseg>\(body)</trkseg></trk></gpx>")
        #expect(latitudes(places) == [10, 11])
        #expect(reasons(places) == [] && places.more == 0 && places.unread == 0)
    }

    @Test("The children of a place alone are its height and time, with attributes and in CDATA too")
    func children() {
        let places = read(
            """
            <gpx><trk><trkseg><trkpt lat="10" lon="20">
            <extensions><time>1999-01-01T00:00:00Z</time><ele>7</ele></extensions>
            <time xml:space="preserve"> 2025-05-06T07:32:00Z </time><ele><![CDATA[520.5]]></ele>
            </trkpt><trkpt lat="11" lon="20"><time/></trkpt></trkseg></trk></gpx>
            """
        )
        let place = Coordinate(latitude: 10, longitude: 20)
        let next = Coordinate(latitude: 11, longitude: 20)
        let first = TrackPoint(place, altitude: 520.5, timestamp: 1_746_516_720)
        #expect(places.places == [.point(first), .point(TrackPoint(next))])
    }

    @Test("A time may have a blank for its T, and one that cannot be read leaves the place out")
    func times() {
        func place(_ time: String) -> String { "<trkpt lat='1' lon='2'><time>\(time)</time></trkpt>" }
        let places = read("<gpx>\(place("2025-05-06 07:32:00Z"))\(place("yesterday"))</gpx>")
        let point = TrackPoint(Coordinate(latitude: 1, longitude: 2), timestamp: 1_746_516_720)
        #expect(places.places == [.point(point), .leftOut("places whose time cannot be read")])
    }

    @Test("Numbers may have any length")
    func longNumbers() {
        let long = "10.0000000000000017763568394002504646778106689453125"
        let digits = "11." + String(repeating: "0", count: 2_000)
        #expect(latitudes(read("<gpx>\(point(long))\(point(digits))</gpx>")) == [10.000000000000002, 11])
    }

    @Test("Tracks go before routes, and those before waypoints")
    func kinds() {
        let (way, route) = ("<wpt lat='1' lon='2'/>", "<rte><rtept lat='3' lon='4'/></rte>")
        #expect(latitudes(read("<gpx>\(way)\(route)\(point("5"))</gpx>")) == [5])
        #expect(latitudes(read("<gpx>\(way)\(route)</gpx>")) == [3])
        #expect(latitudes(read("<gpx>\(way)</gpx>")) == [1])
        #expect(read("<gpx/>").places == [])
    }

    @Test(
        "Of a file that is cut short the places before the cut are kept, and the cut one is counted",
        arguments: [
            "<trkpt lat=\"2\" lon=\"3\"><ti", "<trkpt lat=\"2\" lo", "<trkpt lat=\"2\" lon=\"3\"",
            "<trkpt lat=\"2\" lon=\"3\">",
        ]
    )
    func cut(end: String) {
        let places = read("<gpx><trk><trkseg>\(point("1"))\(end)")
        #expect(latitudes(places) == [1])
        #expect(reasons(places).count + places.unread == 1)
    }

    @Test("A place that is not ended is cut short by the next, and a second file behind the first is read")
    func notEnded() {
        let places = read("<gpx><trk>\(point("1"))<trkpt lat=\"2\" lon=\"3\"><time>2025\(point("3"))</trk></gpx>")
        #expect(latitudes(places) == [1, 3])
        #expect(reasons(places) == ["places that are cut short"])
        let declared = ["1", "2"].map { "<?xml version='1.0'?><gpx>\(point($0))</gpx>\n" }
        #expect(latitudes(read(declared.joined())) == [1, 2])
    }

    @Test("What stands behind something that is no XML is read, or counted as not read")
    func damage() {
        for damage in [
            "<name>a < b</name>", "<name>a & b &c;</name>", "<a b=\"<\"/>", "<a b=c/>", "\u{1}", "</trk></trk></trk>",
        ] {
            let places = read("<gpx><trk>\(point("1"))\(damage)\(point("2"))\(point("3"))</trk></gpx>")
            #expect(latitudes(places).first == 1, "\(damage)")
            #expect(places.places.count + places.unread == 3, "\(damage)")
        }
    }

    @Test("Other encodings, a byte order mark and what stands before the first element do not matter")
    func encodings() {
        let text = "<gpx><name>Überführung</name>\(point("1"))</gpx>"
        let wide = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        let swapped = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        let latin = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>" + text
        let forms: [[UInt8]] = [
            [0xff, 0xfe] + wide, wide, [0xfe, 0xff] + swapped, swapped, [0xef, 0xbb, 0xbf] + Array(text.utf8),
            latin.unicodeScalars.map { UInt8($0.value) }, Array("\r\n junk \(text)".utf8),
        ]
        for bytes in forms { #expect(latitudes(GPXPlaces(bytes)) == [1], "\(bytes.prefix(8))") }
        #expect(read("").places == [])
        #expect(read("no XML").places == [])
    }

    @Test("What begins an instruction in a comment or CDATA takes nothing with it that stands behind that")
    func commentedInstruction() {
        for before in ["<!-- <? -->", "<name><![CDATA[<?]]></name>", "<!--> <? -->"] {
            #expect(latitudes(read("<gpx>\(before)\(point("1"))<?m n?>\(point("2"))</gpx>")) == [1, 2], "\(before)")
        }
    }

    @Test("Entities that a file declares are not expanded, and its places are read")
    func entities() {
        let text = """
            <!DOCTYPE gpx [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
            <gpx><metadata><name>&b;</name></metadata>\(point("1"))</gpx>
            """
        #expect(latitudes(read(text)) == [1])
        #expect(latitudes(read("<!DOCTYPE gpx SYSTEM \"gpx.dtd\"><gpx>\(point("1"))</gpx>")) == [1])
    }

    @Test("A file of GPX is told by its first element, with any prefix, and not by a comment")
    func told() {
        for text in ["<?xml version='1.0'?>\n<gpx>", "<!-- <kml> --><gpx version='1.1'", "<ns0:gpx xmlns:ns0='u'>"] {
            #expect(GPXPlaces.isGPX(Array(text.utf8)), "\(text)")
            #expect(GPXPlaces.isGPX(text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), 0] }), "\(text)")
        }
        for text in ["<kml><!-- <gpx> --></kml>", "<gpxdata>", "gpx", ""] {
            #expect(!GPXPlaces.isGPX(Array(text.utf8)), "\(text)")
        }
    }

    @Test("A GPX file cut at each byte, and scrambled, never crashes")
    func scrambled() {
        let body = point("1") + "<?m?><!-- a --><trkpt lat='2' lon='3'><time><![CDATA[x]]></time></trkpt>"
        let bytes = Array(
            "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><gpx><x:trk>\(body)&b;</x:trk></gpx>".utf8
        )
        for length in bytes.indices { _ = GPXPlaces(Array(bytes[..<length])) }
        var random = Scrambler(seed: 12)
        for _ in 0..<3_000 {
            let read = GPXPlaces(random.scramble(bytes))
            #expect(latitudes(read).allSatisfy { (-90...90).contains($0) })
        }
    }
}

import Foundation
import Testing
import WakeDevices

private func gpx(_ body: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">
    \(body)
    </gpx>
    """
}

private func parse(_ text: String) throws(FileError) -> GPXFile {
    try GPXFile.parse(Array(text.utf8), file: "way.gpx")
}

private let track = gpx(
    """
    <wpt lat="1" lon="2"><name>Home</name></wpt>
    <rte><rtept lat="3" lon="4"/></rte>
    <trk><name>A &amp; B</name><trkseg>
    <trkpt lat="48.1" lon="11.5"><ele>520.5</ele><time>2025-05-06T07:32:00Z</time></trkpt>
    <trkpt lat="48.2" lon="11.6"><time> 2025-05-06T09:32:10.5+02:00 </time>
    <extensions><speed><ele>7</ele></speed></extensions></trkpt></trkseg>
    <trkseg><trkpt lat="48.3" lon="180"><time>2025-05-06T07:32:20</time></trkpt></trkseg></trk>
    """
)

@Suite("GPX files")
struct GPXTests {
    @Test("The places of tracks are read with heights and times, those of all segments")
    func tracks() throws {
        let points = try parse(track).points
        #expect(points.map(\.place.latitude) == [48.1, 48.2, 48.3])
        #expect(points.map(\.place.longitude) == [11.5, 11.6, -180])
        #expect(points.map(\.altitude) == [520.5, nil, nil])
        #expect(points.map(\.timestamp) == [1_746_516_720, 1_746_516_730.5, 1_746_516_740])
        #expect(points.map(\.line) == [6, 7, 9])
    }

    @Test("Without a track the routes are read, and without those the waypoints")
    func others() throws {
        let way = "<wpt lat='1' lon='2'/><wpt lat='2' lon='2'/>"
        #expect(try parse(gpx(way + "<rte><rtept lat='3' lon='4'/></rte>")).points.map(\.place.latitude) == [3])
        #expect(try parse(gpx(way)).points.map(\.place.latitude) == [1, 2])
    }

    @Test(
        "A wrong GPX file is one line with its place and what was expected",
        arguments: [
            ("lat=\"48.1\"", "lat=\"98.1\"", "way.gpx:6: a <trkpt> at lat '98.1', lon '11.5'; expected lat from"),
            ("lat=\"48.1\"", "", "way.gpx:6: a <trkpt> at lat nothing"),
            ("lat=\"48.1\"", "lat=\"nan\"", "way.gpx:6: a <trkpt> at lat 'nan'"),
            ("520.5", "high", "way.gpx:6: <ele> 'high'; expected metres above sea level"),
            ("2025-05-06T07:32:00Z", "yesterday", "way.gpx:6: <time> 'yesterday'; expected a time such as"),
            ("2025-05-06T07:32:00Z", "2025-02-30T07:32:00Z", "<time> '2025-02-30T07:32:00Z'"),
            ("2025-05-06T07:32:00Z", "2025-05-06T08:32:00Z", "way.gpx:7: a <time> before that of the point before it"),
            ("<time>2025-05-06T07:32:20</time>", "", "way.gpx:9: a point without <time> among points with one"),
            ("<trkseg>\n<trkpt", "<trkpt", "text that is no well-formed XML; expected a GPX 1.1 file"),
            ("<gpx ", "<kml ", "way.gpx:2: the element <kml>; expected <gpx>"),
        ]
    )
    func wrong(what: String, with replacement: String, part: String) {
        let text = track.replacing(what, with: replacement, maxReplacements: 1)
        #expect(text != track)
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error.map { "\($0)" }?.contains(part) == true, "\(error as Any)")
    }

    @Test("Numbers may have any length and white space around them, and text may be CDATA")
    func forms() throws {
        let long = "48.10000000000000142108547152020037174224853515625000"
        let text = track.replacing("lat=\"48.1\"", with: "lat = \" \(long) \"").replacing(
            "520.5",
            with: "<![CDATA[520.5]]>"
        )
        #expect(text != track)
        #expect(try parse(text) == parse(track))
    }

    @Test("A file without a place is refused")
    func empty() {
        for text in [gpx(""), ""] {
            let error = #expect(throws: FileError.self) { try parse(text) }
            #expect(error?.description == "way.gpx:1: no place; expected a track, a route or a waypoint")
        }
    }

    @Test("A file that declares entities is refused before they are expanded")
    func entities() {
        let text = """
            <?xml version="1.0"?>
            <!DOCTYPE gpx [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>
            <gpx><wpt lat="1" lon="2"><name>&c;</name></wpt></gpx>
            """
        var error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error?.line == 2)
        #expect(error?.found == "a declaration <!DOCTYPE")
        let outside =
            "<!DOCTYPE gpx [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><gpx><wpt lat='1' lon='2'>&a;</wpt></gpx>"
        error = #expect(throws: FileError.self) { try parse(outside) }
        #expect(
            error?.description
                == "way.gpx:1: a declaration <!DOCTYPE; expected GPX without declarations of its own"
        )
    }

    /// The bytes of a text in UTF-16, with a byte order mark.
    private static func wide(_ text: String, big: Bool) -> [UInt8] {
        ([0xfeff] + Array(text.utf16)).flatMap { unit in
            let pair = [UInt8(truncatingIfNeeded: unit >> 8), UInt8(truncatingIfNeeded: unit)]
            return big ? pair : pair.reversed()
        }
    }

    @Test("A GPX file in UTF-16 is read as the same in UTF-8, with its lines", arguments: [true, false])
    func utf16(big: Bool) throws {
        let text = track.replacing("UTF-8", with: "utf-16").replacing("A &amp; B", with: "Überführung 🚲")
        let read = try GPXFile.parse(Self.wide(text, big: big), file: "way.gpx")
        #expect(read == (try parse(track)))
        let marked = [0xef, 0xbb, 0xbf] + Array(track.utf8)
        #expect(try GPXFile.parse(marked, file: "way.gpx") == read)
    }

    @Test(
        "An encoding other than UTF-8 and UTF-16, and one that the bytes contradict, is refused in line 1",
        arguments: ["ISO-8859-1", "UTF-7", "US-ASCII", "EBCDIC-CP-US", "utf-16", "", "UTF-32"]
    )
    func otherEncodings(name: String) {
        var error = #expect(throws: FileError.self) { try parse(track.replacing("UTF-8", with: name)) }
        #expect(error?.line == 1)
        #expect(error?.found == "the encoding '\(name.lowercased())' in a file that is utf-8")
        error = #expect(throws: FileError.self) { try GPXFile.parse(Self.wide(track, big: true), file: "way.gpx") }
        #expect(error?.line == 1)
        #expect(error?.found == "the encoding 'utf-8' in a file that is utf-16")
        error = #expect(throws: FileError.self) {
            try parse(track.replacing("encoding=\"UTF-8\"", with: "encoding=UTF-7"))
        }
        #expect(error?.line == 1)
        #expect(error?.found == "the encoding '' in a file that is utf-8")
    }

    @Test("Entities that UTF-7 hides are not expanded")
    func hiddenEntities() {
        let text = """
            <?xml version="1.0" encoding="UTF-7"?>
            +ADwAIQ-DOCTYPE gpx +AFsAPAAh-ENTITY a "aaaaaaaaaa"+AD4AXQA+
            <gpx><wpt lat="1" lon="2"><name>+ACY-a;</name></wpt></gpx>
            """
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error?.found == "the encoding 'utf-7' in a file that is utf-8")
    }

    @Test(
        "Processing instructions are passed over, and one of a single word ends nothing",
        arguments: ["<?m?>", "<?m n?>"]
    )
    func instructions(instruction: String) throws {
        let text = "<gpx>\(instruction)<wpt lat='1' \n lon='2'>\(instruction)</wpt></gpx>"
        #expect(try GPXFile.parse(Array(text.utf8), file: "a.gpx").points.map(\.place.latitude) == [1])
        let error = #expect(throws: FileError.self) { try GPXFile.parse(Array("<gpx><?m".utf8), file: "a.gpx") }
        #expect(error?.description == "a.gpx:1: text that is no well-formed XML; expected a GPX 1.1 file")
    }

    @Test("UTF-16 cut in a character, and a zero byte, are refused")
    func brokenEncodings() {
        let text = Self.wide(track.replacing("UTF-8", with: "UTF-16"), big: false)
        for bytes in [Array(text.dropLast()), [0xff, 0xfe, 0x00, 0xd8]] {
            let error = #expect(throws: FileError.self) { try GPXFile.parse(bytes, file: "way.gpx") }
            let line = "way.gpx:1: bytes that are no UTF-16; expected a GPX 1.1 file in UTF-8 or UTF-16"
            #expect(error?.description == line)
        }
        let error = #expect(throws: FileError.self) { try parse(track.replacing("520.5", with: "52\0")) }
        #expect(error.map { "\($0)" } == "way.gpx:6: a zero byte; expected text")
    }

    @Test("A GPX file cut at each byte, and scrambled, never crashes")
    func cut() {
        let bytes = Array(track.utf8)
        for length in bytes.indices {
            #expect((try? GPXFile.parse(Array(bytes[..<length]), file: "way.gpx")) == nil, "\(length) bytes")
        }
        var random = Scrambler(seed: 3)
        for _ in 0..<3_000 {
            guard let read = try? GPXFile.parse(random.scramble(bytes), file: "way.gpx") else { continue }
            let places = read.points.map(\.place)
            #expect(!places.isEmpty && places.allSatisfy { Coordinate(checking: $0.latitude, $0.longitude) == $0 })
        }
    }
}

import Foundation
import FoundationXML

/// A GPX 1.1 file: the places of its tracks, else of its routes, else its waypoints, in the order of the file.
package struct GPXFile: Hashable, Sendable {
    /// A place, and when it was reached.
    package struct Point: Hashable, Sendable {
        package var place: Coordinate
        /// Metres above mean sea level.
        package var altitude: Double?
        /// Seconds since 1970.
        package var timestamp: Double?
        /// Counted from 1.
        package var line: Int
    }

    /// The most places of a file.
    package static let pointLimit = 200_000
    /// The most bytes of a time or a height, about.
    static let textLimit = 4_096

    package var points: [Point]

    /// Reads the text of a file; `file` is for errors.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    package static func parse(_ bytes: [UInt8], file: String) throws(FileError) -> GPXFile {
        guard bytes.count <= YAMLReader.byteLimit else {
            throw FileError(
                file: file,
                line: 0,
                found: "more than \(YAMLReader.byteLimit) bytes",
                expected: "at most \(YAMLReader.byteLimit) bytes"
            )
        }
        let reading = GPXReading(file: file)
        let parser = XMLParser(data: Data(try GPXText.decode(bytes, file: file)))
        parser.delegate = reading
        let isWhole = parser.parse()
        if let error = reading.error { throw error }
        guard isWhole, reading.isWhole else {
            throw FileError(
                file: file,
                line: reading.lastLine,
                found: "text that is no well-formed XML",
                expected: "a GPX 1.1 file"
            )
        }
        let points = [reading.tracks, reading.routes, reading.waypoints].first { !$0.isEmpty }
        guard let points else {
            throw FileError(file: file, line: 1, found: "no place", expected: "a track, a route or a waypoint")
        }
        return GPXFile(points: try checked(points, file: file))
    }

    /// The name of an element without a prefix such as `gpx:`.
    static func local(_ name: String) -> Substring { name.split(separator: ":").last ?? "" }

    /// A number, of any length and with white space around it; nil when it is none.
    static func number(_ text: String?) -> Double? {
        guard let text, let value = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)), value.isFinite else {
            return nil
        }
        return value
    }

    /// Either every point has a time or none, and time goes on.
    private static func checked(_ points: [Point], file: String) throws(FileError) -> [Point] {
        for (before, point) in zip(points, points.dropFirst()) {
            switch (before.timestamp, point.timestamp) {
            case (nil, nil): continue
            case (let earlier?, let later?) where earlier <= later: continue
            case (.some, .some):
                throw FileError(
                    file: file,
                    line: point.line,
                    found: "a <time> before that of the point before it",
                    expected: "points in the order of time"
                )
            default:
                throw FileError(
                    file: file,
                    line: (before.timestamp == nil ? before : point).line,
                    found: "a point without <time> among points with one",
                    expected: "a <time> in each or in none"
                )
            }
        }
        return points
    }
}

/// Takes in a GPX file element by element.
private final class GPXReading: NSObject, XMLParserDelegate {
    private let file: String
    private(set) var error: FileError?
    private(set) var tracks: [GPXFile.Point] = []
    private(set) var routes: [GPXFile.Point] = []
    private(set) var waypoints: [GPXFile.Point] = []
    private(set) var lastLine = 1
    private var elements: [String] = []
    private var isBroken = false
    private var depth: Int { elements.count }
    private var point: GPXFile.Point?
    private var pointDepth = 0
    private var text = ""

    init(file: String) { self.file = file }

    /// Whether all that was opened was closed, and the parser had nothing to mend.
    var isWhole: Bool { elements.isEmpty && !isBroken }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) { isBroken = true }

    private func stop(_ parser: XMLParser, line: Int? = nil, found: String, expected: String) {
        if error == nil {
            error = FileError(file: file, line: line ?? parser.lineNumber, found: found, expected: expected)
        }
        parser.abortParsing()
    }

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        guard error == nil else { return }
        elements.append(element)
        lastLine = parser.lineNumber
        let name = GPXFile.local(element)
        if depth == 1, name != "gpx" {
            return stop(parser, found: "the element <\(excerpt(element))>", expected: "<gpx>")
        }
        if depth > YAMLReader.depthLimit {
            return stop(parser, found: "more than \(YAMLReader.depthLimit) levels of elements", expected: "fewer")
        }
        text = ""
        guard point == nil, name == "trkpt" || name == "rtept" || name == "wpt" else { return }
        guard let latitude = GPXFile.number(attributes["lat"]), let longitude = GPXFile.number(attributes["lon"]),
            let place = Coordinate(checking: latitude, longitude)
        else {
            return stop(
                parser,
                found: "a <\(name)> at lat \(quoted(attributes["lat"])), lon \(quoted(attributes["lon"]))",
                expected: "lat from -90 to 90 and lon from -180 to 180"
            )
        }
        if tracks.count + routes.count + waypoints.count >= GPXFile.pointLimit {
            return stop(parser, found: "more than \(GPXFile.pointLimit) points", expected: "fewer")
        }
        point = GPXFile.Point(place: place, line: parser.lineNumber)
        pointDepth = depth
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        // Only the children of a point are read, and they are short.
        if point != nil, depth == pointDepth + 1, text.utf8.count < GPXFile.textLimit { text += string }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        self.parser(parser, foundCharacters: String(decoding: block, as: UTF8.self))
    }

    func parser(
        _ parser: XMLParser,
        didEndElement element: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard error == nil else { return }
        // The parser mends a missing end by calling the wrong one.
        guard elements.last == element else { return isBroken = true }
        lastLine = parser.lineNumber
        defer { elements.removeLast() }
        guard var read = point else { return }
        if depth == pointDepth {
            switch GPXFile.local(element) {
            case "trkpt": tracks.append(read)
            case "rtept": routes.append(read)
            default: waypoints.append(read)
            }
            point = nil
        } else if depth == pointDepth + 1 {
            let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
            switch GPXFile.local(element) {
            case "ele":
                guard let altitude = GPXFile.number(value), abs(altitude) < 100_000 else {
                    return stop(parser, found: "<ele> \(quoted(value))", expected: "metres above sea level")
                }
                read.altitude = altitude
            case "time":
                guard let timestamp = UTCTime.seconds(dateTime: value) else {
                    return stop(
                        parser,
                        found: "<time> \(quoted(value))",
                        expected: "a time such as 2024-05-06T07:08:09Z"
                    )
                }
                read.timestamp = timestamp
            default: return
            }
            point = read
        }
    }

    private func quoted(_ text: String?) -> String { text.map { "'\(excerpt($0))'" } ?? "nothing" }
}

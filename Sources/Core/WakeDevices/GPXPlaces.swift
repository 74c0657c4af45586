import Foundation
import FoundationXML

/// The places of a GPX file of another program's, read leniently: of its tracks, else of its routes, else its waypoints.
///
/// A file that is cut short has the places before the cut, and one that is no well-formed XML those before the damage.
package struct GPXPlaces: Hashable, Sendable {
    /// A place of the file, or why it is none.
    package enum Place: Hashable, Sendable {
        case point(TrackPoint)
        case leftOut(String)
    }

    /// In the order of the file, at most ``GPXFile/pointLimit``.
    package let places: [Place]
    /// How many more there are.
    package let more: Int
    /// How many stand behind the damage.
    package let unread: Int

    package init(_ bytes: [UInt8]) {
        let text = GPXText.decodeLeniently(bytes)
        let reading = GPXPlaceReading()
        let parser = XMLParser(data: Data(text))
        parser.delegate = reading
        _ = parser.parse()
        reading.end()
        var (places, more, unread) = ([Place](), 0, 0)
        for kind in GPXPlaceReading.kinds where places.isEmpty {
            if let found = reading.found[kind] { (places, more) = (found.places, found.more) }
            unread += max(0, GPXText.count(kind, in: text) - places.count - more)
        }
        (self.places, self.more, self.unread) = (places, more, unread)
    }

    /// Whether the beginning of a file is one of GPX; zeros in it do not matter.
    package static func isGPX(_ beginning: [UInt8]) -> Bool {
        GPXText.count("gpx", in: beginning.filter { $0 != 0 }) > 0
    }
}

/// Takes in a GPX file element by element, whatever its elements stand in.
private final class GPXPlaceReading: NSObject, XMLParserDelegate {
    /// Elements with places, the best first.
    static let kinds = ["trkpt", "rtept", "wpt"]

    struct Found {
        var places: [GPXPlaces.Place] = []
        var more = 0

        mutating func add(_ place: GPXPlaces.Place) {
            if places.count < GPXFile.pointLimit { places.append(place) } else { more += 1 }
        }
    }

    /// By the kind of element.
    private(set) var found: [String: Found] = [:]
    private var depth = 0
    /// The place that is not ended yet.
    private var open: (kind: String, place: GPXPlaces.Place, depth: Int)?
    /// What a child of it says.
    private var text = ""

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        depth += 1
        text = ""
        let kind = String(GPXFile.local(element))
        guard Self.kinds.contains(kind) else { return }
        // No place stands in another.
        end()
        let latitude = GPXFile.number(attributes["lat"])
        guard let latitude, let longitude = GPXFile.number(attributes["lon"]),
            let place = Coordinate(checking: latitude, longitude)
        else { return open = (kind, .leftOut("places without a latitude and a longitude"), depth) }
        open = (kind, .point(TrackPoint(place)), depth)
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if depth - 1 == open?.depth, text.utf8.count < GPXFile.textLimit { text += string }
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
        defer { depth -= 1 }
        guard let open else { return }
        if depth == open.depth {
            found[open.kind, default: Found()].add(open.place)
            self.open = nil
        } else if depth == open.depth + 1, case .point(let point) = open.place {
            self.open?.place = Self.place(point, GPXFile.local(element), text)
        }
    }

    /// What a child makes of a place.
    private static func place(_ point: TrackPoint, _ name: Substring, _ text: String) -> GPXPlaces.Place {
        var point = point
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if name == "ele", let altitude = GPXFile.number(text), abs(altitude) < 100_000 { point.altitude = altitude }
        if name == "time", !text.isEmpty {
            // Some write a blank for the T.
            guard let timestamp = UTCTime.seconds(dateTime: text.replacing(" ", with: "T")) else {
                return .leftOut("places whose time cannot be read")
            }
            point.timestamp = timestamp
        }
        return .point(point)
    }

    /// The end of the file, or the begin of another place.
    func end() {
        guard let open else { return }
        found[open.kind, default: Found()].add(.leftOut("places that are cut short"))
        self.open = nil
    }
}

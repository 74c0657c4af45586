import WakeDevices
import WakeModel

/// Where a receiver or a recording says that somebody was, read leniently: what makes no sense is left out and counted.
package struct PlaceLog: Sendable {
    /// What such logs are written in.
    package enum Form: String, CaseIterable, Sendable {
        case gpx
        case nmea
        case gpsd

        package var name: String {
            switch self {
            case .gpx: "GPX"
            case .nmea: "NMEA 0183"
            case .gpsd: "gpsd JSON"
            }
        }
    }

    /// The most bytes of a log.
    package static let byteLimit = 256 << 20
    /// The most places that are kept: those of the largest file that is played.
    static let pointLimit = 60_000

    package let form: Form
    /// In the order of time, where there are times.
    package private(set) var points: [TrackPoint] = []
    /// Why something was left out, and how often, in the order in which it happened first.
    package private(set) var skipped: [(why: String, count: Int)] = []

    /// The form of a log, by how it begins; nil when it is none.
    package static func detect(_ beginning: [UInt8]) -> Form? {
        let text = beginning.prefix(4096).filter { $0 != 0 }
        if text.firstRange(of: Array("<gpx".utf8)) != nil { return .gpx }
        for line in text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            if NMEASentence(line) != nil { return .nmea }
            if line.first == UInt8(ascii: "{"), line.firstRange(of: Array("\"class\"".utf8)) != nil { return .gpsd }
        }
        return nil
    }

    /// Reads a log.
    package init(_ bytes: [UInt8], _ form: Form) {
        self.form = form
        switch form {
        case .gpx: readGPX(bytes)
        case .nmea: readNMEA(bytes)
        case .gpsd: readGPSD(bytes)
        }
    }

    mutating func skip(_ why: String, _ count: Int = 1) {
        guard count > 0 else { return }
        if let place = skipped.firstIndex(where: { $0.why == why }) {
            skipped[place].count += count
        } else {
            skipped.append((why, count))
        }
    }

    /// Takes a place if its time goes on.
    mutating func take(_ point: TrackPoint) {
        if points.count >= Self.pointLimit { return skip("places beyond the first \(Self.pointLimit)") }
        if let before = points.last?.timestamp {
            guard let timestamp = point.timestamp else { return skip("places without a time among places with one") }
            // A log has times to the millisecond.
            guard timestamp - before >= 0.001 else { return skip("places whose time does not go on") }
        }
        points.append(point)
    }

    /// The seconds since 1970 that NMEA can say, with a year of two digits: those of 1980 to 2079.
    private static let writableTimes = 315_532_800.0..<3_471_292_800

    /// Takes a place with a time if it can be written as NMEA.
    private mutating func takeWritable(_ point: TrackPoint) {
        guard let time = point.timestamp, Self.writableTimes.contains(time) else {
            return skip("places before 1980 or after 2079")
        }
        // Sentences of one time of day are of one moment to whoever reads them, or late ones of the moment before.
        if points.suffix(2).contains(where: { $0.timestamp.map(Self.timeOfDay) == Self.timeOfDay(time) }) {
            return skip("places at the same time of day as one just before")
        }
        take(point)
    }

    /// In milliseconds.
    private static func timeOfDay(_ timestamp: Double) -> Int { Int((timestamp * 1000).rounded()) % 86_400_000 }

    private mutating func readNMEA(_ bytes: [UInt8]) {
        let (moments, counts) = NMEAReader.moments(of: bytes)
        // A log without a date begins in 1970, which two digits cannot say: it is written from 2000 on.
        let shift = moments.contains(where: \.isDated) ? 0 : 946_684_800.0
        for moment in moments {
            guard var point = moment.point else {
                skip("moments without a fix")
                continue
            }
            point.timestamp = moment.timestamp + shift
            takeWritable(point)
        }
        skip("damaged sentences", counts.damaged)
        skip("sentences that say nothing of the position", counts.leftAside)
    }

    private mutating func readGPSD(_ bytes: [UInt8]) {
        for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            guard line.count <= 65_536, let said = GPSDLine(Array(line)) else {
                skip("lines that are none of gpsd's")
                continue
            }
            switch said {
            case .fix(let point) where point.timestamp != nil: takeWritable(point)
            case .fix: skip("fixes without a time")
            case .noFix: skip("reports without a fix")
            case .greeting, .receiver, .watching, .other: skip("lines that say nothing of the position")
            }
        }
    }
}

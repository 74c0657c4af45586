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
    /// How long a track may take, in seconds.
    private static let longest = Double(DurationText.longest.nanoseconds) / 1e9
    static let tooMany = "places beyond the first \(pointLimit)"

    package let form: Form
    /// In the order of time, where there are times.
    package private(set) var points: [TrackPoint] = []
    /// Why something was left out, and how often, in the order in which it happened first.
    package private(set) var skipped: [(why: String, count: Int)] = []
    /// What is assumed of the places, a line each.
    package private(set) var notes: [String] = []

    /// The form of a log, by how it begins; nil when it is none.
    ///
    /// Behind the greeting of a gpsd may come what its receivers say, which is NMEA, or what it says of them itself.
    package static func detect(_ beginning: [UInt8]) -> Form? {
        let text = beginning.prefix(4096).filter { $0 != 0 }
        if GPXPlaces.isGPX(text) { return .gpx }
        var (isGPSD, hasSentences) = (false, false)
        for line in text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            let line = LogLine.body(line)
            if let sentence = NMEASentence(line), sentence.isChecked || NMEASentence.isRead(sentence.kind) {
                if !isGPSD { return .nmea }
                hasSentences = true
            } else if line.first == UInt8(ascii: "{"), line.firstRange(of: Array("\"class\"".utf8)) != nil {
                isGPSD = true
                if line.firstRange(of: Array("\"TPV\"".utf8)) != nil { return .gpsd }
            }
        }
        return hasSentences ? .nmea : isGPSD ? .gpsd : nil
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
        if points.count >= Self.pointLimit { return skip(Self.tooMany) }
        if let before = points.last?.timestamp {
            guard let timestamp = point.timestamp else { return skip("places without a time among places with one") }
            // A log has times to the millisecond.
            guard timestamp - before >= 0.001 else { return skip("places whose time does not go on") }
            let first = points.first?.timestamp ?? before
            guard timestamp - first <= Self.longest else { return skip("places more than 3660 days after the first") }
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
        take(point)
    }

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
        skip("moments without a fix", counts.untimed)
        skip("damaged sentences", counts.damaged)
        skip("sentences that say nothing of the position", counts.leftAside)
        skip("sentences of a receiver that knows neither time nor place", counts.timeless)
        skip("sentences of a leap second", counts.leapSeconds)
        skip("makers' own sentences", counts.makers)
        skip("sentences of AIS", counts.packed)
        skip("lines of gpsd's own", counts.gpsd)
        if counts.unchecked > 0 {
            notes.append("\(counts.unchecked) sentences without a checksum are taken as they are")
        }
        if shift > 0 && !points.isEmpty { notes.append("no sentence says the date: 2000-01-01 is assumed") }
    }

    private mutating func readGPSD(_ bytes: [UInt8]) {
        var receiver = GPSDReceiver()
        var held: TrackPoint?
        for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            guard line.count <= 65_536, let said = GPSDLine(Array(LogLine.body(line))) else {
                skip("lines that are none of gpsd's")
                continue
            }
            switch said {
            case .fix(let point, let device):
                if !receiver.takes(fixOf: device) {
                    skip("fixes of another receiver")
                } else if point.timestamp == nil {
                    skip("fixes without a time")
                } else if held?.timestamp == point.timestamp {
                    // gpsd says more of a moment as it hears more of it.
                    held?.complete(with: point)
                } else {
                    if let held { takeWritable(held) }
                    held = point
                }
            case .noFix: skip("reports without a fix")
            case .receiver(let device, isActive: false) where receiver.isMeant(by: device):
                receiver.forget()
                skip("lines that say nothing of the position")
            case .greeting, .receiver, .watching, .other: skip("lines that say nothing of the position")
            }
        }
        if let held { takeWritable(held) }
        if let note = receiver.note { notes.append(note) }
    }
}

extension NMEAReader {
    /// What the sentences of one moment say together.
    package struct Moment: Hashable, Sendable {
        /// Milliseconds of the day.
        package var timeOfDay: Int
        /// Whether a date has been heard; until then the days count from 1970.
        package var isDated: Bool
        /// Seconds since 1970.
        package var timestamp: Double
        /// Whether its time is believed, as it is with a fix. A receiver without one goes by a clock of its own, which may be
        /// set to anything.
        package var isTimed: Bool
        /// Nil when the receiver does not know where it is.
        package var point: TrackPoint?
    }

    /// The sentences of one moment, as they come.
    struct Gathering: Sendable {
        /// The most sentences said again that are kept apart.
        private static let mostRepeats = 32

        private(set) var timeOfDay: Int
        /// The day that a sentence with a fix has said, since 1970.
        private(set) var day: Int?
        /// By kind.
        private var sentences: [Substring: NMEASentence] = [:]
        /// What was said again once the day was known: of the next day, if that has the same time.
        private var repeats: [NMEASentence] = []

        init(timeOfDay: Int, _ begun: [NMEASentence] = []) {
            self.timeOfDay = timeOfDay
            for sentence in begun { add(sentence) }
        }

        /// Whether a sentence of a time of day is of this moment, whose time is another's than that of GLL where it has one.
        mutating func takes(_ sentence: NMEASentence, at time: Int) -> Bool {
            if NMEAReader.isOf(timeOfDay, sentence, time) { return true }
            guard let first = sentences["GLL"], ["RMC", "GGA", "GNS"].allSatisfy({ sentences[$0] == nil }),
                NMEAReader.isOf(time, first, timeOfDay)
            else { return false }
            timeOfDay = time
            return true
        }

        mutating func add(_ sentence: NMEASentence) {
            if day != nil, sentences[sentence.kind]?.talker == sentence.talker, repeats.count < Self.mostRepeats {
                repeats.append(sentence)
            } else {
                keep(sentence)
            }
        }

        private mutating func keep(_ sentence: NMEASentence) {
            // Once more, and without a fix: GSA has no time, and this one is of the next moment.
            if sentence.kind == "GSA", NMEAReader.saysNoFix(sentence), let known = sentences["GSA"],
                !NMEAReader.saysNoFix(known)
            {
                return
            }
            day = NMEAReader.day(of: sentence) ?? day
            // The talker of all constellations together wins over that of one.
            if sentences[sentence.kind]?.talker != "GN" { sentences[sentence.kind] = sentence }
        }

        /// Ends the moment because its time has come again on another day; gives back what may be that day's.
        mutating func endDay() -> [NMEASentence] {
            defer { repeats.removeAll() }
            return repeats
        }

        /// Ends the moment.
        mutating func end() {
            for sentence in endDay() { keep(sentence) }
        }

        /// Where the receiver is; nil when any of its sentences says that it does not know.
        var point: TrackPoint? {
            if sentences.values.contains(where: NMEAReader.saysNoFix) { return nil }
            let (recommended, fix, combined) = (sentences["RMC"], sentences["GGA"], sentences["GNS"])
            let (course, precision) = (sentences["VTG"], sentences["GSA"])
            let place = fix?.place(1) ?? combined?.place(1) ?? recommended?.place(2) ?? sentences["GLL"]?.place(0)
            guard let place else { return nil }
            var point = TrackPoint(place, altitude: fix == nil ? combined?.number(8) : nil)
            if fix?.text(9) == "M" { point.altitude = fix?.number(8) }
            if let knots = recommended?.number(6) ?? course?.number(4) { point.speed = knots * NMEAReader.knot }
            point.course = recommended?.number(7) ?? course?.number(0)
            let share = (fix ?? combined).map(NMEAReader.isCorrected) == true ? 0.25 : 1
            let dilution = fix?.number(7) ?? combined?.number(7) ?? precision?.number(15)
            if let dilution, dilution > 0, dilution < 99 {
                point.horizontalAccuracy = dilution * NMEAReader.horizontalError * share
            }
            if let dilution = precision?.number(16), dilution > 0, dilution < 99 {
                point.verticalAccuracy = dilution * NMEAReader.verticalError * share
            }
            return point.plausible
        }
    }

    // MARK: What sentences say

    /// Whether a sentence with a time is of the moment of a time of day. Beside other sentences GLL may have its time without
    /// the fraction, or with a digit more.
    static func isOf(_ timeOfDay: Int, _ sentence: NMEASentence, _ time: Int) -> Bool {
        if timeOfDay == time { return true }
        guard sentence.kind == "GLL" else { return false }
        return abs(timeOfDay - time) <= 5
            || sentence.text(4)?.utf8.count == 6 && timeOfDay - timeOfDay % 1000 == time
    }

    /// Where the time of a sentence stands.
    static func timeField(_ kind: Substring) -> Int { kind == "GLL" ? 4 : 0 }

    /// Whether the fields that must be there when there is a fix make sense.
    static func isPlausible(_ sentence: NMEASentence) -> Bool {
        if saysNoFix(sentence) { return true }
        switch sentence.kind {
        case "RMC": return sentence.text(1) == "A" && sentence.place(2) != nil && sentence.date(8) != nil
        case "GLL": return sentence.text(5).map { $0 == "A" } ?? true && sentence.place(0) != nil
        case "GNS": return sentence.text(5)?.allSatisfy { $0.isLetter } == true && sentence.place(1) != nil
        default: return sentence.number(5).map { (0...9).contains($0) } == true && sentence.place(1) != nil
        }
    }

    /// Whether a sentence says that the receiver does not know where it is: status V, quality 0, mode N or 1.
    static func saysNoFix(_ sentence: NMEASentence) -> Bool {
        switch sentence.kind {
        case "RMC": sentence.text(1) == "V"
        case "GGA": sentence.number(5) == 0
        case "GNS": sentence.text(5)?.allSatisfy { $0 == "N" } == true
        case "GLL": sentence.text(5) == "V"
        case "GSA": sentence.number(1) == 1
        default: false
        }
    }

    /// Whether corrections of another station make a fix surer.
    private static func isCorrected(_ sentence: NMEASentence) -> Bool {
        if sentence.kind == "GNS" { return sentence.text(5)?.contains { "DRF".contains($0) } == true }
        return sentence.number(5).map { $0 == 2 || $0 == 4 || $0 == 5 } == true
    }

    /// The day of a sentence since 1970. That of a receiver without a fix is its own clock's, and none.
    static func day(of sentence: NMEASentence) -> Int? {
        sentence.kind == "RMC" && sentence.text(1) == "A" ? sentence.date(8) : nil
    }
}

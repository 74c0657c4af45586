/// Reads what a GNSS receiver says, byte by byte, and puts the sentences of one moment together.
///
/// RMC, GGA, GSA and VTG of any talker are understood; where several constellations speak of one moment, the talker `GN`
/// wins over the others. Other sentences are counted and left aside, damaged ones too: nothing that arrives can stop it.
///
/// A moment is over when a sentence of another time of day arrives, or when ``finish()`` is called because the receiver
/// pauses. What still arrives of a finished moment is left aside.
package struct NMEAReader: Sendable {
    /// What the sentences of one moment say together.
    package struct Moment: Hashable, Sendable {
        /// Milliseconds of the day.
        package var timeOfDay: Int
        /// Whether a date has been heard; until then the days count from 1970.
        package var isDated: Bool
        /// Seconds since 1970.
        package var timestamp: Double
        /// Nil when the receiver does not know where it is.
        package var point: TrackPoint?
    }

    /// How many sentences there were.
    package struct Counts: Hashable, Sendable {
        /// Understood.
        package var sentences = 0
        /// Whole, but of a kind that says nothing of the position.
        package var leftAside = 0
        /// No sentence, a wrong checksum, too long, or with fields that make no sense.
        package var damaged = 0
    }

    /// Metres of error that a horizontal dilution of precision of 1 stands for; with corrections, a quarter of it. These
    /// are the figures of gpsd (95 % of the time within), so that both ways of reading a receiver are equally sure.
    package static let horizontalError = 19.0
    /// The same for the vertical dilution of precision.
    package static let verticalError = 23.0
    /// Logs may have lines that begin with it.
    private static let comment = UInt8(ascii: "#")
    /// Metres a second in a knot.
    package static let knot = 1852.0 / 3600

    package private(set) var counts = Counts()
    private var line: [UInt8] = []
    private var isOverlong = false
    private var gathered: Gathered?
    private var finished: Int?
    private var day: Int?
    /// Days that passed without a date being heard.
    private var undatedDays = 0
    private var lastTimeOfDay: Int?

    package init() {}

    /// Reads a whole log: what was there before its first date gets the days before that one, and without any date the days
    /// count from 1970.
    package static func moments(of log: [UInt8]) -> (moments: [Moment], counts: Counts) {
        var reader = NMEAReader()
        var moments: [Moment] = []
        reader.read(log) { moments.append($0) }
        reader.read(CollectionOfOne(UInt8(ascii: "\n"))) { moments.append($0) }
        if let last = reader.finish() { moments.append(last) }
        if let first = moments.firstIndex(where: \.isDated), first > 0 {
            let (before, dated) = (moments[first - 1], moments[first])
            let isNextDay = isNextDay(dated.timeOfDay, after: before.timeOfDay)
            let between = Double(dated.timeOfDay - before.timeOfDay) / 1000 + (isNextDay ? 86_400 : 0)
            let shift = dated.timestamp - between - before.timestamp
            for place in 0..<first {
                let timestamp = moments[place].timestamp + shift
                moments[place].timestamp = timestamp
                moments[place].point?.timestamp = timestamp
            }
        }
        return (moments, reader.counts)
    }

    /// Whether midnight has passed between two times of day, in milliseconds.
    private static func isNextDay(_ timeOfDay: Int, after before: Int) -> Bool { timeOfDay + 43_200_000 < before }

    /// Takes in bytes and calls back for each moment that they end, the earliest first.
    package mutating func read(_ bytes: some Sequence<UInt8>, _ ended: (Moment) -> Void) {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): lineEnded(ended)
            // A sentence can begin in the middle of one that was cut off.
            case UInt8(ascii: "$") where line.first != Self.comment:
                if !line.isEmpty { counts.damaged += 1 }
                isOverlong = false
                line.removeAll(keepingCapacity: true)
                line.append(byte)
            default:
                guard !isOverlong else { continue }
                line.append(byte)
                if line.count > NMEASentence.lengthLimit {
                    counts.damaged += 1
                    line.removeAll(keepingCapacity: true)
                    isOverlong = true
                }
            }
        }
    }

    /// The moment that is not over yet, ended: to be called at the end of a log, or when the receiver pauses.
    package mutating func finish() -> Moment? {
        guard let gathered else { return nil }
        self.gathered = nil
        finished = gathered.timeOfDay
        return moment(of: gathered)
    }

    /// Forgets what was half read, as when the receiver has been unplugged.
    package mutating func reset() {
        line.removeAll()
        isOverlong = false
        gathered = nil
        finished = nil
    }

    private mutating func lineEnded(_ ended: (Moment) -> Void) {
        defer {
            line.removeAll(keepingCapacity: true)
            isOverlong = false
        }
        guard !line.isEmpty, !isOverlong, line[0] != Self.comment else { return }
        guard let sentence = NMEASentence(line) else {
            counts.damaged += 1
            return
        }
        switch sentence.kind {
        case "RMC", "GGA": timed(sentence, ended)
        case "GSA", "VTG":
            counts.sentences += 1
            gathered?.add(sentence)
        default: counts.leftAside += 1
        }
    }

    private mutating func timed(_ sentence: NMEASentence, _ ended: (Moment) -> Void) {
        guard let time = sentence.timeOfDay(0) else {
            // A receiver that has just started knows no time: its sentences are empty, and whole.
            if sentence.text(0) == nil { counts.leftAside += 1 } else { counts.damaged += 1 }
            return
        }
        guard Gathered.isPlausible(sentence) else {
            counts.damaged += 1
            return
        }
        counts.sentences += 1
        if time == finished { return }
        if let before = gathered, before.timeOfDay != time, let moment = finish() { ended(moment) }
        if gathered == nil { gathered = Gathered(timeOfDay: time) }
        gathered?.add(sentence)
    }

    private mutating func moment(of gathered: Gathered) -> Moment {
        if let date = gathered.date {
            day = date
        } else if let lastTimeOfDay, Self.isNextDay(gathered.timeOfDay, after: lastTimeOfDay) {
            // Midnight has passed, and nobody has said the new date yet.
            if let known = day { day = known + 1 } else { undatedDays += 1 }
        }
        lastTimeOfDay = gathered.timeOfDay
        let timestamp = Double(day ?? undatedDays) * 86_400 + Double(gathered.timeOfDay) / 1000
        var point = gathered.point
        point?.timestamp = timestamp
        return Moment(timeOfDay: gathered.timeOfDay, isDated: day != nil, timestamp: timestamp, point: point)
    }
}

/// The sentences of one moment.
private struct Gathered: Sendable {
    var timeOfDay: Int
    var date: Int?
    private var recommended: NMEASentence?
    private var fix: NMEASentence?
    private var course: NMEASentence?
    private var precision: NMEASentence?

    init(timeOfDay: Int) { self.timeOfDay = timeOfDay }

    /// Whether the fields that must be there when there is a fix make sense.
    static func isPlausible(_ sentence: NMEASentence) -> Bool {
        switch sentence.kind {
        case "RMC":
            guard let status = sentence.text(1), status == "A" || status == "V" else { return false }
            return status == "V" || (sentence.place(2) != nil && sentence.date(8) != nil)
        default:
            guard let quality = sentence.number(5), (0...9).contains(quality) else { return false }
            return quality == 0 || sentence.place(1) != nil
        }
    }

    mutating func add(_ sentence: NMEASentence) {
        func replaces(_ known: NMEASentence?) -> Bool { known.map { $0.talker != "GN" } ?? true }
        switch sentence.kind {
        case "RMC":
            if let said = sentence.date(8) { date = said }
            if replaces(recommended) { recommended = sentence }
        case "GGA": if replaces(fix) { fix = sentence }
        case "GSA": if replaces(precision) { precision = sentence }
        default: if replaces(course) { course = sentence }
        }
    }

    /// Where the receiver is; nil when any of its sentences says that it does not know.
    var point: TrackPoint? {
        if let recommended, recommended.text(1) != "A" { return nil }
        if let fix, fix.number(5) == 0 { return nil }
        if let precision, precision.number(1) == 1 { return nil }
        guard let place = fix?.place(1) ?? recommended?.place(2) else { return nil }
        var point = TrackPoint(place, altitude: fix?.text(9) == "M" ? fix?.number(8) : nil)
        if let knots = recommended?.number(6) ?? course?.number(4) { point.speed = knots * NMEAReader.knot }
        point.course = recommended?.number(7) ?? course?.number(0)
        let isCorrected = (fix?.number(5)).map { $0 == 2 || $0 == 4 || $0 == 5 } ?? false
        let share = isCorrected ? 0.25 : 1
        if let dilution = fix?.number(7) ?? precision?.number(15), dilution > 0, dilution < 99 {
            point.horizontalAccuracy = dilution * NMEAReader.horizontalError * share
        }
        if let dilution = precision?.number(16), dilution > 0, dilution < 99 {
            point.verticalAccuracy = dilution * NMEAReader.verticalError * share
        }
        return point.plausible
    }
}

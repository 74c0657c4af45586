/// Reads what a GNSS receiver says, byte by byte, and puts the sentences of one moment together.
///
/// RMC, GGA, GNS, GLL, GSA and VTG of any talker are understood, and the date of ZDA; where several constellations speak of
/// one moment, the talker `GN` wins over the others. Other sentences are counted and left aside, damaged ones too: nothing
/// that arrives can stop it.
///
/// A moment is over when a sentence of another time of day or of another date arrives, or when ``finish()`` is called because
/// the receiver pauses. What still arrives of a finished moment is left aside.
package struct NMEAReader: Sendable {
    /// How many sentences there were.
    package struct Counts: Hashable, Sendable {
        /// Understood.
        package var sentences = 0
        /// Of the understood ones, those without a checksum.
        package var unchecked = 0
        /// Whole, but of a kind that says nothing of the position.
        package var leftAside = 0
        /// Of a receiver that knows neither the time nor the place.
        package var timeless = 0
        /// Of a leap second, which no day of 86 400 seconds has.
        package var leapSeconds = 0
        /// Makers' own.
        package var makers = 0
        /// Of AIS.
        package var packed = 0
        /// Lines that gpsd says of itself in JSON.
        package var gpsd = 0
        /// No sentence, a wrong checksum, too long, or with fields that make no sense.
        package var damaged = 0
        /// Moments of a whole log without a fix whose time is not believed, and which are therefore left out.
        package var untimed = 0
    }

    /// Metres of error that a horizontal dilution of precision of 1 stands for; with corrections, a quarter of it. These
    /// are the figures of gpsd (95 % of the time within), so that both ways of reading a receiver are equally sure.
    package static let horizontalError = 19.0
    /// The same for the vertical dilution of precision.
    package static let verticalError = 23.0
    /// Logs may have lines that begin with it.
    private static let comment = UInt8(ascii: "#")
    /// How a line of gpsd's own begins.
    private static let report = Array("{\"class\":".utf8)
    /// Metres a second in a knot.
    package static let knot = 1852.0 / 3600
    /// The longest step in milliseconds that the clock of a receiver without a fix is believed to have gone on by.
    private static let longestStep = 3_600_000

    package private(set) var counts = Counts()
    private var line: [UInt8] = []
    private var isOverlong = false
    private var gathered: Gathering?
    private var finished: (timeOfDay: Int, day: Int?)?
    private var day: Int?
    /// What ZDA said last.
    private var announced: (timeOfDay: Int, day: Int)?
    /// Days that passed without a date being heard.
    private var undatedDays = 0
    private var lastTimeOfDay: Int?

    package init() {}

    /// Whether a moment has begun that is not over yet.
    package var isGathering: Bool { gathered != nil }

    /// Reads a whole log: what was there before its first date gets the days before that one, and without any date the days
    /// count from 1970. Moments whose time is not believed are left out, and counted.
    package static func moments(of log: [UInt8]) -> (moments: [Moment], counts: Counts) {
        var reader = NMEAReader()
        var moments: [Moment] = []
        reader.read(log) { moments.append($0) }
        reader.read(CollectionOfOne(UInt8(ascii: "\n"))) { moments.append($0) }
        if let last = reader.finish() { moments.append(last) }
        // Where its own clock leads a receiver to its first fix, it was right before.
        var first = moments.firstIndex { $0.point != nil } ?? 0
        while first > 0, let step = Self.step(from: moments[first - 1].timeOfDay, to: moments[first].timeOfDay) {
            let next = moments[first]
            first -= 1
            moments[first].timestamp = next.timestamp - Double(step) / 1000
            (moments[first].isDated, moments[first].isTimed) = (next.isDated, true)
        }
        reader.counts.untimed = moments.count { !$0.isTimed }
        moments.removeAll { !$0.isTimed }
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

    /// From one time of day on to another, in milliseconds; nil when that is longer than a clock is believed.
    private static func step(from before: Int, to timeOfDay: Int) -> Int? {
        let step = timeOfDay - before + (timeOfDay < before ? 86_400_000 : 0)
        return (1...longestStep).contains(step) ? step : nil
    }

    /// Takes in bytes and calls back for each moment that they end, the earliest first.
    package mutating func read(_ bytes: some Sequence<UInt8>, _ ended: (Moment) -> Void) {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): lineEnded(ended)
            case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "{"):
                if beginsLine(byte) { line.removeAll(keepingCapacity: true) }
                take(byte)
            default: take(byte)
            }
        }
    }

    /// Whether a line begins with a byte in the middle of what came before: behind a time, or in one that was cut off.
    private mutating func beginsLine(_ byte: UInt8) -> Bool {
        guard let first = line.first else { return false }
        if !isOverlong, LogLine.isFront(line[...]) { return true }
        guard byte == UInt8(ascii: "$"), first != Self.comment, !isReport else { return false }
        // Some receivers say it twice.
        if !isOverlong, line != [byte] { counts.damaged += 1 }
        isOverlong = false
        return true
    }

    private mutating func take(_ byte: UInt8) {
        guard !isOverlong else { return }
        line.append(byte)
        guard line.count > NMEASentence.lengthLimit else { return }
        isOverlong = true
        // How it begins is looked at again.
        line.removeLast(line.count - Self.report.count)
        if isReport { counts.gpsd += 1 } else if line[0] != Self.comment { counts.damaged += 1 }
    }

    private var isReport: Bool { line.starts(with: Self.report) }

    /// The moment that is not over yet, ended: to be called at the end of a log, or when the receiver pauses.
    package mutating func finish() -> Moment? {
        guard var gathered else { return nil }
        self.gathered = nil
        gathered.end()
        return moment(of: gathered)
    }

    private mutating func end(_ ended: (Moment) -> Void) {
        if let moment = finish() { ended(moment) }
    }

    /// Forgets what was half read, as when the receiver has been unplugged.
    package mutating func reset() {
        line.removeAll()
        isOverlong = false
        gathered = nil
        finished = nil
        announced = nil
    }

    private mutating func lineEnded(_ ended: (Moment) -> Void) {
        defer {
            line.removeAll(keepingCapacity: true)
            isOverlong = false
        }
        guard !line.isEmpty, !isOverlong, line[0] != Self.comment else { return }
        if isReport { return counts.gpsd += 1 }
        guard let sentence = NMEASentence(line) else { return counts.damaged += 1 }
        switch sentence.family {
        case .maker: counts.makers += 1
        case .packed: counts.packed += 1
        case .standard: hear(sentence, ended)
        }
    }

    private mutating func hear(_ sentence: NMEASentence, _ ended: (Moment) -> Void) {
        switch sentence.kind {
        case "RMC", "GGA", "GNS", "GLL": timed(sentence, ended)
        case "ZDA": announce(sentence)
        case "GSA", "VTG":
            understood(sentence)
            gathered?.add(sentence)
        default: counts.leftAside += 1
        }
    }

    private mutating func understood(_ sentence: NMEASentence) {
        counts.sentences += 1
        if !sentence.isChecked { counts.unchecked += 1 }
    }

    private mutating func timed(_ sentence: NMEASentence, _ ended: (Moment) -> Void) {
        let field = Self.timeField(sentence.kind)
        // Of one constellation among several, GNS says its corrections alone.
        if sentence.kind == "GNS", sentence.text(field) != nil, sentence.text(5) == nil { return counts.leftAside += 1 }
        guard sentence.text(field) != nil else { return timeless(sentence, ended) }
        if sentence.isOfLeapSecond(field) {
            counts.leapSeconds += 1
            return end(ended)
        }
        guard let time = sentence.timeOfDay(field), Self.isPlausible(sentence) else { return counts.damaged += 1 }
        understood(sentence)
        let day = Self.day(of: sentence)
        guard gathered?.takes(sentence, at: time) == true else {
            if let finished, Self.isOf(finished.timeOfDay, sentence, time),
                day == nil || finished.day == nil || day == finished.day
            {
                return
            }
            end(ended)
            gathered = Gathering(timeOfDay: time, [sentence])
            return
        }
        if let day, let known = gathered?.day, day != known {
            let begun = gathered?.endDay() ?? []
            end(ended)
            gathered = Gathering(timeOfDay: time, begun)
        }
        gathered?.add(sentence)
    }

    /// A sentence of a receiver that has just started, or has lost its clock: what it said before is over.
    private mutating func timeless(_ sentence: NMEASentence, _ ended: (Moment) -> Void) {
        // Some say GLL without a time beside others that have one.
        if sentence.kind == "GLL", sentence.place(0) != nil { return counts.leftAside += 1 }
        counts.timeless += 1
        end(ended)
    }

    /// The date of ZDA, which has no moment of its own.
    private mutating func announce(_ sentence: NMEASentence) {
        guard sentence.text(0) != nil, sentence.text(1) != nil else { return counts.leftAside += 1 }
        if sentence.isOfLeapSecond(0) { return counts.leapSeconds += 1 }
        guard let time = sentence.timeOfDay(0), let day = sentence.longDate(1) else { return counts.damaged += 1 }
        understood(sentence)
        announced = (time, day)
    }

    /// The day of a fix, as ZDA has said it a moment before or after.
    private func announcedDay(at timeOfDay: Int) -> Int? {
        guard let announced else { return nil }
        if Self.isNextDay(timeOfDay, after: announced.timeOfDay) { return announced.day + 1 }
        return Self.isNextDay(announced.timeOfDay, after: timeOfDay) ? announced.day - 1 : announced.day
    }

    private mutating func moment(of gathered: Gathering) -> Moment {
        let time = gathered.timeOfDay
        finished = (time, gathered.day)
        var point = gathered.point
        let isTimed = point != nil || lastTimeOfDay.map { Self.step(from: $0, to: time) != nil } == true
        if isTimed {
            let said = point == nil ? nil : gathered.day ?? announcedDay(at: time)
            if let said {
                day = said
            } else if let lastTimeOfDay, Self.isNextDay(time, after: lastTimeOfDay) {
                // Midnight has passed, and nobody has said the new date yet.
                if let known = day { day = known + 1 } else { undatedDays += 1 }
            }
            lastTimeOfDay = time
        }
        if point != nil || announced?.timeOfDay == time { announced = nil }
        let timestamp = Double(day ?? undatedDays) * 86_400 + Double(time) / 1000
        point?.timestamp = timestamp
        return Moment(timeOfDay: time, isDated: day != nil, timestamp: timestamp, isTimed: isTimed, point: point)
    }
}

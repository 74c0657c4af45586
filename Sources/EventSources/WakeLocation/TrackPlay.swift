import WakeDevices
import WakeModel

/// A track as it is being played from an instant: which fix comes when.
///
/// Fixes are numbered from 0 and have their times whether or not anybody wants them, so that what is reported does not
/// depend on when somebody began to listen.
struct TrackPlay {
    let name: String
    let track: LocationTrack
    let began: Instant
    private let scatter: TrackScatter
    /// Seconds since 1970 at `began`, for a track that says no time.
    let timestamp: Double

    init(name: String, track: LocationTrack, at began: Instant, seed: UInt64, timestamp: Double) {
        self.name = name
        self.track = track
        self.began = began
        self.timestamp = timestamp
        scatter = TrackScatter(seed: seed, name: name)
    }

    /// A track that repeats ends never.
    var count: Int? {
        if track.repeats { return nil }
        switch track.path {
        case .way(let way, let interval):
            let step = Double(interval.nanoseconds) * track.rate
            return Int((Double(way.length.nanoseconds) / step).rounded(.up)) + 1
        case .log(let entries): return entries.count
        }
    }

    /// When a fix comes; nil after the last.
    func time(of number: Int) -> Instant? {
        if let count, number >= count { return nil }
        switch track.path {
        case .way(_, let interval):
            let (nanoseconds, overflow) = interval.nanoseconds.multipliedReportingOverflow(by: Int64(number))
            return overflow ? nil : began.advanced(by: Instant.Span(nanoseconds: nanoseconds))
        case .log(let entries):
            let (pass, index) = number.quotientAndRemainder(dividingBy: entries.count)
            let own = Double(pass) * Double(passLength.nanoseconds) + Double(entries[index].offset.nanoseconds)
            let nanoseconds = (own / track.rate).rounded()
            return nanoseconds < 9e18 ? began.advanced(by: Instant.Span(nanoseconds: Int64(nanoseconds))) : nil
        }
    }

    /// The first fix that comes at an instant or later; nil after the last.
    func firstFix(from now: Instant) -> Int? {
        let elapsed = max(0, now.since(began).nanoseconds)
        var number: Int
        switch track.path {
        case .way(_, let interval):
            number = Int((elapsed + interval.nanoseconds - 1) / interval.nanoseconds)
        case .log(let entries):
            let pass = Int(Double(elapsed) * track.rate / Double(passLength.nanoseconds))
            number = max(0, pass * entries.count - 1)
            var last = track.repeats ? number + 2 * entries.count : entries.count
            while number < last {
                let middle = (number + last) / 2
                if let time = time(of: middle), time < now { number = middle + 1 } else { last = middle }
            }
        }
        if let count, number >= count { return nil }
        return number
    }

    /// What the receiver says in a fix; nil when it does not know where it is.
    func point(of number: Int) -> TrackPoint? {
        guard var point = truth(of: number) else { return nil }
        point.place = scatter.scattered(point.place, noise: track.noise, number: number)
        return point
    }

    /// Where the phone truly is by the last fix until an instant; nil when that does not know it.
    func truth(at now: Instant) -> TrackPoint? {
        let next = firstFix(from: now.advanced(by: Instant.Span(nanoseconds: 1))) ?? count ?? 1
        return truth(of: max(0, next - 1))
    }

    private func truth(of number: Int) -> TrackPoint? {
        var point: TrackPoint
        switch track.path {
        case .way(let way, let interval):
            let own = Double(number) * Double(interval.nanoseconds) * track.rate
            let length = way.length
            let isOver = own >= Double(length.nanoseconds)
            let offset =
                track.repeats
                ? Instant.Span(nanoseconds: Int64(own.truncatingRemainder(dividingBy: Double(length.nanoseconds))))
                : isOver ? length : Instant.Span(nanoseconds: Int64(own))
            point = way.point(at: offset)
            point.timestamp = (way.timestamp ?? timestamp) + own / 1e9
        case .log(let entries):
            let (pass, index) = number.quotientAndRemainder(dividingBy: entries.count)
            guard let said = entries[index].point else { return nil }
            point = said
            point.timestamp = said.timestamp.map { $0 + Double(pass) * Double(passLength.nanoseconds) / 1e9 }
        }
        return point
    }

    /// Where the phone stays when the track is over.
    var end: TrackPoint? {
        guard let count else { return nil }
        var number = count - 1
        while number >= 0 {
            if var point = point(of: number) {
                point.speed = 0
                point.course = nil
                return point
            }
            number -= 1
        }
        return nil
    }

    /// A log's own time from its beginning to the beginning of its repetition: a last step as long as the one before.
    private var passLength: Instant.Span {
        guard case .log(let entries) = track.path else { return .zero }
        guard entries.count > 1 else { return .seconds(1) }
        let last = entries[entries.count - 1].offset
        return last + (last - entries[entries.count - 2].offset)
    }
}

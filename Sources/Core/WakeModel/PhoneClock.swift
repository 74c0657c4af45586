/// How the phone's clock stands: what it shows at the beginning of the run, and in which time zone.
package struct PhoneClock: Hashable, Codable, Sendable {
    /// Nanoseconds since 1970 at instant zero.
    package var epoch: Int64
    package var zone: PhoneZone

    private static let second: Int64 = 1_000_000_000

    package init(epoch: Int64, zone: PhoneZone) {
        self.epoch = epoch
        self.zone = zone
    }

    /// - Parameter zone: Seconds ahead of Greenwich, all the year.
    package init(epoch: Int64, zone: Int32) { self.init(epoch: epoch, zone: PhoneZone(offset: zone)) }

    /// Nanoseconds since 1970 at an instant; the latest that the number can say, in 2262, rather than overflow.
    package func nanoseconds(at now: Instant) -> Int64 {
        let (sum, isFar) = epoch.addingReportingOverflow(now.nanoseconds)
        return isFar ? .max : sum
    }

    /// Whole seconds since 1970 at an instant.
    package func seconds(at now: Instant) -> Int64 { nanoseconds(at: now).floored(by: Self.second).quotient }

    /// What the clock on the wall shows, in whole seconds since 1970.
    package func wall(_ now: Instant) -> Int64 { zone.wall(at: seconds(at: now)) }

    /// The instant of a second since 1970: negative before the run, and never where nanoseconds cannot say it.
    package func instant(_ seconds: Int64) -> Instant {
        let (date, isFar) = seconds.multipliedReportingOverflow(by: Self.second)
        let (since, isFarther) = date.subtractingReportingOverflow(epoch)
        guard isFar || isFarther else { return Instant(nanoseconds: since) }
        return seconds < 0 ? Instant(nanoseconds: .min) : .distantFuture
    }
}

/// How far a time zone is ahead of Greenwich, and how that changes in the years around the run.
package struct PhoneZone: Hashable, Codable, Sendable {
    /// From a second since 1970 on.
    package struct Change: Hashable, Codable, Sendable {
        package var at: Int64
        /// Seconds ahead of Greenwich.
        package var offset: Int32

        package init(at: Int64, offset: Int32) {
            self.at = at
            self.offset = offset
        }
    }

    /// Its name in the tz database, such as Europe/Berlin; empty for one that is the same all the year.
    package var name = ""
    /// Seconds ahead of Greenwich before all changes.
    package var offset: Int32
    /// In ascending order.
    package var changes: [Change] = []

    package init(offset: Int32) { self.offset = offset }

    /// A zone of the tz database as it is from a year before a second since 1970 to twelve years after it; what it is then it stays.
    ///
    /// - Parameter offsets: The seconds ahead of Greenwich at a second since 1970. Of two changes within a week that undo each other
    ///   nothing is known; no zone has had such.
    package init(name: String, around second: Int64, offsets: (Int64) -> Int) {
        let (week, year) = (7 * 86_400 as Int64, 366 * 86_400 as Int64)
        func offset(_ second: Int64) -> Int32 { Int32(clamping: offsets(second)) }
        var at = second - year
        var now = offset(at)
        self.name = name
        self.offset = now
        while at < second + 12 * year {
            let next = at + week
            guard offset(next) != now else {
                at = next
                continue
            }
            var (before, after) = (at, next)
            while after - before > 1 {
                let middle = before + (after - before) / 2
                if offset(middle) == now { before = middle } else { after = middle }
            }
            (at, now) = (after, offset(after))
            changes.append(Change(at: at, offset: now))
        }
    }

    /// Whether both are one zone, though perhaps known for other years.
    package func isSame(as other: PhoneZone) -> Bool {
        name.isEmpty && other.name.isEmpty ? offset == other.offset : name == other.name
    }

    /// Seconds ahead of Greenwich at a second since 1970.
    package func offset(at second: Int64) -> Int64 {
        Int64(changes.last { $0.at <= second }?.offset ?? offset)
    }

    /// What a clock on the wall shows at a second since 1970, as the seconds since 1970 at which one in Greenwich shows it.
    package func wall(at second: Int64) -> Int64 { second &+ offset(at: second) }

    /// The first second since 1970 at which a clock on the wall shows a time. Where it is put forward past the time, this is when it is.
    package func second(ofWall wall: Int64) -> Int64 {
        var (from, offset) = (Int64.min, self.offset)
        for change in changes {
            let second = wall &- Int64(offset)
            if second < change.at { return max(from, second) }
            (from, offset) = (change.at, change.offset)
        }
        return max(from, wall &- Int64(offset))
    }
}

extension Int64 {
    /// The quotient that is rounded down, and the remainder that is not negative.
    package func floored(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

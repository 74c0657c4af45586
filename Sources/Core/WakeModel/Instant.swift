/// A point on the bench's own clock, counted in nanoseconds from the start of the run.
///
/// Virtual and real runs use the same clock: under virtual time it jumps, under real time it follows the kernel's
/// monotonic clock. It never goes back.
public struct Instant: Hashable, Comparable, Codable, Sendable {
    /// Nanoseconds since the start of the run.
    public var nanoseconds: Int64

    /// The start of the run.
    @inlinable
    public static var zero: Self { Self(nanoseconds: 0) }

    /// Later than anything that happens.
    @inlinable
    public static var distantFuture: Self { Self(nanoseconds: .max) }

    /// So many nanoseconds after the start of the run.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Whether one instant comes before the other.
    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant later by `span`; stays at ``distantFuture`` rather than overflow.
    @inlinable
    public func advanced(by span: Span) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(span.nanoseconds)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }

    /// The time from `earlier` to here; negative when `earlier` is later.
    @inlinable
    public func since(_ earlier: Instant) -> Span {
        Span(nanoseconds: nanoseconds &- earlier.nanoseconds)
    }
}

extension Instant {
    /// A length of time in nanoseconds: the router's `Duration`, in eight bytes.
    public struct Span: Hashable, Comparable, Codable, Sendable {
        /// The length; may be negative.
        public var nanoseconds: Int64

        /// No time at all.
        @inlinable
        public static var zero: Self { Self(nanoseconds: 0) }

        /// A length in nanoseconds.
        @inlinable
        public init(nanoseconds: Int64) {
            self.nanoseconds = nanoseconds
        }

        /// The same length as a standard duration, cut to whole nanoseconds and to the range of 292 years.
        public init(_ duration: Duration) {
            let (seconds, attoseconds) = duration.components
            let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            if overflow {
                nanoseconds = seconds < 0 ? .min : .max
            } else {
                let (sum, overflow) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
                nanoseconds = overflow ? (seconds < 0 ? .min : .max) : sum
            }
        }

        /// A number of whole seconds.
        @inlinable
        public static func seconds(_ seconds: Int64) -> Span {
            Span(nanoseconds: seconds * 1_000_000_000)
        }

        /// A number of whole milliseconds.
        @inlinable
        public static func milliseconds(_ milliseconds: Int64) -> Span {
            Span(nanoseconds: milliseconds * 1_000_000)
        }

        /// Whole milliseconds, cut.
        @inlinable
        public var milliseconds: Int64 { nanoseconds / 1_000_000 }

        /// Whether one span is shorter than the other.
        @inlinable
        public static func < (left: Span, right: Span) -> Bool {
            left.nanoseconds < right.nanoseconds
        }

        /// Both, one after the other.
        @inlinable
        public static func + (left: Span, right: Span) -> Span {
            Span(nanoseconds: left.nanoseconds &+ right.nanoseconds)
        }

        /// What one is longer than the other.
        @inlinable
        public static func - (left: Span, right: Span) -> Span {
            Span(nanoseconds: left.nanoseconds &- right.nanoseconds)
        }
    }
}

extension Instant? {
    /// The earlier of two, of which each may be none.
    @inlinable
    public static func earliest(_ left: Instant?, _ right: Instant?) -> Instant? {
        guard let left else { return right }
        return right.map { min(left, $0) } ?? left
    }
}

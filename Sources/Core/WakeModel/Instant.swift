/// A point on the bench's own clock, counted in nanoseconds from the start of the run.
///
/// Virtual and real runs use the same clock: under virtual time it jumps, under real time it follows the kernel's
/// monotonic clock. It never goes back.
package struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the start of the run.
    package var nanoseconds: Int64

    /// The start of the run.
    package static let zero = Instant(nanoseconds: 0)

    /// Later than anything that happens.
    package static let distantFuture = Instant(nanoseconds: .max)

    @inlinable
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    @inlinable
    package static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant later by `span`; stays at ``distantFuture`` rather than overflow.
    @inlinable
    package func advanced(by span: Span) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(span.nanoseconds)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }

    /// The time from `earlier` to here; negative when `earlier` is later.
    @inlinable
    package func since(_ earlier: Instant) -> Span {
        Span(nanoseconds: nanoseconds &- earlier.nanoseconds)
    }
}

extension Instant {
    /// A length of time in nanoseconds: the router's `Duration`, in eight bytes.
    package struct Span: Hashable, Comparable, Sendable {
        /// The length; may be negative.
        package var nanoseconds: Int64

        /// No time at all.
        package static let zero = Span(nanoseconds: 0)

        @inlinable
        package init(nanoseconds: Int64) {
            self.nanoseconds = nanoseconds
        }

        /// The same length as a standard duration, cut to whole nanoseconds and to the range of 292 years.
        package init(_ duration: Duration) {
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
        package static func seconds(_ seconds: Int64) -> Span {
            Span(nanoseconds: seconds * 1_000_000_000)
        }

        /// A number of whole milliseconds.
        @inlinable
        package static func milliseconds(_ milliseconds: Int64) -> Span {
            Span(nanoseconds: milliseconds * 1_000_000)
        }

        /// Whole milliseconds, cut.
        @inlinable
        package var milliseconds: Int64 { nanoseconds / 1_000_000 }

        @inlinable
        package static func < (left: Span, right: Span) -> Bool {
            left.nanoseconds < right.nanoseconds
        }

        @inlinable
        package static func + (left: Span, right: Span) -> Span {
            Span(nanoseconds: left.nanoseconds &+ right.nanoseconds)
        }

        @inlinable
        package static func - (left: Span, right: Span) -> Span {
            Span(nanoseconds: left.nanoseconds &- right.nanoseconds)
        }
    }
}

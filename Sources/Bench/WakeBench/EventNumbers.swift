import WakeModel

/// The numbers that inputs of a journal had when they were submitted.
///
/// Events have theirs in the journal. What the user, the phone or the system did has the ones between: all that was submitted before it
/// was handled before it, but what the router found since then, with higher numbers, came first.
struct EventNumbers {
    /// All numbers up to it are taken.
    private var low: UInt64
    /// Those beyond that are taken as well, ascending.
    private var beyond: [UInt64] = []

    /// - Parameter last: The last number of a snapshot, when nothing was under way.
    init(after last: UInt64 = 0) { low = last }

    /// The highest number that is taken.
    var last: UInt64 { beyond.last ?? low }

    /// The number that an input took; ``EventID/none`` for one that takes none.
    mutating func number(of input: Input) -> EventID {
        switch input {
        case .event(let event), .overflowed(let event):
            take(event.id.number)
            return event.id
        case .phone, .install, .uninstall, .update, .refuseUpdate, .user, .setUp, .terminate:
            let number = low + 1
            take(number)
            return EventID(number)
        case .benchRestarted:
            // What was submitted before and not accepted died with the bench.
            low = last + 1
            beyond.removeAll()
            return EventID(low)
        case .timeReached, .request, .process, .redeliver: return .none
        }
    }

    private mutating func take(_ number: UInt64) {
        if number > low { beyond.insert(number, at: beyond.firstIndex { $0 > number } ?? beyond.count) }
        while beyond.first == low + 1 {
            low += 1
            beyond.removeFirst()
        }
    }
}

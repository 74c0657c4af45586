import WakeModel

/// A moment, or an end of a span, that a process marked by os_signpost: `wake.signpost/1`.
package struct SignpostEntry: LogLine, Hashable, Sendable {
    /// What it marks.
    package enum Mark: String, Sendable {
        case event, begin, end
    }

    /// The bundle identifier.
    package var app: String
    package var at: Instant
    package var pid: Int32
    package var mark: Mark
    package var name: String
    /// Tells spans of one name apart that overlap; nil where they do not.
    package var span: String?
    package var subsystem: String
    package var category: String
    package var message: String

    package init(
        app: String,
        at: Instant,
        pid: Int32,
        mark: Mark,
        name: String,
        span: String? = nil,
        subsystem: String = "",
        category: String = "",
        message: String = ""
    ) {
        self.app = app
        self.at = at
        self.pid = pid
        self.mark = mark
        self.name = name
        self.span = span
        self.subsystem = subsystem
        self.category = category
        self.message = message
    }

    package static let schema = "wake.signpost/1"
    package static let blank = SignpostEntry(app: "", at: .zero, pid: 0, mark: .event, name: "")

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("app", &app)
        coder.need("t", &at)
        coder.code("pid", &pid)
        coder.need("mark", &mark, \.rawValue, Mark.init(rawValue:))
        coder.need("name", &name)
        coder.code("span", &span)
        coder.code("subsystem", &subsystem)
        coder.code("category", &category)
        coder.code("message", &message)
    }
}

/// How many signposts a log has, and the bytes of their lines.
package struct HeldSignposts: Hashable, Codable, Sendable {
    package private(set) var count = 0
    package private(set) var bytes = 0

    package init() {}

    package mutating func add(bytes more: Int) {
        count += 1
        bytes += more
    }

    package static func + (left: HeldSignposts, right: HeldSignposts) -> HeldSignposts {
        var sum = left
        sum.count += right.count
        sum.bytes += right.bytes
        return sum
    }
}

// MARK: Spans

/// The spans that the signposts of a run mark.
struct SignpostSpans {
    /// How a span ended.
    struct End {
        var at: Instant
        /// The signpost of the end; nil when the process or the run ended first.
        var mark: SignpostEntry?
    }

    /// What an end must have in common with its begin.
    private static func key(_ entry: SignpostEntry) -> SignpostEntry {
        var key = entry
        (key.at, key.mark, key.message) = (.zero, .begin, "")
        return key
    }

    private struct Process: Hashable {
        var app: String
        var pid: Int32
    }

    /// By the place of their begin in the log.
    private(set) var ends: [Int: End] = [:]
    /// The places of ends that end a span.
    private var matched: Set<Int> = []
    private var exits: [Process: [Instant]] = [:]

    init(_ log: RunLog) {
        for exit in log.exits { exits[Process(app: exit.app, pid: exit.pid), default: []].append(exit.at) }
        var open: [SignpostEntry: [Int]] = [:]
        for (place, entry) in log.signposts.enumerated() {
            switch entry.mark {
            case .event: break
            case .begin: open[Self.key(entry), default: []].append(place)
            case .end:
                guard let begin = open[Self.key(entry)]?.popLast() else { continue }
                matched.insert(place)
                ends[begin] = End(at: max(log.signposts[begin].at, entry.at), mark: entry)
            }
        }
        for place in open.values.joined() { ends[place] = End(at: end(of: log.signposts[place], log.end), mark: nil) }
    }

    /// Whether the signpost at a place is drawn by itself: an event, or the end of what never began.
    func isMoment(_ place: Int, _ entry: SignpostEntry) -> Bool { entry.mark != .begin && !matched.contains(place) }

    /// Where a span ends that its process never ended: with the process, or with the run. A suspension does not end it. A
    /// process that died with its bench has no number in the log.
    private func end(of begin: SignpostEntry, _ end: Instant) -> Instant {
        let died = [begin.pid, 0].compactMap { pid in
            exits[Process(app: begin.app, pid: pid)]?.first { $0 >= begin.at }
        }
        return max(begin.at, died.min() ?? end)
    }
}

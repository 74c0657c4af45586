import WakeModel

/// What apps marked themselves, on a row of their own; a span that is never ended goes to the end of its process or of the run.
extension ChromeTrace {
    private static let row = 4

    static func writeSignposts(_ log: RunLog, _ numbers: [String: Int], _ writer: inout TraceWriter) {
        let marking = Set(log.signposts.compactMap { numbers[$0.app] })
        for process in marking.sorted() { writer.name(thread: row, of: process, "signposts") }
        let spans = SignpostSpans(log)
        for (place, entry) in log.signposts.enumerated() {
            guard let process = numbers[entry.app] else { continue }
            if let end = spans.ends[place] {
                write(entry, until: end, number: place + 1, process, &writer)
            } else if spans.isMoment(place, entry) {
                writer.mark("i", process, row, at: entry.at.micros, category: "signpost", name: entry.name) { line in
                    describe(entry, &line)
                    if entry.mark == .end { line.put("begun", false) }
                }
            }
        }
    }

    private static func write(
        _ entry: SignpostEntry,
        until end: SignpostSpans.End,
        number: Int,
        _ process: Int,
        _ writer: inout TraceWriter
    ) {
        let (category, name) = ("signpost", entry.name)
        writer.mark("b", of: number, process, row, at: entry.at.micros, category: category, name: name) { line in
            describe(entry, &line)
        }
        writer.mark("e", of: number, process, row, at: end.at.micros, category: category, name: name) { line in
            guard let mark = end.mark else { return line.put("open", true) }
            line.put("message", mark.message)
        }
    }

    private static func describe(_ entry: SignpostEntry, _ line: inout LineBuffer) {
        line.put("os_pid", Int64(entry.pid))
        line.put("subsystem", entry.subsystem)
        line.put("category", entry.category)
        line.put("span", entry.span)
        line.put("message", entry.message)
    }
}

extension Instant {
    fileprivate var micros: Int64 { nanoseconds / 1000 }
}

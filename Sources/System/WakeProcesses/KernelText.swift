/// What the kernel's files say of processes, as text (proc(5), cgroups(7)). What is not in the expected form counts as missing.
package enum KernelText {
    /// Processor time of a control group in nanoseconds, from its cpu.stat.
    package static func groupTime(_ text: String) -> Int64? {
        value("usage_usec", in: text, separator: " ").flatMap { times($0, 1_000) }
    }

    /// Processor time of the children that a process has waited for, in clock ticks, from /proc/PID/stat.
    package static func childTicks(_ text: String) -> Int64? {
        // The name in parentheses may hold anything; cutime and cstime are the fields 16 and 17.
        guard let name = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: name)...].split(separator: " ")
        guard fields.count > 14, let user = Int64(fields[13]), let system = Int64(fields[14]) else { return nil }
        return sum([user, system])
    }

    /// The memory of one process in bytes, from /proc/PID/status; what it shares with others counts whole.
    package static func memory(status text: String) -> Int64? {
        kilobytes(["RssAnon:", "RssShmem:", "VmSwap:"], in: text)
    }

    /// The most memory that one process has had at once, in bytes, from /proc/PID/status: at least that, as the kernel counts files
    /// that it has mapped in the peak too, and they have grown since.
    package static func peakMemory(status text: String) -> Int64? {
        guard let peak = kilobytes(["VmHWM:"], in: text), let files = kilobytes(["RssFile:"], in: text) else {
            return nil
        }
        return max(0, peak - files)
    }

    /// The memory of one process in bytes, from /proc/PID/smaps_rollup; what it shares with others counts by its share.
    package static func memory(rollup text: String) -> Int64? {
        kilobytes(["Pss_Anon:", "Pss_Shmem:", "SwapPss:"], in: text)
    }

    private static func kilobytes(_ names: [String], in text: String) -> Int64? {
        let values = names.compactMap { value($0, in: text, separator: " \t") }
        guard values.count == names.count else { return nil }
        return sum(values).flatMap { times($0, 1_024) }
    }

    /// The number behind a name at the beginning of a line.
    private static func value(_ name: String, in text: String, separator: String) -> Int64? {
        for line in text.split(separator: "\n") {
            let fields = line.split(whereSeparator: separator.contains)
            if fields.count > 1, fields[0] == name { return Int64(fields[1]).flatMap { $0 >= 0 ? $0 : nil } }
        }
        return nil
    }

    private static func times(_ number: Int64, _ factor: Int64) -> Int64? {
        let (result, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : result
    }

    private static func sum(_ numbers: [Int64]) -> Int64? {
        numbers.reduce(0) { sum, number in
            guard let sum else { return nil }
            let (result, overflow) = sum.addingReportingOverflow(number)
            return overflow ? nil : result
        }
    }
}

/// Processor time that is added up over processes, of which one that ends takes its own along: what was counted once stays.
package struct ProcessorCount {
    private var last: Int64 = 0
    private var gone: Int64 = 0

    package init() {}

    /// What was used so far, where the processes that live have used this much, in nanoseconds.
    package mutating func now(_ measured: Int64) -> Int64 {
        if measured < last { gone += last - measured }
        last = measured
        return gone + measured
    }

    /// The same where no process is left, of which this much is known.
    package func atEnd(_ measured: Int64) -> Int64 { max(gone + last, measured) }
}

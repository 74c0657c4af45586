import Glibc
import WakeModel
import WakeRouter

// How many decisions a second one core makes, and whether memory stays where it is. Prints a line a measure; the hash
// of all decisions is the same in every run of the same count.

let wanted = CommandLine.arguments.dropFirst().first.flatMap { UInt64($0) } ?? 10_000_000
let early = min(1_000_000, wanted)

var day = BusyDay()
let began = processorTime()
day.run(until: early)
let earlyPeak = peakMemory()
day.run(until: wanted)
let seconds = Double(processorTime() - began) / 1e9
let latePeak = peakMemory()

let decisions = Double(day.decisions)
let hash = String(day.hash, radix: 16)
print("decisions          \(day.decisions)")
print("processor time     \(rounded(seconds, 3)) s")
print("decisions a second \(Int(decisions / seconds))")
print("checks a decision  \(rounded(Double(day.checks) / decisions, 2))")
print("not delivered      \(rounded(100 * Double(day.refused) / decisions, 1)) %")
print("resumes, relaunches \(day.resumes), \(day.relaunches)")
print("inputs             \(day.inputs)")
print("hash               \(String(repeating: "0", count: 16 - hash.count))\(hash)")
print("peak memory at \(early)  \(earlyPeak) KiB")
print("peak memory at \(day.decisions)  \(latePeak) KiB")

/// The processor time of this process in nanoseconds.
func processorTime() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// VmHWM of this process in KiB; 0 where the kernel does not say.
func peakMemory() -> Int {
    guard let file = unsafe fopen("/proc/self/status", "r") else { return 0 }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while unsafe fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix("VmHWM:") { return Int(text.filter(\.isNumber)) ?? 0 }
    }
    return 0
}

func rounded(_ value: Double, _ places: Int) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    let whole = Int(value * Double(scale) + 0.5)
    let fraction = String(whole % scale)
    return "\(whole / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
}

// Swift's timers, and libdispatch's pool, seen by the program's own clock. Each line: what fired, and the nanoseconds since the
// program began.
import Dispatch
import Foundation

func monotonic() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

let began = monotonic()
let lines = NSLock()

@Sendable func say(_ what: String) {
    let line = "\(what) \(monotonic() - began)\n"
    lines.withLock { FileHandle.standardOutput.write(Data(line.utf8)) }
}

/// Fires something else each second of nine.
func timers() -> Never {
    _ = Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in say("Timer") }
    DispatchQueue.main.asyncAfter(deadline: .now() + 2) { say("asyncAfter main") }
    DispatchQueue.global().asyncAfter(deadline: .now() + 3) { say("asyncAfter global") }
    Task { @MainActor in
        try await Task.sleep(for: .seconds(4))
        say("Task.sleep")
    }
    Thread.detachNewThread {
        Thread.sleep(forTimeInterval: 5)
        say("Thread.sleep")
    }
    let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "timer"))
    source.schedule(deadline: .now() + 6, repeating: 3, leeway: .milliseconds(100))
    source.setEventHandler { @Sendable in say("DispatchSourceTimer") }
    source.resume()
    Thread.detachNewThread {
        let condition = NSCondition()
        condition.withLock { _ = condition.wait(until: Date(timeIntervalSinceNow: 7)) }
        say("NSCondition")
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 1)
        say("DispatchSemaphore")
    }
    DispatchQueue.main.asyncAfter(deadline: .now() + 10) { exit(0) }
    RunLoop.main.run()
    exit(1)
}

/// Work comes to a pool whose threads are all blocked: two more than a phone has processors.
func blocked() -> Never {
    let count = 6 + 2
    DispatchQueue.main.asyncAfter(deadline: .now() + 1) {
        for _ in 0..<count { DispatchQueue.global().async { DispatchSemaphore(value: 0).wait() } }
        DispatchQueue.global().async { say("behind") }
        DispatchQueue.global(qos: .background).async { say("beside") }
    }
    DispatchQueue.main.asyncAfter(deadline: .now() + 60) { exit(0) }
    dispatchMain()
}

/// A timer a minute, for an hour, on the pool.
func minutes() -> Never {
    @Sendable func again(_ left: Int) {
        if left == 0 { exit(0) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 60) { again(left - 1) }
    }
    again(60)
    dispatchMain()
}

switch CommandLine.arguments.last {
case "timers": timers()
case "blocked": blocked()
case "minutes": minutes()
default: exit(64)
}

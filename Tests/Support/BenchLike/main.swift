// A bench in small, for tests that kill it: BenchLike RUN FREEZER APP MODE FILE freezes the app once its counter moves,
// writes "frozen KIND" and waits. With a sixth argument it leaves the app running and writes "running KIND".
import Glibc
import WakeProcesses
import WakeSystem

let arguments = CommandLine.arguments
guard arguments.count >= 6, let choice = FreezerChoice(rawValue: arguments[2]) else { exit(64) }

do {
    let loop = try EventLoop()
    let host = try ProcessHost(loop: loop, freezer: choice, runName: arguments[1])
    let program = AppProgram(path: arguments[3], arguments: ["app", arguments[4], arguments[5]])
    try host.spawn(1, program, output: 1, error: 2)
    func say(_ word: String) {
        print("\(word) \(host.freezer.rawValue)")
        fflush(nil)
    }
    // The counter is a file, which tells nobody; a timer looks.
    var timer: Timer?
    timer = try loop.timer {
        guard let text = try? readSmallFile(arguments[5]), text.utf8.prefix(8).contains(where: { $0 != 0 }) else {
            timer?.arm(at: BootClock.now() + 1_000_000)
            return
        }
        if arguments.count > 6 { return say("running") }
        host.freeze(1) { outcome in say(outcome == .frozen ? "frozen" : "failed") }
    }
    timer?.arm(at: 0)
    exit(try loop.run())
} catch {
    print("error \(error)")
    exit(1)
}

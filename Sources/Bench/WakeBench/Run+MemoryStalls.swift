import WakeModel
import WakeSystem

/// The machine's memory as the phone's: where it is short, an app must go (MEM-1).
extension Run {
    /// What ``RunOptions/memoryPressure`` asks for; nil where the scenario alone says when memory is short.
    static func memoryStalls(
        _ options: RunOptions,
        realTime: Bool,
        _ loop: EventLoop
    ) throws(CommandFailure) -> MemoryStalls? {
        guard options.memoryPressure == .psi else { return nil }
        guard realTime else {
            throw CommandFailure(
                .usage,
                "--memory-pressure psi cannot be had in virtual time: two runs would differ",
                hint: "give --clock real"
            )
        }
        do throws(SystemError) { return try MemoryStalls(loop: loop) } catch {
            throw CommandFailure(.environment, "--memory-pressure psi: \(error.description)", hint: "leave it out")
        }
    }

    func hearMemoryStalls() throws(CommandFailure) {
        guard let memoryStalls else { return }
        let origin = names.intern("memory pressure of this machine")
        do throws(SystemError) {
            let relief = try loop.timer(on: .monotonic) { [unowned self] in
                bench.submit(.phone(.memoryRelief), origin: origin)
            }
            memoryStalls.handler = { [unowned self] in
                bench.submit(.phone(.memoryShortage), origin: origin)
                // A window without a word: there is enough again.
                relief.arm(after: Int64(2 * MemoryStalls.window / 1_000))
            }
        } catch {
            throw CommandFailure(.internal, error.description)
        }
    }
}

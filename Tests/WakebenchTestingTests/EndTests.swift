import ChildProcess
import Foundation
import Glibc
import Testing
import WakebenchTesting

/// The app of these tests tells through a FIFO that it runs, when the bench does too.
@Suite("The end of a bench that a unit test started")
struct EndTests {
    /// What comes through a FIFO until all who have it open for writing have closed it, or have ended.
    private func read(_ fifo: String) async -> String {
        await onThread {
            String(decoding: (try? FileHandle(forReadingAtPath: fifo)?.readToEnd()) ?? Data(), as: UTF8.self)
        }
    }

    /// Does what may wait where it keeps no task from its thread.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in Thread { continuation.resume(returning: body()) }.start() }
    }

    @Test("A task that is cancelled ends its bench")
    func cancelled() async throws {
        let folder = try Folder()
        defer { folder.clean() }
        let fifo = "\(folder.path)/fifo"
        try #require(unsafe mkfifo(fifo, 0o600) == 0)
        let app = try folder.makeApp(in: "apps", script: "echo here > \(fifo)\nexec sleep 3600")
        let task = Task { try await Wakebench.run(.text(Scenarios.hour), apps: [.bundle(app)], clock: .real) }
        let word = await read(fifo)
        #expect(word == "here\n")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A task that was cancelled before starts no bench")
    func cancelledBefore() async throws {
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await Wakebench.run(.text(Scenarios.hour), clock: .real)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A test process that is killed leaves no bench and no app", .timeLimit(.minutes(10)))
    func killed() async throws {
        reapAdopted()
        let folder = try Folder()
        defer { folder.clean() }
        let (alive, app) = ("\(folder.path)/alive", "\(folder.path)/apps/Heart.app")
        try #require(unsafe mkfifo(alive, 0o600) == 0)
        // Who started the bench that started this is the test process.
        let ancestor = "read _ _ _ parent _ < /proc/$PPID/stat\nkill -9 $parent"
        try folder.makeApp(in: "apps", script: "exec 9> \(alive)\n\(ancestor)\nexec sleep 3600")
        // The test process has it open, and so has the bench by inheritance, and the app: its end is theirs.
        async let end = read(alive)
        await #expect(processExitsWith: .signal(SIGKILL)) { [alive = alive as String, app = app as String] in
            let held = unsafe open(alive, O_WRONLY)
            #expect(held >= 0)
            _ = try await Wakebench.run(.text(Scenarios.hour), apps: [.bundle(app)], clock: .real)
        }
        #expect(await end == "")
    }
}

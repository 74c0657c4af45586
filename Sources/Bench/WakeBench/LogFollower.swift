import Glibc
import WakeJournal
import WakeReports
import WakeSystem

/// Gives out the decisions of a run as they are written, until the run has ended.
///
/// It hears of what is written by inotify, and of a bench that died by the end of its process.
package final class LogFollower {
    /// Why it went no further.
    package enum Ending: Sendable {
        /// The run has ended, and all of its decisions were given out.
        case over
        /// No process plays the run, and it has not ended.
        case brokenOff
        /// Nobody takes the records.
        case refused
    }

    private let folder: RunFolder
    private let app: String?
    private let cursor: UInt64
    private let body: ([UInt8]) -> Bool
    private let caughtUp: () -> Bool

    /// - Parameters:
    ///   - app: leaves out the records of other apps, and those of no app.
    ///   - cursor: leaves out the decisions up to this number.
    ///   - body: is given the first line of the log and each record in full, with what came with its event, until it says false.
    ///   - caughtUp: all that is written has been given out; the same.
    package init(
        _ folder: RunFolder,
        app: String? = nil,
        after cursor: UInt64 = 0,
        _ body: @escaping ([UInt8]) -> Bool,
        caughtUp: @escaping () -> Bool
    ) {
        (self.folder, self.app, self.cursor, self.body, self.caughtUp) = (folder, app, cursor, body, caughtUp)
    }

    /// Reads to the end of the run.
    ///
    /// - Throws: ``CommandFailure`` when the folder has no log, or the system refuses.
    package func follow() throws(CommandFailure) -> Ending {
        do throws(ReportError) { return try read() } catch {
            switch error.kind {
            case .missing: throw CommandFailure(.notFound, error)
            case .system: throw CommandFailure(.environment, error)
            default: throw CommandFailure(.invalidFile, error)
            }
        }
    }

    private func read() throws(ReportError) -> Ending {
        var records = try RecordReader(folder: folder.path, app: app, after: cursor, values: true)
        var end = EndReader(folder: folder.path)
        let news: News
        guard body(records.first) else { return .refused }
        do throws(SystemError) { news = try News(of: folder) } catch { throw refusal(error) }
        while true {
            // Asked before reading: what was written until then is read, and what comes later is heard of.
            let isPlayed: Bool
            do throws(SystemError) { isPlayed = try news.isPlayed() } catch { throw refusal(error) }
            let hasEnded = try end.find()
            while let record = try records.next() {
                guard body(record) else { return .refused }
            }
            guard caughtUp() else { return .refused }
            if hasEnded { return .over }
            guard isPlayed else { return .brokenOff }
            do throws(SystemError) { try news.wait() } catch { throw refusal(error) }
        }
    }

    private func refusal(_ error: SystemError) -> ReportError {
        ReportError(.system(error.call, error.code), path: folder.path)
    }
}

/// Waits for something to happen to a run that goes on.
private final class News {
    private let folder: RunFolder
    private let loop: EventLoop
    private let changes: Descriptor
    private var watch: Watch?
    private var player: (process: Int32, end: ProcessEnd)?
    private var buffer = [UInt8](repeating: 0, count: 4_096)

    /// - Throws: ``SystemError`` when the kernel has no watches left.
    init(of folder: RunFolder) throws(SystemError) {
        self.folder = folder
        loop = try EventLoop()
        let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else { throw SystemError(last: "inotify_init1") }
        changes = Descriptor(owning: number)
        for (path, kinds) in [(folder.path, IN_CREATE | IN_ONLYDIR), (folder.decisions, IN_MODIFY)] {
            guard unsafe inotify_add_watch(number, path, UInt32(kinds)) >= 0 else {
                throw SystemError(last: "inotify_add_watch", subject: path)
            }
        }
        watchOutcomes()
        watch = try loop.watch(number, for: .readable) { [unowned self] _ in heard() }
    }

    /// They may come a moment later than the decisions; the folder tells when they are made.
    private func watchOutcomes() {
        _ = unsafe inotify_add_watch(changes.number, folder.outcomes, UInt32(IN_MODIFY))
    }

    private func heard() {
        while let count = try? changes.read(into: &buffer), count > 0 {}
        watchOutcomes()
    }

    /// Whether a process plays the run, whose end is heard of from now on.
    func isPlayed() throws(SystemError) -> Bool {
        guard let holder = FolderLock.holder(journal: folder.journal) else { return false }
        if player?.process == holder { return true }
        // A process that cannot be seen from here, such as that of another container, is not waited for.
        guard let end = try ProcessEnd(of: holder, on: loop) else {
            player = nil
            return FolderLock.holder(journal: folder.journal) != nil
        }
        player = (holder, end)
        return true
    }

    /// Returns when something has happened.
    func wait() throws(SystemError) {
        _ = try loop.runOnce()
    }
}

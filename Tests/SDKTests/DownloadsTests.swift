import Foundation
import Testing
import WakeWire

@Suite("The Downloads app")
struct DownloadsTests {
    private static let apps = [
        [AppProcess.repository.appending(path: ".build/debug/Downloads").path],
        [
            "/usr/bin/python3",
            AppProcess.repository.appending(path: "Sources/Examples/DownloadsPython/downloads.py").path,
        ],
    ]
    private static let session = "com.example.downloads.episodes"
    private static let both = [
        WireTransferTask(task: 1, kind: .download, url: "https://podcasts.example.com/episodes/3.mp3"),
        WireTransferTask(task: 2, kind: .upload, url: "https://podcasts.example.com/recordings"),
    ]

    /// The app, in a folder of its own.
    private final class Home {
        let url = FileManager.default.temporaryDirectory.appending(path: "wakebench-downloads-\(UUID().uuidString)")

        init(hasBegun: Bool) throws {
            let support = url.appending(path: ".local/share")
            try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
            if hasBegun { try Data().write(to: support.appending(path: "begun")) }
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        func start(_ command: [String]) throws -> AppProcess {
            try AppProcess(["/usr/bin/env", "HOME=\(url.path)"] + command)
        }
    }

    /// Starts the app and answers its join; gives its manager and what it asked for before it had launched.
    private func launch(_ app: AppProcess, tasks: [WireTransferTask]) throws -> (UInt32, [WireTransferRequest]) {
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background, options: LaunchOptions())))
        var manager: UInt32 = 0
        var asked: [WireTransferRequest] = []
        var isLaunched = false
        try app.bench.wait { message in
            switch message {
            case .transfer(let number, .join(let id, let session)):
                #expect(session == WireTransferSession(identifier: Self.session))
                manager = number
                app.bench.send(.reply(id: id, WireReply(transfers: tasks)))
            case .transfer(_, let request): asked.append(request)
            case .launched: isLaunched = true
            default: break
            }
            return isLaunched && asked.count == (tasks.isEmpty ? 4 : 0)
        }
        return (manager, asked)
    }

    @Test("XFER-1: its first process asks for a download and an upload", arguments: apps)
    func begins(command: [String]) throws {
        let home = try Home(hasBegun: false)
        let app = try home.start(command)
        let (_, asked) = try launch(app, tasks: [])
        var upload = Self.both[1]
        (upload.method, upload.file) = ("PUT", home.url.path + "/.local/share/heard.txt")
        #expect(
            asked == [
                .create(Self.both[0]),
                .resume(task: 1, earliestBegin: nil, bytesToSend: 200, bytesToReceive: 10_000_000),
                .create(upload),
                .resume(task: 2, earliestBegin: nil, bytesToSend: nil, bytesToReceive: nil),
            ]
        )
        _ = try app.end()
    }

    @Test("XFER-2, XFER-3: a later one is told what became of them, and calls the completion handler", arguments: apps)
    func relaunched(command: [String]) throws {
        let home = try Home(hasBegun: true)
        let app = try home.start(command)
        let (manager, _) = try launch(app, tasks: Self.both)
        let body = home.url.appending(path: "body")
        try Data("episode".utf8).write(to: body)
        app.bench.deliver(1, manager: 0, .transfer(.events(session: Self.session)))
        #expect(try app.bench.untilAcknowledged(1) == [])
        let response = WireTransferResponse(status: 200, received: 7, file: body.path)
        app.bench.deliver(2, manager: manager, .transfer(.finished(task: 1, response)))
        app.bench.deliver(3, manager: manager, .transfer(.failed(task: 2, code: -999, message: "cancelled", reason: 0)))
        app.bench.deliver(4, manager: manager, .transfer(.eventsFinished))
        let said = try app.bench.untilAcknowledged(4)
        #expect(said.contains(.transfer(manager: 0, .handled(session: Self.session))))
        #expect(said.count == 3)
        #expect(!FileManager.default.fileExists(atPath: body.path))
        let kept = try Data(contentsOf: home.url.appending(path: ".local/share/episode"))
        #expect(kept == Data("episode".utf8))
        #expect(
            try app.end().lines == [
                "didFinishLaunching", "tasks 2", "handleEvents \(Self.session)", "didFinishDownloading 1 7 bytes",
                "didComplete 1 status=200 error=0", "didComplete 2 status=0 error=-999", "didFinishEvents",
            ]
        )
    }

    @Test("it reads where the answer came from after redirects", arguments: apps)
    func redirected(command: [String]) throws {
        let home = try Home(hasBegun: true)
        let app = try home.start(command)
        let (manager, _) = try launch(app, tasks: Self.both)
        let answers = [
            WireTransferResponse(status: 404, url: "https://cdn.example.com/3.mp3"), WireTransferResponse(status: 201),
        ]
        for (task, response) in zip([1, 2] as [UInt32], answers) {
            app.bench.deliver(UInt64(task), manager: manager, .transfer(.finished(task: task, response)))
        }
        _ = try app.bench.untilAcknowledged(2)
        #expect(
            try app.end().lines.suffix(3) == [
                "redirected to https://cdn.example.com/3.mp3", "didComplete 1 status=404 error=0",
                "didComplete 2 status=201 error=0",
            ]
        )
    }

    @Test("XFER-9: it goes on with a download from what an earlier one left", arguments: apps)
    func resumed(command: [String]) throws {
        let home = try Home(hasBegun: true)
        let app = try home.start(command)
        let (manager, _) = try launch(app, tasks: Self.both)
        app.bench.deliver(
            1,
            manager: manager,
            .transfer(.failed(task: 1, code: -1_005, message: "connection lost", reason: nil, resumes: 77))
        )
        let said = try app.bench.untilAcknowledged(1)
        var rest = Self.both[0]
        (rest.task, rest.resumes) = (3, 77)
        #expect(
            said == [
                .transfer(manager: manager, .create(rest)),
                .transfer(
                    manager: manager,
                    .resume(task: 3, earliestBegin: nil, bytesToSend: nil, bytesToReceive: nil)
                ),
            ]
        )
        _ = try app.end()
    }

    @Test("XFER-3: it knows all tasks of its session, however many parts they are listed in")
    func manyTasks() throws {
        let home = try Home(hasBegun: true)
        let app = try home.start(Self.apps[0])
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background, options: LaunchOptions())))
        let all = (1...9).map { WireTransferTask(task: $0, kind: .download, url: "https://podcasts.example.com/\($0)") }
        try app.bench.wait { message in
            switch message {
            case .transfer(_, .join(let id, _)): app.bench.send(.reply(id: id, WireReply(transfers: all.suffix(4))))
            case .transfer(_, .tasks(let id, Self.session, let after)):
                let part = all.filter { $0.task > after }.prefix(4)
                app.bench.send(.reply(id: id, WireReply(transfers: Array(part))))
            default: break
            }
            return message == .launched
        }
        #expect(try app.end().lines.contains("tasks 9"))
    }

    @Test("XFER-3: a task that stands still when its session is joined again can be resumed")
    func suspendedTask() throws {
        let home = try Home(hasBegun: true)
        let app = try home.start(Self.apps[0])
        var tasks = Self.both
        tasks[1].isSuspended = true
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background, options: LaunchOptions())))
        var asked: [WireTransferRequest] = []
        try app.bench.wait { message in
            switch message {
            case .transfer(_, .join(let id, _)): app.bench.send(.reply(id: id, WireReply(transfers: tasks)))
            case .transfer(_, let request): asked.append(request)
            default: break
            }
            return !asked.isEmpty
        }
        #expect(asked == [.resume(task: 2, earliestBegin: nil, bytesToSend: nil, bytesToReceive: nil)])
        _ = try app.end()
    }

    @Test("XFER-4: it answers a challenge once, and gives up when that was refused", arguments: apps)
    func challenged(command: [String]) throws {
        let home = try Home(hasBegun: true)
        let app = try home.start(command)
        let (manager, _) = try launch(app, tasks: Self.both)
        for (number, failures) in [(1, 0), (2, 1)] as [(UInt64, UInt32)] {
            let event = WireTransferEvent.challenged(
                task: 1,
                host: "podcasts.example.com",
                realm: "members",
                scheme: "basic",
                failures: failures
            )
            app.bench.deliver(number, manager: manager, .transfer(event))
            let answer: WireTransferRequest =
                failures == 0
                ? .answer(task: 1, .credential, user: "anna", password: "secret")
                : .answer(task: 1, .cancel, user: "", password: "")
            #expect(try app.bench.untilAcknowledged(number) == [.transfer(manager: manager, answer)])
        }
        _ = try app.end()
    }

    @Test("XFER-7: it hears how far they are", arguments: apps)
    func progress(command: [String]) throws {
        let home = try Home(hasBegun: true)
        let app = try home.start(command)
        let (manager, _) = try launch(app, tasks: Self.both)
        app.bench.deliver(1, manager: manager, .transfer(.progress(task: 1, sent: 0, received: 3, expected: 10)))
        app.bench.deliver(2, manager: manager, .transfer(.progress(task: 2, sent: 4, received: 0, expected: nil)))
        _ = try app.bench.untilAcknowledged(2)
        #expect(try app.end().lines.suffix(2) == ["didWriteData 3 of 10", "didSendBodyData 4 of -1"])
    }
}

import Foundation
import Testing
import WakeWire

@Suite("The FeedReader app")
struct FeedReaderTests {
    private static let swiftApp = [AppProcess.repository.appending(path: ".build/debug/FeedReader").path]
    private static let pythonApp = [
        "/usr/bin/python3",
        AppProcess.repository.appending(path: "Sources/Examples/FeedReaderPython/feed_reader.py").path,
    ]
    private static let refresh = "com.example.feedreader.refresh"
    private static let cleaning = WireTaskSubmission(
        identifier: "com.example.feedreader.cleaning",
        kind: .processing,
        requiresExternalPower: true,
        requiresNetworkConnectivity: true
    )

    /// Starts the app, and permits what it registers.
    private func launch(_ command: [String]) throws -> (app: AppProcess, registered: [String]) {
        let app = try AppProcess(command)
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background, options: LaunchOptions())))
        var registered: [String] = []
        try app.bench.wait { message in
            if case .backgroundTask(.register(let id, let identifier)) = message {
                registered.append(identifier)
                app.bench.send(.reply(id: id, WireReply(granted: true)))
            }
            return message == .launched
        }
        return (app, registered)
    }

    /// Answers what the app submits until it has submitted so much.
    private func submissions(_ count: Int, of app: AppProcess, failure: WireFailure? = nil) throws
        -> [WireTaskSubmission]
    {
        var submitted: [WireTaskSubmission] = []
        try app.bench.wait { message in
            if case .backgroundTask(.submit(let id, let submission)) = message {
                submitted.append(submission)
                app.bench.send(.reply(id: id, WireReply(failure: failure)))
            }
            return submitted.count == count
        }
        return submitted
    }

    @Test("BGT-3: it registers its handlers before its launch is over", arguments: [swiftApp, pythonApp])
    func registers(command: [String]) throws {
        let (app, registered) = try launch(command)
        #expect(registered == [Self.refresh, Self.cleaning.identifier])
        #expect(try app.end().lines.last == "register true true")
    }

    @Test(
        "BGT-1: it asks when it leaves the foreground, and says what it is refused",
        arguments: [swiftApp, pythonApp]
    )
    func refused(command: [String]) throws {
        let (app, _) = try launch(command)
        app.bench.send(.callback(delivery: 1, .didEnterBackground, state: .background))
        let failure = WireFailure(domain: "BGTaskSchedulerErrorDomain", code: 3, message: "Not permitted.")
        let submitted = try submissions(2, of: app, failure: failure)
        try app.bench.untilAcknowledged(1)
        #expect(submitted.map(\.identifier) == [Self.refresh, Self.cleaning.identifier])
        #expect(submitted[1] == Self.cleaning)
        // In a quarter of an hour by the machine's clock.
        #expect(abs((submitted[0].earliestBegin ?? 0) - Date().timeIntervalSince1970 - 900) < 60)
        let lines = try app.end().lines
        #expect(lines.contains("submit \(Self.refresh) failed: Not permitted."))
    }

    @Test(
        "BGT-8: a task that expires is asked for again, and completed as failed, once",
        arguments: [swiftApp, pythonApp]
    )
    func expires(command: [String]) throws {
        let (app, _) = try launch(command)
        let identifier = Self.cleaning.identifier
        app.bench.deliver(
            1,
            manager: 0,
            .backgroundTask(.launched(number: 7, identifier: identifier, kind: .processing))
        )
        try app.bench.untilAcknowledged(1)
        app.bench.deliver(2, manager: 0, .backgroundTask(.expired(identifier: identifier)))
        #expect(try submissions(1, of: app) == [Self.cleaning])
        let rest = try app.bench.untilAcknowledged(2)
        #expect(rest == [.backgroundTask(.completed(number: 7, success: false))])
        app.bench.deliver(3, manager: 0, .backgroundTask(.expired(identifier: identifier)))
        #expect(try app.bench.untilAcknowledged(3) == [])
        _ = try app.end()
    }
}

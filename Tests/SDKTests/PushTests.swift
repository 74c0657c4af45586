import Foundation
import Testing
import WakeWire

@Suite("The calls of pushes against a bench's end")
struct PushTests {
    /// Starts the app and answers what it asks before its launch is over.
    private func launch(_ arguments: String..., registered: Bool = false) throws -> AppProcess {
        let program = AppProcess.repository.appending(path: ".build/debug/PushApp").path
        let app = try AppProcess([program] + arguments)
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background, options: LaunchOptions())))
        try app.bench.wait { message in
            if case .push(.isRegistered(let id)) = message {
                app.bench.send(.reply(id: id, WireReply(granted: registered)))
            }
            return message == .launched
        }
        return app
    }

    @Test("LAUNCH-6: a process that was not told asks whether its app is registered", arguments: [true, false])
    func registered(registered: Bool) throws {
        let lines = try launch(registered: registered).end().lines
        #expect(lines.contains("isRegistered \(registered)"))
    }

    @Test("LAUNCH-6: that there is no device token is an error, and after unregister the app has none")
    func refused() throws {
        let app = try launch(registered: true)
        app.bench.deliver(1, manager: 0, .push(.failed(calls: false, message: "No network.")))
        #expect(try app.bench.untilAcknowledged(1) == [.push(.unregister)])
        let lines = try app.end().lines
        #expect(lines.contains("didFailToRegister No network.") && lines.last == "isRegistered false")
    }

    @Test("PUSH-1: the older call hears of a push, which then has brought nothing new")
    func older() throws {
        let app = try launch()
        app.bench.deliver(1, manager: 0, .push(.received(number: 5, payload: #"{"aps":{},"thread":"tea"}"#)))
        try app.bench.wait { $0 == .push(.completed(number: 5, result: .noData)) }
        #expect(try app.end().lines.contains("didReceiveRemoteNotification tea"))
    }

    @Test("PUSH-9: without a centre the application hears of remote notifications, and the user is shown none")
    func withoutCentre() throws {
        let app = try launch()
        func remote(_ payload: String) -> WireNotification {
            WireNotification(identifier: "it", userInfo: payload, isRemote: true)
        }
        app.bench.deliver(
            1,
            manager: 0,
            .notification(.due(number: 1, remote(#"{"aps":{"alert":"A"},"thread":"due"}"#)))
        )
        #expect(try app.bench.untilAcknowledged(1) == [.notification(.present(number: 1, shows: false))])
        // That came as a push, too.
        let both = remote(#"{"aps":{"alert":"A","content-available":1},"thread":"both"}"#)
        app.bench.deliver(2, manager: 0, .notification(.due(number: 2, both)))
        #expect(try app.bench.untilAcknowledged(2) == [.notification(.present(number: 2, shows: false))])
        app.bench.deliver(3, manager: 0, .notification(.tapped(remote(#"{"aps":{"alert":"A"},"thread":"tapped"}"#))))
        try app.bench.untilAcknowledged(3)
        let heard = try app.end().lines.filter { $0.hasPrefix("didReceiveRemoteNotification") }
        #expect(heard == ["didReceiveRemoteNotification due", "didReceiveRemoteNotification tapped"])
    }

    private func call(_ app: AppProcess, _ number: UInt32) throws -> [AppMessage] {
        app.bench.deliver(UInt64(number), manager: 0, .push(.called(number: number, payload: #"{"aps":{}}"#)))
        return try app.bench.untilAcknowledged(UInt64(number))
    }

    @Test("PUSH-7: the phone is told that a push is handled when its callback has returned, on the registry's queue")
    func returned() throws {
        let app = try launch()
        #expect(try call(app, 1) == [.push(.callHandled(number: 1))])
        _ = try app.end()
    }

    @Test("PUSH-7: without a report the return counts, and with one the completion handler")
    func completed() throws {
        let careless = try launch("later")
        #expect(try call(careless, 1) == [.push(.callHandled(number: 1))])
        #expect(try call(careless, 2) == [.push(.callHandled(number: 2))])
        _ = try careless.end()
        let app = try launch("later", "report")
        #expect(try call(app, 1) == [.push(.reportCall)])
        #expect(try call(app, 2) == [.push(.callHandled(number: 1)), .push(.reportCall)])
        _ = try app.end()
    }

    @Test("The phone makes the audio session active for a call that is answered, and inactive once that is over")
    func sound() throws {
        let app = try launch("report", "answer")
        app.bench.deliver(1, manager: 0, .push(.called(number: 1, payload: #"{"aps":{}}"#)))
        let said = try app.bench.wait { message in
            guard case .audio(_, .activate(let id)) = message else { return false }
            app.bench.send(.reply(id: id, WireReply()))
            return true
        }
        #expect(said.contains(.push(.reportCall)))
        try app.bench.wait { message in
            if case .audio(_, .deactivate(notifiesOthers: true)) = message { return true }
            return false
        }
        #expect(try app.waitForLine("didDeactivate"))
        #expect(try app.end().lines.suffix(4) == ["answer", "didActivate", "end", "didDeactivate"])
    }

    @Test("PUSH-6: the registry tells its token, and that there is none; it can be given up")
    func token() throws {
        let app = try launch()
        app.bench.deliver(1, manager: 0, .push(.registered(token: Array(0..<32), calls: true)))
        try app.bench.untilAcknowledged(1)
        app.bench.deliver(2, manager: 0, .push(.failed(calls: true, message: "No PushKit.")))
        #expect(try app.bench.untilAcknowledged(2) == [.push(.unregisterCalls)])
        #expect(try app.end().lines.suffix(2) == ["didUpdate true", "didInvalidate true"])
    }
}

import Foundation
import Testing
import WakeWire

@Suite("Calls of pushes that end, against a bench's end")
struct PushCallTests {
    @Test("PUSH-10: the phone is told that a call is over once its app has ended it, and not before")
    func ended() throws {
        let program = AppProcess.repository.appending(path: ".build/debug/PushApp").path
        let app = try AppProcess([program, "report", "answer"])
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background, options: LaunchOptions())))
        try app.bench.wait { message in
            if case .push(.isRegistered(let id)) = message {
                app.bench.send(.reply(id: id, WireReply(granted: false)))
            }
            return message == .launched
        }
        app.bench.deliver(1, manager: 0, .push(.called(number: 1, payload: #"{"aps":{}}"#)))
        let said = try app.bench.wait { message in
            guard case .audio(_, .activate(let id)) = message else { return false }
            app.bench.send(.reply(id: id, WireReply()))
            return true
        }
        #expect(said.contains(.push(.reportCall)) && !said.contains(.push(.callEnded)))
        try app.bench.wait { $0 == .push(.callEnded) }
        _ = try app.end()
    }
}

import ChildProcess
import Foundation
import Testing
import WakeWire

@Suite("The Messenger app and its service extension")
struct MessengerTests {
    private static let examples = AppProcess.repository.appending(path: "Sources/Examples").path
    private static let swiftApp = [AppProcess.repository.appending(path: ".build/debug/Messenger").path]
    private static let pythonApp = ["/usr/bin/python3", "\(examples)/MessengerPython/messenger.py"]
    private static let pythonService = ["/usr/bin/python3", "\(examples)/MessengerPythonService/service.py"]
    private static let token: [UInt8] = Array(0..<32)

    private func launch(_ command: [String], options: LaunchOptions = LaunchOptions()) throws -> (
        AppProcess, [AppMessage]
    ) {
        let app = try AppProcess(command)
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background, options: options)))
        let said = try app.bench.wait { message in
            if case .notification(.isAllowed(let id)) = message {
                app.bench.send(.reply(id: id, WireReply(granted: true)))
            }
            return message == .launched
        }
        return (app, said)
    }

    @Test("LAUNCH-6: it asks for both device tokens, and is told them", arguments: [swiftApp, pythonApp])
    func tokens(command: [String]) throws {
        let (app, said) = try launch(command)
        #expect(said.contains(.push(.register)) && said.contains(.push(.registerCalls)))
        app.bench.deliver(1, manager: 0, .push(.registered(token: Self.token, calls: false)))
        try app.bench.untilAcknowledged(1)
        app.bench.deliver(2, manager: 0, .push(.registered(token: Self.token, calls: true)))
        try app.bench.untilAcknowledged(2)
        let lines = try app.end().lines
        #expect(lines.contains { $0.hasPrefix("didRegister 00010203") } && lines.contains("didUpdate 00010203"))
    }

    @Test("PUSH-1: it calls the completion handler of a push once it has fetched", arguments: [swiftApp, pythonApp])
    func completes(command: [String]) throws {
        let (app, _) = try launch(command)
        let payload = #"{"aps":{"content-available":1},"thread":"tea"}"#
        app.bench.deliver(1, manager: 0, .push(.received(number: 7, payload: payload)))
        try app.bench.wait { $0 == .push(.completed(number: 7, result: .newData)) }
        #expect(try app.end().lines.contains("didReceiveRemoteNotification thread=tea"))
    }

    @Test("PUSH-7: it reports the call before it says that the push is handled", arguments: [swiftApp, pythonApp])
    func reports(command: [String]) throws {
        let (app, _) = try launch(command)
        app.bench.deliver(1, manager: 0, .push(.called(number: 8, payload: #"{"aps":{},"caller":"Ada"}"#)))
        let said = try app.bench.wait { $0 == .push(.callHandled(number: 8)) }
        #expect(said.contains(.push(.reportCall)))
        #expect(try app.end().lines.contains("didReceiveIncomingPush Ada"))
    }

    @Test(
        "PUSH-9: in the foreground it is told of a notification that a push brought",
        arguments: [swiftApp, pythonApp]
    )
    func presents(command: [String]) throws {
        let (app, _) = try launch(command)
        let notification = WireNotification(identifier: "tea", body: "It is ready.", isRemote: true)
        app.bench.deliver(1, manager: 0, .notification(.due(number: 3, notification)))
        #expect(try app.bench.untilAcknowledged(1).contains(.notification(.present(number: 3, shows: true))))
        #expect(try app.end().lines.contains("willPresent tea It is ready. push=true"))
    }

    @Test(
        "PUSH-1: a process that a push has launched finds its payload in the launch options",
        arguments: [swiftApp, pythonApp]
    )
    func launchOptions(command: [String]) throws {
        let (app, _) = try launch(command, options: LaunchOptions(remoteNotification: #"{"aps":{},"thread":"tea"}"#))
        #expect(try app.end().lines.contains("didFinishLaunching thread=tea"))
    }

    // MARK: The extension

    /// The extension beside its Info.plist, as in a bundle.
    private func service(_ name: String) throws -> (app: AppProcess, folder: URL) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "service-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard name == "MessengerService" else { return (try launch(Self.pythonService).0, folder) }
        let program = folder.appending(path: name)
        let built = AppProcess.repository.appending(path: ".build/debug/\(name)").resolvingSymlinksInPath()
        try link(built.path, to: program.path)
        try link("\(Self.examples)/\(name)/Info.plist", to: folder.appending(path: "Info.plist").path)
        return (try launch([program.path]).0, folder)
    }

    @Test("PUSH-9: the extension changes the notification", arguments: ["MessengerService", "MessengerPythonService"])
    func extends(name: String) throws {
        let (app, folder) = try service(name)
        defer { try? FileManager.default.removeItem(at: folder) }
        let original = WireNotification(
            identifier: "tea",
            title: "Ada",
            body: "It is ready.",
            badge: 2,
            sound: "",
            userInfo: #"{"aps":{"mutable-content":1},"link":"https://example.com/tea"}"#,
            category: "drink",
            thread: "kitchen",
            isRemote: true
        )
        app.bench.deliver(1, manager: 0, .push(.extend(number: 4, original)))
        var changed: WireNotification?
        try app.bench.wait { message in
            if case .push(.extended(4, let notification)) = message { changed = notification }
            return changed != nil
        }
        #expect(changed?.body == "Ada: It is ready." && changed?.title == "Ada" && changed?.badge == 2)
        #expect(changed?.sound == "" && changed?.category == "drink" && changed?.thread == "kitchen")
        #expect(changed?.userInfo.contains("https://example.com/tea") == true)
        _ = try app.end()
    }

    @Test(
        "PUSH-9: told that its time is nearly over, it hands out what it has",
        arguments: ["MessengerService", "MessengerPythonService"]
    )
    func expires(name: String) throws {
        let (app, folder) = try service(name)
        defer { try? FileManager.default.removeItem(at: folder) }
        let original = WireNotification(identifier: "tea", body: "…", isRemote: true)
        app.bench.deliver(1, manager: 0, .push(.extend(number: 4, original)))
        #expect(try app.bench.untilAcknowledged(1).isEmpty)
        app.bench.deliver(2, manager: 0, .push(.extensionExpires(number: 4)))
        try app.bench.wait { message in
            if case .push(.extended(4, let notification)) = message { notification.body == "A message" } else { false }
        }
        #expect(try app.end().lines.contains("serviceExtensionTimeWillExpire"))
    }
}

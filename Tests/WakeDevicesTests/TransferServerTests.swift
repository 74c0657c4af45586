import Testing
import WakeModel

@testable import WakeDevices

@Suite("Servers of transfers, and the apps that use them")
struct TransferServerTests {
    private func server(_ text: String) throws(FileError) -> TransferServer {
        let form = try DeviceFile.parse(Array("device: transfer-server\n\(text)".utf8), file: "server.yaml")
        guard case .transferServer(let server) = form else { preconditionFailure("it is one") }
        return server
    }

    private func refusal(_ text: String) -> String? {
        do throws(FileError) {
            _ = try server(text)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("A file says what lies under which path, and who may have it")
    func whole() throws {
        let server = try server(
            """
            host: Example.com
            bandwidth: 20kB
            files:
              - {path: /a, size: 1MB, resumable: true, cuts: [10kB, 20], stalls: [5], status: 206}
              - {path: /b, lock: {realm: club, scheme: digest, user: anna, password: secret}}
            """
        )
        #expect(server.bandwidth == 20_000)
        #expect(server.latency == .milliseconds(100))
        #expect(server.entries[0].cuts == [10_000, 20])
        #expect(server.entries[0].status == 206)
        #expect(server.entries[1].lock?.scheme == .digest)
        #expect(server.answers("https://user@EXAMPLE.com:8080/a?x=1#y")?.entry?.size == 1_000_000)
        #expect(server.answers("http://example.com")?.path == "/")
        #expect(server.answers("http://example.com/c")?.entry == nil)
        #expect(server.answers("http://example.org/a") == nil)
        #expect(server.answers("no url") == nil)
    }

    @Test(
        "What makes no sense is refused with its line",
        arguments: [
            ("host: a b\n", "server.yaml:2"), ("files: []\n", "server.yaml:1"),
            ("host: a\nfiles:\n  - {path: b}\n", "server.yaml:4"),
            ("host: a\nfiles:\n  - {path: /b, size: 5TB}\n", "server.yaml:4"),
            ("host: a\nbandwidth: 0\n", "server.yaml:3"),
            ("host: a\nfaults:\n  - {name: f, cut: false}\n", "server.yaml:4"),
            ("host: a\nfiles:\n  - {path: /b, lock: {realm: r}}\n", "server.yaml:4"),
        ]
    )
    func refused(text: String, place: String) {
        #expect(refusal(text)?.hasPrefix(place) == true, "\(refusal(text) ?? "taken")")
    }

    @Test("A scripted app has sessions with tasks, and a step acts on one of them")
    func scripted() throws {
        let text = """
            scenario: transfers
            apps:
              - scripted: com.example.a
                name: a
                transfers:
                  handler: never
                  sessions:
                    - id: s
                      kind: newsstand
                      launch-events: false
                      resource-timeout: 2h
                      cellular: false
                      joins: by-hand
                      answer: {user: anna, password: secret}
                      tasks: [{download: "https://example.com/a", begins-after: 1h, bytes-to-receive: 5MB}]
                      following: [{upload: "https://example.com/b"}]
            steps:
              - {at: 0, launch: a}
              - {at: 1s, transfer: a, session: s, download: "https://example.com/c"}
              - {at: 2s, transfer: a, session: s, cancel-task: 2}
              - {at: 3s, transfer: a, session: s, session-is: invalidated}
            until: 1m
            """
        let scenario = try Scenario.parse(Array(text.utf8), file: "s.yaml")
        guard case .scripted(let script) = scenario.apps[0].form else { preconditionFailure("it is scripted") }
        let use = try #require(script.transfers)
        #expect(use.handlesAfter == nil)
        let session = try #require(use.sessions.first)
        #expect(session.configuration.kind == .newsstand)
        #expect(!session.configuration.sendsLaunchEvents)
        #expect(session.configuration.resourceTimeout == .seconds(7_200))
        #expect(session.joinsByHandOnly)
        #expect(session.answer == .credential(user: "anna", password: "secret"))
        #expect(session.tasks.map(\.bytesToReceive) == [5_000_000])
        #expect(session.following.map(\.order.kind) == [.upload])
        #expect(
            scenario.steps.map(\.verb).dropFirst(2) == [
                .transfer(apps: [0], session: "s", .cancel(2)), .transfer(apps: [0], session: "s", .invalidate),
            ]
        )
    }
}

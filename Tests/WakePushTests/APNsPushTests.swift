import ChildProcess
import Foundation
import Glibc
import Testing
import WakeModel
import WakePorts
import WakePush
import WakeSystem

/// APNs' end for one app, on a port of this machine, and a provider that pushes with curl.
private final class Endpoint {
    static let bundle = "com.example.messenger"

    private let loop: EventLoop
    private let folder: String
    let push: APNsPush
    private(set) var reports: [SourceReport] = []
    private(set) var notes: [String] = []
    private var children: [ChildProcess] = []
    private var said: [UInt8] = []
    private var watch: Watch?
    private var isOver = false

    init(change: (inout PushFigures) -> Void = { _ in }) throws {
        loop = try EventLoop()
        folder = FileManager.default.temporaryDirectory.path + "/apns-push-\(UUID())"
        let names = NameTable()
        var figures = Profile.ios17.areas.push
        change(&figures)
        var desk = PushDesk(names: names, figures: figures, epoch: 0)
        desk.add(.init(bundle: Self.bundle, modes: BackgroundModes([.remoteNotification])), as: AppID(0))
        desk.register(AppID(0), forCalls: false, true)
        let played = SimulatedPush(desk: desk, extensions: [:], names: names)
        push = APNsPush(playing: played, names: names, loop: loop, port: 0, folder: folder)
        push.report = { [unowned self] in reports.append($0) }
        push.note = { [unowned self] in notes.append($0) }
        try push.start(at: .zero)
    }

    deinit {
        push.stop()
        for child in children { child.waitUntilExit() }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Whether the date in a provider's token is text.
    var hasTextDate = false

    /// A provider's token of now, whose signature nobody checks.
    private var token: String {
        let now = "\(WallClock.now() / 1_000_000_000)"
        func text(_ bytes: [UInt8]) -> String {
            let base = Data(bytes).base64EncodedString().replacing("=", with: "")
            return base.replacing("+", with: "-").replacing("/", with: "_")
        }
        let parts = [
            #"{"alg":"ES256","kid":"ABC123DEFG"}"#,
            #"{"iss":"DEF123GHIJ","iat":\#(hasTextDate ? "\"\(now)\"" : now)}"#,
        ]
        return (parts.map { text(Array($0.utf8)) } + [text([UInt8](repeating: 0, count: 64))]).joined(separator: ".")
    }

    /// Begins a push whose payload has so many bytes.
    ///
    /// - Parameter user: whose it is, where that is not the test's own; only root may be another.
    func begin(size: Int = 100, asUser user: UInt32? = nil) throws {
        (said, isOver) = ([], false)
        let head = #"{"aps":{},"x":""#
        let payload = head + String(repeating: "x", count: size - head.utf8.count - 2) + #""}"#
        let port = push.address?.split(separator: ":").dropFirst(2).first?.prefix { $0.isNumber } ?? ""
        let device = DeviceToken.text(DeviceToken.bytes(of: Self.bundle, forCalls: false))
        // Another user cannot read the certificate.
        let trust = user == nil ? ["--cacert", folder + "/apns-authority.pem"] : ["--insecure"]
        let another = user.map { ["/usr/bin/setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] } ?? []
        let words =
            another + ["/usr/bin/curl", "-s", "--http2"] + trust
            + [
                "-d", payload, "-w", " %{http_code}", "-H", "apns-topic: " + Self.bundle, "-H",
                "authorization: bearer " + token, "https://localhost:\(port)/3/device/\(device)",
            ]
        let child = ChildProcess(words[0], Array(words.dropFirst()))
        let pipe = Pipe()
        child.standardOutput = .pipe(pipe)
        child.standardError = .null
        try child.run()
        children.append(child)
        let number = pipe.fileHandleForReading.fileDescriptor
        watch = try loop.watch(number, for: .readable) { [unowned self] _ in
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = unsafe Glibc.read(number, &buffer, buffer.count)
            said += buffer.prefix(max(count, 0))
            isOver = count <= 0
            withExtendedLifetime(pipe) {}
        }
    }

    /// Waits until the push is reported.
    func report() throws -> SourceReport? {
        try turn { !reports.isEmpty }
        return reports.first
    }

    /// Waits for what the provider is answered.
    func answer() throws -> String {
        try turn { isOver }
        watch = nil
        return String(decoding: said, as: UTF8.self)
    }

    /// Serves until something is so; at most 20 seconds.
    private func turn(until condition: () -> Bool) throws {
        let deadline = MonotonicClock.now() + 20_000_000_000
        while !condition(), MonotonicClock.now() < deadline {
            try loop.runOnce(timeout: deadline - MonotonicClock.now())
        }
        #expect(condition())
    }
}

@Suite(
    "Pushes of true providers",
    .serialized,
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "needs Debian's curl")
)
struct APNsPushTests {
    @Test("PUSH-5: a true provider's payload that is too large is refused with 413, and is in the records")
    func tooLarge() throws {
        let endpoint = try Endpoint()
        try endpoint.begin(size: 6_000)
        #expect(try endpoint.answer() == #"{"reason":"PayloadTooLarge"} 413"#)
        #expect(endpoint.reports.map(\.event.push.size) == [6_000])
    }

    @Test("PUSH-5: how large a true provider's payload may be is the phone's figure")
    func figure() throws {
        let endpoint = try Endpoint { $0.payloadLimit = 4_200 }
        try endpoint.begin(size: 4_200)
        let report = try #require(try endpoint.report())
        endpoint.push.heard(report.event, isLost: false)
        endpoint.push.committed()
        #expect(try endpoint.answer() == " 200")
    }

    @Test(
        "A push of another user is refused with the reason, and the records say so once",
        .enabled(
            if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"),
            "needs root and setpriv of util-linux"
        )
    )
    func stranger() throws {
        let endpoint = try Endpoint()
        for _ in 0..<2 {
            try endpoint.begin(asUser: 65_534)
            #expect(
                try endpoint.answer()
                    == #"{"reason":"Forbidden","message":"this bench is user 0's, and not yours"} 403"#
            )
        }
        #expect(endpoint.reports.isEmpty)
        #expect(endpoint.notes == ["APNs: a push of user 65534 was refused, as this bench is user 0's"])
    }

    @Test("A push by a token whose date is text is taken, and the records say so once")
    func textDate() throws {
        let endpoint = try Endpoint()
        endpoint.hasTextDate = true
        for _ in 0..<2 {
            try endpoint.begin(size: 6_000)
            #expect(try endpoint.answer() == #"{"reason":"PayloadTooLarge"} 413"#)
        }
        #expect(
            endpoint.notes == [
                "APNs: the iat of a provider's token is text, and is taken; by RFC 7519 it is a number, and Apple may refuse the token"
            ]
        )
    }

    @Test("SYS-2: a push is accepted once it survives the bench")
    func accepted() throws {
        let endpoint = try Endpoint()
        try endpoint.begin()
        let report = try #require(try endpoint.report())
        endpoint.push.heard(report.event, isLost: false)
        endpoint.push.committed()
        #expect(try endpoint.answer() == " 200")
    }

    @Test("SYS-2: a push that does not survive the bench is not accepted")
    func shutdown() throws {
        let endpoint = try Endpoint()
        try endpoint.begin()
        let report = try #require(try endpoint.report())
        endpoint.push.heard(report.event, isLost: false)
        endpoint.push.stop()
        #expect(try endpoint.answer() == #"{"reason":"Shutdown"} 503"#)
    }

    @Test("SYS-4: a push that there was no room for is not accepted")
    func lost() throws {
        let endpoint = try Endpoint()
        try endpoint.begin()
        let report = try #require(try endpoint.report())
        endpoint.push.heard(report.event, isLost: true)
        endpoint.push.committed()
        #expect(try endpoint.answer() == #"{"reason":"ServiceUnavailable"} 503"#)
    }
}

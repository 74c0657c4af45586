import UIKit
import WakeDevices

/// An app with one connection to a call server, which does what the environment says: `CALL_APP` holds words.
///
/// `unmarked` leaves the socket as any other, `plain` uses a socket of its own instead of streams, `crash` ends with status 3
/// at the first byte after `didEnterBackground`, `activity` does something there until its time expires, `pour` expects PouredBytes of the seed 1 and reads them in pieces of all
/// sizes, ending its wakes by chance.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate, @preconcurrency StreamDelegate {
    private let words = Set((ProcessInfo.processInfo.environment["CALL_APP"] ?? "").split(separator: " "))
    private var input: InputStream?
    private var output: OutputStream?
    private var expected = PouredBytes(seed: 1)
    private var same = true
    private var reads = 0
    private var chance: UInt64 = 1
    private var isInBackground = false

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        log("didFinishLaunching pid=\(ProcessInfo.processInfo.processIdentifier)")
        isInBackground = application.applicationState == .background
        connect()
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        isInBackground = true
        log("didEnterBackground")
        if words.contains("activity") { beginActivity() }
    }

    /// An activity that ends when it expires, and then one that comes too late.
    private func beginActivity() {
        let expiration = DispatchSemaphore(value: 0)
        ProcessInfo.processInfo.performExpiringActivity(withReason: "save") { [self] expired in
            log("activity expired=\(expired)")
            if expired {
                ProcessInfo.processInfo.performExpiringActivity(withReason: "too late") { [self] expired in
                    log("late activity expired=\(expired)")
                    expiration.signal()
                }
            } else {
                expiration.wait()
                log("activity ends")
            }
        }
    }

    func applicationWillEnterForeground(_ application: UIApplication) {
        isInBackground = false
        log("willEnterForeground")
        // The bench does not wait for a stream that it does not know.
        if !words.contains("pour"), input?.hasBytesAvailable == true { readLines() }
    }

    private func connect() {
        let server = (ProcessInfo.processInfo.environment["VOIP_SERVER"] ?? "").split(separator: ":")
        guard server.count == 2, let port = Int(server[1]) else { return log("no server") }
        Stream.getStreamsToHost(withName: String(server[0]), port: port, inputStream: &input, outputStream: &output)
        guard let input, let output else { return log("no streams") }
        for stream in [input, output] as [Stream] {
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
        }
        if !words.contains("unmarked") {
            log("watched=\(input.setProperty(StreamNetworkServiceTypeValue.voIP, forKey: .networkServiceType))")
        }
        input.open()
        output.open()
        let hello = Array("HELLO\n".utf8)
        _ = unsafe output.write(hello, maxLength: hello.count)
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        guard aStream === input else { return }
        switch eventCode {
        case .hasBytesAvailable: read()
        case .endEncountered, .errorOccurred:
            log(eventCode == .endEncountered ? "closed" : "failed")
            if words.contains("pour") { log("total=\(expected.offset) same=\(same) reads=\(reads)") }
            input?.close()
            output?.close()
        default: break
        }
    }

    private func read() {
        if words.contains("crash"), isInBackground {
            log("crash")
            exit(3)
        }
        guard words.contains("pour") else { return readLines() }
        chance = chance &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        var buffer = [UInt8](repeating: 0, count: 1 + Int(chance >> 33 % 65_536))
        let count = unsafe input?.read(&buffer, maxLength: buffer.count) ?? 0
        guard count > 0 else { return }
        reads += 1
        same = unsafe memcmp(expected.next(count), buffer, count) == 0 && same
        if chance >> 40 % 50 == 0 { Wakebench.done() }
    }

    private func readLines() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe input?.read(&buffer, maxLength: buffer.count) ?? 0
        guard count > 0 else { return }
        for line in String(decoding: buffer[..<count], as: UTF8.self).split(whereSeparator: \.isNewline) {
            log("line \(line)")
        }
    }

    nonisolated private func log(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

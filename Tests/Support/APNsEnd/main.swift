import Glibc
import WakeAPNs
import WakeSystem

// The provider endpoint by itself, for the scripts that push to it: `APNsEnd FOLDER [KEY]`. It makes its identity in the folder,
// says its port on the first line, and each push it was asked for on a line of its own. A device token decides: one that
// begins with ff is refused by the reason whose number in the table the next byte is; 410 bears a time.
// A payload may be as large as Apple's may.

/// Writes a line at once: whoever waits for it reads it from a file or a pipe.
private func write(_ line: String) {
    var bytes = Array((line + "\n").utf8)[...]
    while !bytes.isEmpty {
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
        guard count > 0 else { exit(1) }
        bytes = bytes.dropFirst(count)
    }
}

private func read(_ path: String) throws -> [UInt8] { Array(try readSmallFile(path).utf8) }

private func answer(_ push: PushNotification) -> APNsAnswer {
    let payload = String(decoding: push.payload.prefix(64), as: UTF8.self)
    write("push \(push.id) \(push.deviceToken.prefix(8)) \(push.topic) \(push.pushType?.rawValue ?? "-") \(payload)")
    guard push.payload.count <= (push.pushType == .voip ? 5_120 : 4_096) else { return .refused(.payloadTooLarge) }
    guard push.deviceToken.hasPrefix("ff") else { return .accepted }
    let number = Int(push.deviceToken.dropFirst(2).prefix(2), radix: 16) ?? 0
    let reason = APNsReason.allCases[number % APNsReason.allCases.count]
    return .refused(reason, timestamp: reason.status == 410 ? WallClock.now() / 1_000_000 : nil)
}

private func serve() throws -> Int32 {
    let arguments = CommandLine.arguments
    guard arguments.count == 2 || arguments.count == 3 else {
        write("usage: APNsEnd FOLDER [KEY]")
        return 2
    }
    let loop = try EventLoop()
    let key = arguments.count == 3 ? try ProviderKey(pem: read(arguments[2])) : nil
    var made = 0
    let desk = APNsDesk(
        key: key,
        clock: { WallClock.now() / 1_000_000_000 },
        makeID: {
            made += 1
            let digits = String(made)
            return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
        },
        answer: { push, reply in reply(answer(push)) }
    )
    let identity = try TLSIdentity(in: arguments[1], at: WallClock.now() / 1_000_000_000)
    let server = try APNsServer(desk, security: .tls(identity), port: 0, on: loop)
    let end = try loop.signal(SIGTERM) { loop.exit() }
    write("port \(server.port)")
    let code = try loop.run()
    end.cancel()
    server.close()
    write(
        "counted \(desk.counts.requests) requests, \(desk.counts.accepted) accepted, \(desk.counts.connections) connections"
    )
    return code
}

do { exit(try serve()) } catch {
    write("APNsEnd: \(error)")
    exit(1)
}

import Glibc
import WakeSystem
import WakeTransfers

/// The process that carries background transfers for a bench, as nsurlsessiond does for a phone's apps. It knows neither apps
/// nor rules: it does what the bench says over a socket in its folder, and goes on when the bench is gone.
@main
enum TransfersProgram {
    /// What the command line says.
    private struct Arguments {
        var folder: String?
        var isConnected = false
        var linger: Int64 = 60_000
        var settings = TransferEngine.Settings()

        init(_ words: [String]) throws(TransferError) {
            var rest = words[...]
            while let word = rest.popFirst() {
                if word == "--connected" {
                    isConnected = true
                    continue
                }
                guard let value = rest.popFirst() else {
                    throw TransferError(.badRequest, "\(word) needs a value, or is no option")
                }
                try take(word, value)
            }
        }

        private mutating func take(_ option: String, _ value: String) throws(TransferError) {
            switch option {
            case "--folder": folder = value
            case "--ca": settings.certificates = value
            case "--linger": linger = try Self.milliseconds(option, value)
            case "--first-pause": settings.firstPause = try Self.milliseconds(option, value)
            case "--longest-pause": settings.longestPause = try Self.milliseconds(option, value)
            case "--progress": settings.progressInterval = try Self.milliseconds(option, value)
            default: throw TransferError(.badRequest, "unknown option \(option)")
            }
        }

        private static func milliseconds(_ option: String, _ value: String) throws(TransferError) -> Int64 {
            guard let number = Int64(value), (1...Self.week).contains(number) else {
                throw TransferError(.badRequest, "\(option) takes milliseconds, at most \(week), not '\(value)'")
            }
            return number
        }

        private static let week: Int64 = 7 * 24 * 3_600_000
    }

    /// The socket of the bench that started this process.
    private static let given: Int32 = 3

    static func main() {
        // A peer that goes away, or a file that may not grow (ulimit -f), is no reason to die with a signal.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        umask(0o077)
        let words = Array(CommandLine.arguments.dropFirst())
        if words == ["--version"] {
            let version = Array(CurlMulti.libraryVersion.utf8)
            exit(unsafe send(given, version, version.count, Int32(MSG_NOSIGNAL)) < 0 ? 12 : 0)
        }
        do throws(TransferError) {
            try run(try Arguments(words))
            exit(0)
        } catch {
            let packet = TransferMessage.gaveUp(error).packet
            if words.contains("--connected") { _ = unsafe send(given, packet, packet.count, Int32(MSG_NOSIGNAL)) }
            _ = try? Descriptor(owning: 2).write(Array("WakebenchTransfers: \(error.message)\n".utf8))
            // 2 for a wrong command line, 12 for what the machine lacks.
            exit(error.kind == .badRequest ? 2 : 12)
        }
    }

    private static func run(_ arguments: Arguments) throws(TransferError) {
        guard let folder = arguments.folder, folder.hasPrefix("/") else {
            throw TransferError(.badRequest, "--folder wants the absolute path of the folder of the transfers")
        }
        let spool = try TransferSpool(folder)
        try spool.claim()
        do throws(SystemError) {
            let loop = try EventLoop()
            let engine = try TransferEngine(arguments.settings, spool: spool, on: loop)
            let server = try TransferServer(engine, linger: arguments.linger, on: loop)
            let signals = try [SIGTERM, SIGINT].map { (number) throws(SystemError) in
                try loop.signal(number) { server.end() }
            }
            if arguments.isConnected {
                let bench = Descriptor(owning: given)
                try bench.makeNonBlocking()
                server.take(bench)
            }
            _ = try loop.run()
            withExtendedLifetime((server, signals)) {}
        } catch { throw TransferError(.system, error.description) }
    }
}

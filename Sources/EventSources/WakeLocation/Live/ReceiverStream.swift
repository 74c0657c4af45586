import Glibc
import WakeDevices
import WakePorts
import WakeSystem
import WakeUdev

/// What a receiver says, byte for byte: NMEA of a tty, or the reports of a gpsd.
package final class ReceiverStream {
    /// Where the receiver is.
    package enum Place: Hashable, Sendable {
        case receiver(NMEAReceiver, baud: Int)
        case gpsd(host: String, port: UInt16)
    }

    /// A tty, a FIFO, or the device as gpsd knows it.
    private enum File {
        case line(SerialLine)
        case socket(StreamSocket)
    }

    /// How long gpsd may take to greet, in nanoseconds.
    private static let patience: Int64 = 3_000_000_000
    private static let longestLine = 65_536

    /// Takes what was said, as it comes.
    package var heard: (([UInt8]) -> Void)?
    /// What is read, such as `/dev/ttyACM0`.
    package let name: String
    /// Why nothing more comes; nil while more may.
    package private(set) var end: String?
    /// How many times the receiver knew where it was.
    package private(set) var fixes = 0

    private let file: File
    private var watch: Watch?
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    private var reader = NMEAReader()
    private var line: [UInt8] = []
    private var receiver = GPSDReceiver()
    private var lastTimestamp: Double?

    /// Opens a receiver, and waits for a gpsd to greet.
    ///
    /// - Throws: ``SourceFailure`` with the remedy.
    package init(_ place: Place, on loop: EventLoop) throws(SourceFailure) {
        switch place {
        case .receiver(let receiver, let baud): (file, name) = try Self.open(receiver, baud)
        case .gpsd(let host, let port):
            (file, name) = (.socket(try Self.connect(host, port)), "gpsd on \(host):\(port)")
        }
        let number: Int32
        switch file {
        case .line(let line): number = line.number
        case .socket(let socket): number = socket.number
        }
        do throws(SystemError) {
            watch = try loop.watch(number, for: .readable) { [unowned self] _ in read() }
        } catch {
            throw SourceFailure(.environment, "\(name): \(error)")
        }
    }

    deinit { watch?.cancel() }

    private static func open(_ receiver: NMEAReceiver, _ baud: Int) throws(SourceFailure) -> (File, String) {
        do throws(SystemError) {
            if case .path(let path) = receiver { return (.line(try SerialLine(path: path, baud: baud)), path) }
            guard let node = try Udev().devices(of: "tty").first(where: receiver.matches)?.node else {
                throw SystemError("udev", code: ENODEV, subject: receiver.name)
            }
            return (.line(try SerialLine(path: node, baud: baud)), node)
        } catch {
            throw SourceFailure(.environment, "\(error); plug in a receiver, or name its tty")
        }
    }

    private static func connect(_ host: String, _ port: UInt16) throws(SourceFailure) -> StreamSocket {
        let addresses: [StreamSocket.Address]
        do throws(SystemError) { addresses = try StreamSocket.resolve(host: host, port: port) } catch {
            throw SourceFailure(.environment, "the host \(host) is not known; name another")
        }
        let deadline = MonotonicClock.now() + patience
        for address in addresses {
            guard let socket = try? StreamSocket(connectingTo: address),
                socket.wait(forReading: false, until: deadline),
                socket.failure() == nil
            else { continue }
            guard greets(socket, until: deadline), socket.write("?WATCH={\"enable\":true,\"json\":true};\n") else {
                throw SourceFailure(.environment, "what listens on \(host):\(port) is no gpsd; name another port")
            }
            return socket
        }
        throw SourceFailure(
            .environment,
            "no gpsd on \(host):\(port); start gpsd with a receiver, or name another port"
        )
    }

    /// Reads a line, and no further: what follows is the recording's.
    private static func greets(_ socket: StreamSocket, until deadline: Int64) -> Bool {
        var (line, byte) = ([UInt8](), [UInt8](repeating: 0, count: 1))
        while line.count < longestLine {
            guard let count = try? socket.read(into: &byte) ?? -1, count != 0 else { return false }
            if count < 0 {
                guard MonotonicClock.now() < deadline, socket.wait(forReading: true, until: deadline) else {
                    return false
                }
                continue
            }
            if byte[0] == UInt8(ascii: "\n") { break }
            if byte[0] != UInt8(ascii: "\r") { line.append(byte[0]) }
        }
        if case .greeting = GPSDLine(line) { return true }
        return false
    }

    private func read() {
        while end == nil {
            let count: Int?
            do throws(SystemError) {
                switch file {
                case .line(let line): count = try line.read(into: &buffer)
                case .socket(let socket): count = try socket.read(into: &buffer)
                }
            } catch {
                return finish("\(name): \(error)")
            }
            guard let count else { return }
            if count == 0 { return finish("\(name) went away") }
            take(Array(buffer[..<count]))
        }
    }

    /// Reads no more; what a receiver said last counts.
    package func close() {
        watch?.cancel()
        watch = nil
        if reader.finish()?.point != nil { fixes += 1 }
    }

    private func finish(_ why: String) {
        end = why
        watch?.cancel()
        watch = nil
    }

    private func take(_ bytes: [UInt8]) {
        heard?(bytes)
        if case .line = file {
            reader.read(bytes) { if $0.point != nil { fixes += 1 } }
            return
        }
        for byte in bytes {
            if byte != UInt8(ascii: "\n") {
                if line.count < Self.longestLine { line.append(byte) }
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if let said = GPSDLine(line) { count(said) }
            line.removeAll(keepingCapacity: true)
        }
    }

    /// Counts a fix as often as it has a new time.
    private func count(_ said: GPSDLine) {
        switch said {
        case .fix(let point, let device):
            guard receiver.takes(fixOf: device), point.timestamp != lastTimestamp else { return }
            lastTimestamp = point.timestamp
            fixes += 1
        case .receiver(let device, isActive: false):
            if receiver.isMeant(by: device) { receiver.forget() }
        case .greeting, .noFix, .receiver, .watching, .other: break
        }
    }
}

import UIKit

/// Marks its connection, answers each byte with the time, and is done.
@MainActor
final class AppDelegate: UIResponder, UIApplicationDelegate, @preconcurrency StreamDelegate {
    private var input: InputStream?
    private var output: OutputStream?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let server = (ProcessInfo.processInfo.environment["VOIP_SERVER"] ?? "").split(separator: ":")
        guard let port = Int(server.last ?? "") else { return false }
        Stream.getStreamsToHost(withName: "127.0.0.1", port: port, inputStream: &input, outputStream: &output)
        guard let input, let output else { return false }
        input.delegate = self
        input.schedule(in: .main, forMode: .default)
        input.setProperty(StreamNetworkServiceTypeValue.voIP, forKey: .networkServiceType)
        input.open()
        output.open()
        let number = unsafe withUnsafeBytes(of: Int64(getpid()).littleEndian) { unsafe Array($0) }
        _ = unsafe output.write(number, maxLength: number.count)
        return true
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        guard eventCode == .hasBytesAvailable, let input, let output else { return }
        let time = stamp()
        var buffer = [UInt8](repeating: 0, count: 64)
        guard unsafe input.read(&buffer, maxLength: buffer.count) > 0 else { return }
        _ = unsafe output.write(time, maxLength: time.count)
        Wakebench.done()
    }
}

/// The kernel's monotonic clock in nanoseconds, as eight bytes.
func stamp() -> [UInt8] {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    let nanoseconds = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    return unsafe withUnsafeBytes(of: nanoseconds.littleEndian) { unsafe Array($0) }
}

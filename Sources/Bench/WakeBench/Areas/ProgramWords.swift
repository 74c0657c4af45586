import Glibc
import WakeSystem

/// The lines that a program writes, as they come.
@safe final class ProgramWords {
    /// The longest line that is kept, in bytes; the rest of a longer one is left out.
    private static let longestLine = 2_000
    private static let atOnce = Int32(truncatingIfNeeded: MSG_DONTWAIT)

    private var theirs: Descriptor?
    /// The last line; empty when there is none.
    private(set) var last = ""
    private let ours: Descriptor
    private var watch: Watch?
    private var line: [UInt8] = []
    private let heard: (String) -> Void

    /// - Parameter heard: takes each line, without its end, on the loop's thread.
    init(on loop: EventLoop, heard: @escaping (String) -> Void) throws(SystemError) {
        let ends = try streamPair()
        ours = Descriptor(owning: ends.0)
        theirs = Descriptor(owning: ends.1)
        self.heard = heard
        watch = try loop.watch(ours.number, for: .readable) { [unowned self] _ in read() }
    }

    deinit { watch?.cancel() }

    /// What the program is to write to, until it has ``begun()``.
    var output: Int32 { theirs?.number ?? -1 }

    /// The program has the other end now, and this one comes to its end with the program.
    func begun() { theirs = nil }

    /// Reads what has been written, without waiting.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while watch != nil {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                repeatingInterrupted { unsafe recv(ours.number, bytes.baseAddress, bytes.count, Self.atOnce) }
            }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else {
                watch?.cancel()
                watch = nil
                if !line.isEmpty { end() }
                return
            }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    end()
                } else if line.count < Self.longestLine {
                    line.append(byte)
                }
            }
        }
    }

    private func end() {
        last = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        heard(last)
    }
}

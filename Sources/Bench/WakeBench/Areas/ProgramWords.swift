import Glibc
import WakeSystem

/// The lines that a program writes, as they come.
@safe final class ProgramWords {
    /// The longest line that is kept, in bytes; the rest of a longer one is left out.
    private static let longestLine = 2_000
    /// The most that is read at a time, in chunks of 4096 bytes: a program that writes without end holds up nothing else.
    private static let mostChunks = 16

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
        // A program that finds no room is to wait, and not to fail.
        _ = fcntl(ends.1, F_SETFL, 0)
        self.heard = heard
        watch = try loop.watch(ours.number, for: .readable) { [unowned self] _ in read() }
    }

    deinit { watch?.cancel() }

    /// What the program is to write to, until it has ``begun()``.
    var output: Int32 { theirs?.number ?? -1 }

    /// What can be read when there are lines; -1 when there are no more.
    var number: Int32 { watch == nil ? -1 : ours.number }

    /// The program has the other end now, and this one comes to its end with the program.
    func begun() { theirs = nil }

    /// Reads what has been written, without waiting.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<Self.mostChunks where watch != nil {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                repeatingInterrupted { unsafe recv(ours.number, bytes.baseAddress, bytes.count, 0) }
            }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else {
                watch?.cancel()
                watch = nil
                return end()
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
        guard !line.isEmpty else { return }
        last = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        heard(last)
    }
}

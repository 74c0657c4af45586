import Glibc
import WakeModel
import WakeSystem

/// How far the clock of a run has come, kept in its folder: the journal has the instants of inputs, and time goes on between
/// them.
///
/// The file is one line, `wake.clock/1 ` and nanoseconds since the start of the run in 19 digits, and is written over in place.
/// What is kept survives the death of the bench, as a commit of the journal does; the death of the machine may leave an earlier
/// instant.
final class KeptClock {
    private let path: String
    private var file: Descriptor
    /// The latest instant that is kept; at first the one that the bench before left, which is zero where there was none.
    private(set) var instant = Instant.zero
    /// What was wrong with the file of a run that had begun, so that it did not say how far that had come; nil for nothing.
    private(set) var damage: String?

    private static let head = Array("wake.clock/1 ".utf8)
    private static let digits = 19
    private static let length = head.count + digits + 1
    /// A hundred years, so that no instant that is reckoned from it is out of range.
    private static let latest = Instant(nanoseconds: LivePhone.latest)

    /// Opens the file, and makes it where there is none.
    ///
    /// - Parameter isNew: whether the run begins, so that what an earlier one left there means nothing.
    /// - Throws: ``CommandFailure`` with exit code 12 when the system refuses, or something else is in its place.
    init(_ path: String, isNew: Bool) throws(CommandFailure) {
        self.path = path
        file = try Self.open(path, isNew ? O_TRUNC : 0)
        if !isNew {
            let line = try read()
            if let found = Self.instant(in: line) {
                instant = found
                return
            }
            damage = line.isEmpty ? "missing or empty" : "not what wakebench wrote"
            // What is longer than a line would stay behind the next.
            _ = ftruncate(file.number, 0)
        }
        // From now on a run without it has lost it.
        try write(.zero)
    }

    private static func open(_ path: String, _ flags: Int32) throws(CommandFailure) -> Descriptor {
        do throws(SystemError) { return try Descriptor.openFile(path, O_RDWR | O_CREAT | flags) } catch {
            throw PhoneFolder.failure(error, of: path)
        }
    }

    /// What the file holds; of a longer one, a byte more than its line has.
    private func read() throws(CommandFailure) -> ArraySlice<UInt8> {
        var line = [UInt8](repeating: 0, count: Self.length + 1)
        let number = file.number
        let count = unsafe line.withUnsafeMutableBytes { bytes in
            repeatingInterrupted { unsafe pread(number, bytes.baseAddress, bytes.count, 0) }
        }
        guard count >= 0 else {
            throw CommandFailure(.environment, SystemError(last: "pread", subject: path).description)
        }
        return line.prefix(count)
    }

    private static func instant(in line: ArraySlice<UInt8>) -> Instant? {
        guard line.count == length, line.starts(with: head), line.last == UInt8(ascii: "\n") else { return nil }
        let number = line.dropFirst(head.count).dropLast()
        guard number.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let nanoseconds = Int64(String(decoding: number, as: UTF8.self)), nanoseconds <= latest.nanoseconds
        else { return nil }
        return Instant(nanoseconds: nanoseconds)
    }

    private static func line(of instant: Instant) -> [UInt8] {
        let number = Array(String(instant.nanoseconds).utf8)
        let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: digits - number.count)
        return head + zeros + number + [UInt8(ascii: "\n")]
    }

    /// The run does not go on from before this instant, whatever becomes of the bench.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 when it cannot be written.
    func keep(_ instant: Instant) throws(CommandFailure) {
        if instant > self.instant { try write(instant) }
    }

    /// Makes the file anew where somebody removed it, or put another in its place: what it said is known here.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 when the system refuses, or something that is no file is in its place.
    func returnToPlace() throws(CommandFailure) {
        guard FileIdentity(at: path) != FileIdentity(of: file.number) else { return }
        file = try Self.open(path, O_TRUNC)
        try write(instant)
    }

    private func write(_ instant: Instant) throws(CommandFailure) {
        let line = Self.line(of: instant)
        let number = file.number
        let written = unsafe line.withUnsafeBytes { bytes in
            repeatingInterrupted { unsafe pwrite(number, bytes.baseAddress, bytes.count, 0) }
        }
        guard written == line.count else {
            let reason = written < 0 ? errno : ENOSPC
            throw CommandFailure(.environment, SystemError("pwrite", code: reason, subject: path).description)
        }
        self.instant = instant
    }
}

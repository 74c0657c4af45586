import Glibc
import WakeSystem

/// The word that opens the page: 128 bits by chance, in a file of the state folder that its owner alone can read. It stays the
/// same when the daemon is started again, so that a page that is open goes on.
struct PageToken {
    let text: String

    /// Reads it, or makes it.
    init(in state: String) throws(CommandFailure) {
        let path = state + "/page-token"
        if let known = Self.read(path) {
            text = known
            return
        }
        text = Self.random()
        do throws(SystemError) {
            let new = path + ".new"
            unsafe unlink(new)
            let file = try Descriptor.open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            guard try file.write(Array((text + "\n").utf8)) == text.utf8.count + 1 else {
                throw SystemError("write", code: ENOSPC, subject: new)
            }
            guard unsafe rename(new, path) == 0 else { throw SystemError(last: "rename", subject: path) }
        } catch {
            throw CommandFailure(.environment, error.description, hint: "see to the folder of --state")
        }
    }

    /// What a file has that only this user can have written and read; nil for any other.
    private static func read(_ path: String) -> String? {
        guard let file = try? Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return nil }
        var facts = stat()
        guard unsafe fstat(file.number, &facts) == 0, facts.st_mode == S_IFREG | 0o600, facts.st_uid == geteuid() else {
            return nil
        }
        var buffer = [UInt8](repeating: 0, count: 64)
        guard let count = try? file.read(into: &buffer), count == length + 1, buffer[length] == 0x0a else { return nil }
        let text = String(decoding: buffer[..<length], as: UTF8.self)
        return text.utf8.allSatisfy { isDigit($0) } ? text : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    /// Of its text, in bytes.
    private static let length = 32

    /// 128 bits that nobody can guess, as hexadecimal digits.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let halves = [generator.next(), generator.next() as UInt64]
        return halves.map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Whether a word is this one, in a time that does not say how far it is right.
    func matches(_ word: String) -> Bool {
        let (own, given) = (Array(text.utf8), Array(word.utf8))
        guard own.count == given.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(own, given) { difference |= left ^ right }
        return difference == 0
    }
}

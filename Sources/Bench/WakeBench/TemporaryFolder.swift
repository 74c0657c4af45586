import Glibc
import WakeReports
import WakeSystem

/// A folder that lasts as long as its owner, and takes all that is in it with it.
final class TemporaryFolder {
    let path: String

    /// - Throws: ``CommandFailure`` with exit code 12 when the system refuses.
    init() throws(CommandFailure) {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var name = Array("\(parent)/wakebench-XXXXXX".utf8CString)
        let isMade = unsafe name.withUnsafeMutableBufferPointer { text in
            guard let start = text.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        guard isMade else {
            let reason = SystemError(last: "mkdtemp").description
            throw CommandFailure(.environment, "\(parent): \(reason)", hint: "name another folder with TMPDIR")
        }
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        guard let slash = path.lastIndex(of: "/") else { return }
        remove(String(path[path.index(after: slash)...]), in: String(path[..<slash]))
    }

    /// Removes what a name in the folder stands for, with all that is in it.
    func remove(_ name: String) { remove(name, in: path) }

    private func remove(_ name: String, in parent: String) {
        guard let folder = try? Descriptor.open(parent.isEmpty ? "/" : parent, O_RDONLY | O_DIRECTORY) else { return }
        RunFolder.remove(name, in: folder.number)
    }

    /// Writes a file whole or not at all, and makes the folders on the way to it.
    static func write(_ text: String, to path: String) throws(CommandFailure) {
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try RunFolder.make(String(path[..<slash])) }
        do throws(ReportError) {
            let file = try LogFile(replacing: path, isShared: true)
            try file.write(text)
            try file.finish()
        } catch {
            throw CommandFailure(.environment, error)
        }
    }
}

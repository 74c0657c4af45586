import Glibc
import WakeSystem
import WakeTransfers

/// Copies the file of an upload into the folder, a piece at a time, so that what the app does to it later does not matter.
final class UploadCopy {
    /// Those who wait for it.
    var replies: [TransferEngine.Reply] = []
    /// Commands that came meanwhile, in order.
    var waiting: [() -> Void] = []
    /// Gets nil when all of it is there.
    var ended: (SystemError?) -> Void = { _ in }

    private let source: Descriptor
    private let target: Descriptor
    private let next: Timer
    private var buffer = [UInt8](repeating: 0, count: 1 << 20)

    /// - Throws: ``TransferError`` of the kind `noFile` for a file that cannot be read, or is no regular one.
    init(of path: String, as number: UInt64, in spool: TransferSpool, on loop: EventLoop) throws(TransferError) {
        do throws(SystemError) {
            // A pipe would let the opening wait.
            source = try Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        } catch { throw TransferError(.noFile, error.description) }
        var status = stat()
        guard unsafe fstat(source.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw TransferError(.noFile, "\(path) is no file")
        }
        do throws(SystemError) {
            target = try spool.makeUpload(number)
            next = try loop.timer(on: .monotonic)
        } catch { throw TransferError(.system, error.description) }
        next.handler = { [unowned self] in copyPiece() }
        next.arm(at: 1)
    }

    private func copyPiece() {
        do throws(SystemError) {
            guard let count = try source.read(into: &buffer), count > 0 else { return ended(nil) }
            var rest = buffer[..<count]
            while !rest.isEmpty {
                guard let written = try target.write(Array(rest)), written > 0 else {
                    throw SystemError("write", code: ENOSPC)
                }
                rest = rest.dropFirst(written)
            }
            next.arm(at: 1)
        } catch { ended(error) }
    }
}

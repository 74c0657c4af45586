import Glibc
import WakeDevices
import WakeModel

/// The files that simulated servers send, for apps that can read them: bytes that tell by their place what they must be.
package struct TransferFiles {
    /// Where they lie.
    let folder: String

    /// The most bytes of a file that are written, whatever the server says its size is.
    static let largest: UInt64 = 64 << 20

    /// Whether a file of so many bytes can be what a transfer brought that received so many.
    package static func isWhole(_ size: UInt64, received: UInt64) -> Bool {
        size == received || size == largest && received > largest
    }

    /// Writes what a transfer brought.
    ///
    /// - Returns: the path of the file; nil when it cannot be written.
    func write(_ size: UInt64, of transfer: TransferNumber) -> String? {
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else { return nil }
        let path = place(transfer)
        // A pipe in its place is not waited for.
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = PouredBytes(seed: UInt64(transfer))
        var left = Int(min(size, Self.largest))
        while left > 0 {
            let part = bytes.next(min(left, 65_536))
            guard unsafe Glibc.write(descriptor, part, part.count) == part.count else {
                remove(transfer)
                return nil
            }
            left -= part.count
        }
        return absolute(path)
    }

    /// Removes what a transfer brought, if it is there.
    func remove(_ transfer: TransferNumber) { unsafe unlink(place(transfer)) }

    private func place(_ transfer: TransferNumber) -> String { "\(folder)/\(transfer).download" }

    /// The path as any process can use it; nil when it is none.
    private func absolute(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}

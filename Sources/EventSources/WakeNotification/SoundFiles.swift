import Glibc
import WakeModel

/// Reads what the sound files of bundles say of themselves.
package enum SoundFiles {
    /// The longest beginning of a file that is read: all headers stand before the samples.
    private static let headerBytes = 65_536

    /// What the file of a notification's sound is; nil when it is none that can be read.
    ///
    /// - Parameters:
    ///   - name: as the app gives it: the name of a file of its bundle.
    ///   - bundle: the path of the bundle's folder.
    package static func sound(_ name: String, of bundle: String) -> SoundFile? {
        // A sound lies in the bundle itself, and nowhere else.
        guard !name.isEmpty, name.utf8.count <= 255, !name.contains("/"), !name.contains("\0"), name != "..",
            name != "."
        else { return nil }
        let descriptor = unsafe open("\(bundle)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = [UInt8](repeating: 0, count: headerBytes)
        let count = unsafe read(descriptor, &bytes, headerBytes)
        guard count > 0 else { return nil }
        return SoundHeader.read(Array(bytes[..<count]), size: Int(status.st_size))
    }
}

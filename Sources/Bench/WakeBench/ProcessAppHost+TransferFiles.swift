import Glibc
import WakeModel
import WakeSystem

/// The files that transfers bring to real apps.
extension ProcessAppHost {
    /// Where the files of downloads lie below an app's own folder, as on a phone.
    private static let downloads = ["Library", "Caches", "com.apple.nsurlsessiond", "Downloads"]

    /// Gives the file of a download to the app that is to have it; it stays where it was, too, until the app has taken it. No part of the way there may be a link: it would lead out
    /// of the app's folder.
    ///
    /// - Returns: where it lies, be it since an earlier process of the app was told.
    /// - Throws: ``SystemError`` when it cannot be linked there, or is gone.
    func place(_ file: String, of transfer: TransferNumber, for app: AppID) throws(SystemError) -> String {
        guard let bundle = bundles[app] else { preconditionFailure("app \(app.number) is no bundle") }
        var path = bundle.home
        var folder = try Descriptor.open(path, O_RDONLY | O_DIRECTORY)
        for part in Self.downloads + [bundle.identifier] {
            path += "/" + part
            guard unsafe mkdirat(folder.number, part, 0o700) == 0 || errno == EEXIST else {
                throw SystemError(last: "mkdir", subject: path)
            }
            let number = unsafe openat(folder.number, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard number >= 0 else { throw SystemError(last: "open", subject: path) }
            folder = Descriptor(owning: number)
        }
        let name = "CFNetworkDownload_\(transfer).tmp"
        var result = unsafe linkat(AT_FDCWD, file, folder.number, name, 0)
        if result != 0, errno == EEXIST {
            // Of an earlier process that was told and did not take it.
            _ = unsafe unlinkat(folder.number, name, 0)
            result = unsafe linkat(AT_FDCWD, file, folder.number, name, 0)
        }
        guard result == 0 else { throw SystemError(last: "link", subject: file) }
        return "\(path)/\(name)"
    }
}

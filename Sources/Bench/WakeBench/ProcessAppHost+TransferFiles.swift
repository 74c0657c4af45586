import Glibc
import WakeBackgroundTransfer
import WakeModel
import WakeSystem
import WakeWire

/// The files that transfers bring to real apps.
extension ProcessAppHost {
    /// Where the files of downloads lie below an app's own folder, as on a phone.
    private static let downloads = ["Library", "Caches", "com.apple.nsurlsessiond", "Downloads"]

    /// Gives a copy of the file of a download to the app that is to have it. What it was copied from stays as it is until the app has
    /// taken the result: one that is killed before that may have written into its own. No part of the way there may be a link: it
    /// would lead out of the app's folder. What else the app has left in the way is renamed, with a note.
    ///
    /// - Returns: where the copy lies; nil, with a note, when the file has another size than what was received.
    /// - Throws: ``SystemError`` when it cannot be made, or the file is gone.
    func place(
        _ response: WireTransferResponse,
        of transfer: TransferNumber,
        for app: AppID
    ) throws(SystemError) -> String? {
        guard let bundle = bundles[app] else { preconditionFailure("app \(app.number) is no bundle") }
        var path = bundle.home
        var folder = try Descriptor.open(path, O_RDONLY | O_DIRECTORY)
        for part in Self.downloads + [bundle.identifier] {
            var status = stat()
            if unsafe fstatat(folder.number, part, &status, AT_SYMLINK_NOFOLLOW) == 0,
                ![S_IFDIR, S_IFLNK].contains(status.st_mode & S_IFMT)
            {
                try moveAside(part, in: folder.number, path, of: app)
            }
            path += "/" + part
            guard unsafe mkdirat(folder.number, part, 0o700) == 0 || errno == EEXIST else {
                throw SystemError(last: "mkdir", subject: path)
            }
            let number = unsafe openat(folder.number, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard number >= 0 else { throw SystemError(last: "open", subject: path) }
            folder = Descriptor(owning: number)
        }
        let name = "CFNetworkDownload_\(transfer).tmp"
        let source = try Descriptor.openFile(response.file, O_RDONLY)
        // Of an earlier process that was told and did not take it.
        if unsafe unlinkat(folder.number, name, 0) != 0, errno == EISDIR {
            try moveAside(name, in: folder.number, path, of: app)
        }
        var status = stat()
        guard unsafe fstat(source.number, &status) == 0 else {
            throw SystemError(last: "fstat", subject: response.file)
        }
        guard TransferFiles.isWhole(UInt64(status.st_size), received: response.received) else {
            let sizes = "it has \(status.st_size) bytes, and \(response.received) came"
            let what = "a download failed, as \(response.file) is not what was received: \(sizes)"
            surroundings?.note(.held(what), of: app)
            return nil
        }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let number = unsafe openat(folder.number, name, flags, 0o600)
        guard number >= 0 else { throw SystemError(last: "open", subject: "\(path)/\(name)") }
        do throws(SystemError) { try source.copyRest(to: Descriptor(owning: number)) } catch {
            _ = unsafe unlinkat(folder.number, name, 0)
            throw error
        }
        return "\(path)/\(name)"
    }

    /// Renames what stands where a download's file, or a folder on the way to it, is to be.
    private func moveAside(_ name: String, in folder: Int32, _ path: String, of app: AppID) throws(SystemError) {
        var status = stat()
        var number = 1
        while unsafe fstatat(folder, "\(name).\(number)", &status, AT_SYMLINK_NOFOLLOW) == 0 { number += 1 }
        guard unsafe renameat(folder, name, folder, "\(name).\(number)") == 0 else {
            throw SystemError(last: "rename", subject: "\(path)/\(name)")
        }
        let what = "\(path)/\(name) was in the way of a download's file, and is \(name).\(number) now"
        surroundings?.note(.held(what), of: app)
    }
}

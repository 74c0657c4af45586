import Foundation
import Glibc

/// Whether other users can reach a file: whether they may search each folder on the way to it. In root's own folder they may not.
package func othersReach(_ path: String) -> Bool {
    var folder = URL(filePath: path).deletingLastPathComponent().standardized
    while true {
        var status = stat()
        guard unsafe stat(folder.path, &status) == 0, status.st_mode & S_IXOTH != 0 else { return false }
        if folder.path == "/" { return true }
        folder.deleteLastPathComponent()
    }
}

import Foundation

/// What apps and service extensions of a group share. No entitlements are looked at: any program may take any group.
enum AppGroups {
    private static let root = ProcessInfo.processInfo.environment["WAKEBENCH_GROUPS"]

    /// The bytes that a file's name may have.
    private static let longest = 255

    /// The folder of a group, which may have to be made; nil for what is no group's identifier, and where no bench gives a place.
    static func folder(of identifier: String) -> String? {
        guard let root, identifier.hasPrefix("group."), identifier.utf8.count <= longest, !identifier.contains("/"),
            !identifier.contains("\0")
        else { return nil }
        return root + "/" + identifier
    }
}

extension FileManager {
    /// The folder that apps and service extensions of a group share.
    ///
    /// - Parameter groupIdentifier: begins with `group.`. Any app may take any group here.
    /// - Returns: nil for another identifier, and in a process that no bench started.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        guard let folder = AppGroups.folder(of: groupIdentifier) else { return nil }
        try? createDirectory(atPath: folder, withIntermediateDirectories: true)
        return URL(filePath: folder, directoryHint: .isDirectory)
    }
}

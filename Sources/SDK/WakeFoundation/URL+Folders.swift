import Foundation

/// Foundation on Linux has these folders by `FileManager` alone, and no library.
extension URL {
    /// The app's documents.
    public static var documentsDirectory: URL { folder(.documentDirectory, or: "Documents") }
    /// What the app can make again.
    public static var cachesDirectory: URL { folder(.cachesDirectory, or: ".cache") }
    /// What the app needs and its user does not see. It may have to be made first.
    public static var applicationSupportDirectory: URL { folder(.applicationSupportDirectory, or: ".local/share") }
    /// The library. Caches and application support, as `FileManager` has them here, are not in it.
    public static var libraryDirectory: URL { homeDirectory.appending(path: "Library", directoryHint: .isDirectory) }

    private static func folder(_ directory: FileManager.SearchPathDirectory, or name: String) -> URL {
        FileManager.default.urls(for: directory, in: .userDomainMask).first
            ?? homeDirectory.appending(path: name, directoryHint: .isDirectory)
    }
}

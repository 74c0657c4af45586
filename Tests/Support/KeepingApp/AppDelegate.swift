import UIKit

/// Keeps state in the ways that Foundation has for it, and is killed right after that. At its launch it prints where its folders
/// are, and what an earlier process has kept.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private static let word = "kept"
    private static let files: [(FileManager.SearchPathDirectory, String)] = [
        (.documentDirectory, "atomic"), (.documentDirectory, "string"), (.cachesDirectory, "plain"),
        (.applicationSupportDirectory, "protected"),
    ]
    private static let address = URL(string: "https://example.com/kept")!

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        tellFolders()
        say((["kept"] + kept).joined(separator: " "))
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        do { try keep() } catch { say("failed: \(error)") }
        kill(getpid(), SIGKILL)
    }

    private func url(_ directory: FileManager.SearchPathDirectory, _ name: String = "") -> URL {
        FileManager.default.urls(for: directory, in: .userDomainMask)[0].appending(path: name)
    }

    private func tellFolders() {
        let home = ProcessInfo.processInfo.environment["HOME"] ?? "none"
        let folders = [
            ("home", NSHomeDirectory()), ("account", FileManager.default.homeDirectoryForCurrentUser.path),
            ("tilde", NSString(string: "~").expandingTildeInPath), ("documents", url(.documentDirectory).path),
            ("caches", url(.cachesDirectory).path), ("temporary", NSTemporaryDirectory()),
        ]
        for (name, path) in folders {
            say("\(name) own=\(path.hasPrefix(home)) there=\(FileManager.default.fileExists(atPath: path))")
        }
        say("support own=\(url(.applicationSupportDirectory).path.hasPrefix(home))")
    }

    /// The names of what is there from before.
    private var kept: [String] {
        var names: [String] = []
        for (directory, name) in Self.files
        where (try? String(contentsOf: url(directory, name), encoding: .utf8)) == Self.word {
            names.append(name)
        }
        if let data = try? Data(contentsOf: url(.documentDirectory, "archive")),
            let text = try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSString.self, from: data), text == "kept"
        {
            names.append("archive")
        }
        if HTTPCookieStorage.shared.cookies?.first?.value == Self.word { names.append("cookie") }
        let cached = URLCache.shared.cachedResponse(for: URLRequest(url: Self.address))
        if cached?.data == Data(Self.word.utf8) { names.append("response") }
        return names
    }

    private func keep() throws {
        let data = Data(Self.word.utf8)
        try data.write(to: url(.documentDirectory, "atomic"), options: .atomic)
        try Self.word.write(to: url(.documentDirectory, "string"), atomically: true, encoding: .utf8)
        try data.write(to: url(.cachesDirectory, "plain"))
        let support = url(.applicationSupportDirectory)
        try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
        let protected = url(.applicationSupportDirectory, "protected")
        try data.write(to: protected, options: [.atomic, .completeFileProtection])
        let attributes: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.complete]
        try FileManager.default.setAttributes(attributes, ofItemAtPath: protected.path)
        let object = NSString(string: Self.word)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        try archive.write(to: url(.documentDirectory, "archive"), options: .atomic)
        let expires = Date(timeIntervalSinceNow: 86_400)
        let cookie: [HTTPCookiePropertyKey: Any] = [
            .name: "session", .value: Self.word, .domain: "example.com", .path: "/", .expires: expires,
        ]
        if let cookie = HTTPCookie(properties: cookie) { HTTPCookieStorage.shared.setCookie(cookie) }
        let response = URLResponse(
            url: Self.address,
            mimeType: "text/plain",
            expectedContentLength: data.count,
            textEncodingName: nil
        )
        let cached = CachedURLResponse(response: response, data: data)
        URLCache.shared.storeCachedResponse(cached, for: URLRequest(url: Self.address))
    }

    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

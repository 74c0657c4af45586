import Foundation
import WakeBench
import WakeDevices

/// Looks for scenarios in folders.
enum ScenarioSearch {
    /// More files are no folder of scenarios.
    private static let mostFiles = 100_000
    /// How much of a file is looked at: a scenario says what it is near its beginning.
    private static let headBytes = 65_536

    /// The scenarios that files and folders stand for: each file, and of a folder the YAML files in it and below it that have
    /// the key `scenario`, in the order of their paths. What is hidden, and what is in a bundle, is passed by.
    ///
    /// - Throws: ``CommandFailure`` with exit code 3 for what is not there, and for a folder without a scenario.
    static func files(_ paths: [String]) throws(CommandFailure) -> [String] {
        var found: [String] = []
        for path in paths {
            guard let isFolder = isFolder(path) else {
                throw CommandFailure(
                    .notFound,
                    in: path,
                    "no such file or folder",
                    hint: "name scenarios, or a folder of them"
                )
            }
            guard isFolder else {
                found.append(path)
                continue
            }
            let inside = try scenarios(below: path)
            guard !inside.isEmpty else {
                throw CommandFailure(
                    .notFound,
                    in: path,
                    "no scenario in it",
                    hint: "a scenario has the key 'scenario:'"
                )
            }
            found += inside
        }
        return found
    }

    /// Nil for what is not there.
    static func isFolder(_ path: String) -> Bool? {
        var isFolder: ObjCBool = false
        return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) ? isFolder.boolValue : nil
    }

    private static func scenarios(below folder: String) throws(CommandFailure) -> [String] {
        guard let all = FileManager.default.enumerator(atPath: folder) else {
            throw CommandFailure(.environment, in: folder, "cannot be read")
        }
        var found: [String] = []
        var count = 0
        while let path = all.nextObject() as? String {
            count += 1
            guard count <= mostFiles else {
                throw CommandFailure(
                    .usage,
                    in: folder,
                    "more than \(mostFiles) files",
                    hint: "name the folder of the scenarios"
                )
            }
            let name = path.split(separator: "/").last.map(String.init) ?? path
            if name.hasPrefix(".") || name.hasSuffix(".app") {
                all.skipDescendants()
            } else if name.hasSuffix(".yaml") || name.hasSuffix(".yml"), isScenario(folder + "/" + path) {
                found.append((folder.hasSuffix("/") ? folder : folder + "/") + path)
            }
        }
        return found.sorted()
    }

    private static func isScenario(_ path: String) -> Bool {
        // A pipe would make its reader wait.
        guard let descriptor = try? InputFile.open(path) else { return false }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let head = (try? file.read(upToCount: headBytes)) ?? Data()
        return head.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: Array("scenario:".utf8)) }
    }
}

import Foundation

/// Where a scenario's files are looked for, and what is in them.
package struct ScenarioFiles: Sendable {
    /// Whether there is a folder at a path.
    package var isFolder: @Sendable (String) -> Bool
    /// Whether there is a file at a path.
    package var isFile: @Sendable (String) -> Bool
    /// The bytes of the file at a path, of which it may have so many.
    package var bytes: @Sendable (String, Int) throws(FileError) -> [UInt8]
    /// Folders to look in after the scenario's own.
    package var searchFolders: [String]

    /// The files of this machine.
    package init(searchFolders: [String] = []) {
        self.searchFolders = searchFolders
        isFolder = { path in
            var isFolder: ObjCBool = false
            return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
        }
        isFile = { path in
            var isFolder: ObjCBool = false
            return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
        }
        bytes = { (path, limit) throws(FileError) in try InputFile.read(path, limit: limit) }
    }

    /// The bytes of a file.
    ///
    /// - Throws: ``FileError`` with line 0 when there is no such file, when it is no ordinary file, or when it is too large.
    func read(_ path: String, limit: Int = YAMLReader.byteLimit) throws(FileError) -> [UInt8] {
        try bytes(path, limit)
    }

    /// The first place where the path names what is wanted: as it is when absolute, else beside the scenario, then in
    /// the search folders.
    func find(
        _ node: YAMLNode,
        _ what: String,
        isThere: (String) -> Bool
    ) throws(FileError) -> String {
        let path = try node.text(expecting: "the path of a \(what)")
        if path.utf8.contains(0) { throw node.error(expected: "the path of a \(what)") }
        if path.hasPrefix("/") {
            if isThere(path) { return path }
            throw node.error(found: "no \(what) '\(excerpt(path))'", expected: "it there")
        }
        let folders = [folder(of: node.file)] + searchFolders
        for folder in folders {
            let candidate = folder == "." ? path : folder.hasSuffix("/") ? folder + path : folder + "/" + path
            if isThere(candidate) { return candidate }
        }
        throw node.error(
            found: "no \(what) '\(excerpt(path))'",
            expected: "it in \(folders.joined(separator: " or "))"
        )
    }

    private func folder(of file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return "." }
        return slash == file.startIndex ? "/" : String(file[..<slash])
    }
}

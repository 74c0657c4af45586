import Foundation

/// Where the programs of a run are.
struct Programs {
    /// The test's own.
    var environment = ProcessInfo.processInfo.environment
    /// Where the tests were built.
    var beside = Programs.ownFolder
    /// Where this library's package lies: built there, the bench is of the same version.
    var repository = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL.path

    private static let ownFolder: String = {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: own ?? CommandLine.arguments[0]).deletingLastPathComponent().path
    }()

    /// The path of `wakebench`.
    func bench() throws(Wakebench.Failure) -> String {
        if let named = environment["WAKEBENCH"], !named.isEmpty {
            if isProgram(named) { return absolute(named) }
            throw .noProgram("WAKEBENCH=\(named): no such program; name wakebench by its path, or unset the variable")
        }
        let path = environment["PATH", default: ""].split(separator: ":").filter { $0.hasPrefix("/") }
        let built = ["debug", "release"].map { "\(repository)/.build/\($0)" }
        let folders = [beside] + path.map(String.init) + built
        if let found = folders.map({ "\($0)/wakebench" }).first(where: isProgram) { return found }
        throw .noProgram(
            "no program wakebench beside the tests (\(beside)), on PATH or built in \(repository); put it on PATH, "
                + "name it in the variable WAKEBENCH, or add its product to the dependencies of the test target"
        )
    }

    /// The path of an app's executable.
    func app(_ name: String) throws(Wakebench.Failure) -> String {
        let path = name.contains("/") ? absolute(name) : "\(beside)/\(name)"
        if isProgram(path) { return path }
        throw .unusable("\(path): no such program; build it, or give its path")
    }

    private func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }
}

/// A path from the working directory on.
func absolute(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }

import Foundation

/// A package that depends on this one by path, as an app's own would.
///
/// It stands in .build and is kept, so that a second run builds what has changed alone.
struct OutsidePackage {
    static let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL

    struct Outcome {
        let output: String
        let status: Int32

        var warnings: [Substring] { output.split(separator: "\n").filter { $0.contains("warning:") } }
    }

    private let folder = repository.appending(path: ".build/outside")
    private var package: URL { folder.appending(path: "package") }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    /// Writes the new app with its tests, and each folder of Package as a target of tests beside them.
    func write() throws {
        try write("UnitTests", as: "UnitTests", in: "Tests")
        try write("BenchTests", as: "BenchTests", in: "Tests")
        try writeNewApp()
        try replace(package.appending(path: "Package.swift"), with: manifest)
    }

    private var manifest: String {
        let products = ["CoreBluetooth", "UIKit", "WakebenchTesting"].map {
            #".product(name: "\#($0)", package: "wakebench")"#
        }
        func target(_ name: String, _ mode: String, _ kind: String = "testTarget") -> String {
            #".\#(kind)(name: "\#(name)", dependencies: [\#(products.joined(separator: ", "))], "#
                + "swiftSettings: [.swiftLanguageMode(\(mode))])"
        }
        let targets = [
            target("Pulse", ".v6", "executableTarget"), target("UnitTests", ".v6"), target("BenchTests", ".v5"),
            target("PulseTests", ".v6"),
        ]
        return """
            // swift-tools-version: 6.0
            import PackageDescription

            let package = Package(
                name: "outside",
                dependencies: [.package(name: "wakebench", path: "\(Self.repository.path)")],
                targets: [\(targets.joined(separator: ", "))]
            )

            """
    }

    /// Writes the app, its tests and its scenario as `wakebench app new` makes them.
    private func writeNewApp() throws {
        let made = folder.appending(path: "Pulse")
        let program = Self.repository.appending(path: ".build/debug/wakebench").path
        let outcome = try run(program, ["app", "new", "Pulse", "--force", "--out", made.path])
        if outcome.status != 0 {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSDebugDescriptionErrorKey: outcome.output])
        }
        try write(made.appending(path: "Sources"), to: package.appending(path: "Sources/Pulse"))
        try write(made.appending(path: "Tests"), to: package.appending(path: "Tests/PulseTests"))
        for name in ["Info.plist", "belt.yaml", "scenario.yaml"] {
            let text = try String(contentsOf: made.appending(path: name), encoding: .utf8)
            try replace(package.appending(path: name), with: text)
        }
    }

    private func write(_ sources: String, as target: String, in place: String = "Sources") throws {
        let from = Self.repository.appending(path: "Tests/OutsideTests/Package/\(sources)")
        try write(from, to: package.appending(path: "\(place)/\(target)"))
    }

    private func write(_ from: URL, to: URL) throws {
        try FileManager.default.createDirectory(at: to, withIntermediateDirectories: true)
        let names = try FileManager.default.contentsOfDirectory(atPath: from.path)
        for old in try FileManager.default.contentsOfDirectory(atPath: to.path) where !names.contains(old) {
            try FileManager.default.removeItem(at: to.appending(path: old))
        }
        for name in names {
            try replace(to.appending(path: name), with: String(contentsOf: from.appending(path: name), encoding: .utf8))
        }
    }

    /// A file that says the same already keeps its date, and needs no build.
    private func replace(_ file: URL, with text: String) throws {
        if (try? String(contentsOf: file, encoding: .utf8)) == text { return }
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    /// Builds everything, tests too.
    func build() throws -> Outcome { try swift("build", "--build-tests") }

    /// Runs the package's tests without a bench, as they were built.
    func test() throws -> Outcome { try swift("test", "--skip-build") }

    private func swift(_ command: String, _ option: String) throws -> Outcome {
        let places = ["--package-path", package.path, "--scratch-path", folder.appending(path: "build").path]
        return try run("/usr/bin/env", ["swift", command, option] + places)
    }

    /// Runs a program to its end, without a bench.
    func run(_ command: String, _ arguments: [String] = []) throws -> Outcome {
        let log = folder.appending(path: "output")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let output = try FileHandle(forWritingTo: log)
        let process = Process()
        process.executableURL = URL(filePath: command)
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        // A build of a few rooms has no products.
        environment["WAKEBENCH_TESTS"] = nil
        process.environment = environment
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        return Outcome(output: try String(contentsOf: log, encoding: .utf8), status: process.terminationStatus)
    }
}

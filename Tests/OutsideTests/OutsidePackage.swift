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
    private var products: URL { folder.appending(path: "build/debug") }

    /// Writes each folder of Package as a target, in Swift 6 mode, in Swift 5 mode, or once in each.
    init() throws {
        try write("Forms", as: "Forms5")
        try write("Forms", as: "Forms6")
        try write("Main", as: "Main")
        try write("UnitTests", as: "UnitTests", in: "Tests")
        try replace(package.appending(path: "Package.swift"), with: manifest)
    }

    private var manifest: String {
        let modules = ["UIKit", "CoreBluetooth", "CoreLocation", "AVFoundation", "ExternalAccessory", "os", "OSLog"]
        let products = modules.map { #".product(name: "\#($0)", package: "wakebench")"# }.joined(separator: ", ")
        func target(_ name: String, _ mode: String, _ kind: String = "executableTarget") -> String {
            #".\#(kind)(name: "\#(name)", dependencies: [\#(products)], "#
                + "swiftSettings: [.swiftLanguageMode(\(mode))])"
        }
        return """
            // swift-tools-version: 6.0
            import PackageDescription

            let package = Package(
                name: "outside",
                dependencies: [.package(name: "wakebench", path: "\(Self.repository.path)")],
                targets: [\(target("Forms5", ".v5")), \(target("Forms6", ".v6")), \(target("Main", ".v5")), \(target("UnitTests", ".v6", "testTarget"))]
            )

            """
    }

    private func write(_ sources: String, as target: String, in place: String = "Sources") throws {
        let from = Self.repository.appending(path: "Tests/OutsideTests/Package/\(sources)")
        let to = package.appending(path: "\(place)/\(target)")
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

    /// Runs a program of the package without a bench, the variables added to its environment.
    func run(_ program: String, _ variables: [String: String] = [:]) throws -> Outcome {
        try run(products.appending(path: program).path, [], variables)
    }

    private func run(
        _ command: String,
        _ arguments: [String],
        _ variables: [String: String] = [:]
    ) throws -> Outcome {
        let log = folder.appending(path: "output")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let output = try FileHandle(forWritingTo: log)
        let process = Process()
        process.executableURL = URL(filePath: command)
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        // A build of a few rooms has no products.
        environment["WAKEBENCH_TESTS"] = nil
        environment.merge(variables) { $1 }
        process.environment = environment
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        return Outcome(output: try String(contentsOf: log, encoding: .utf8), status: process.terminationStatus)
    }
}

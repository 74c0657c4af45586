import Foundation
import Glibc

/// One call of `Wakebench.run`: what is played, and the folder that it is played in.
struct Play: Sendable {
    var scenario: Wakebench.Scenario
    var apps: [Wakebench.App]
    /// Options of `wakebench run`.
    var words: [String]
    /// Where the run folder is to be kept.
    var folder: String?
    var allowsFailure: Bool

    /// More runs at once than processors only make each other wait, and an app's patience is wall time.
    private static let places = DispatchSemaphore(value: max(2, ProcessInfo.processInfo.activeProcessorCount))

    /// The exit codes of a run that is over and has its reports: done, timeout, an expectation not met, an app's fault.
    private static let complete: Set<Int32> = [0, 6, 7, 8]

    /// Plays on the calling thread, which must last as long as the bench.
    func carryOut(on child: Child) throws(Wakebench.Failure) -> Wakebench.Run {
        Self.places.wait()
        defer { Self.places.signal() }
        let bench = Bench(program: try Programs().bench(), child: child, folder: try Self.temporaryFolder())
        do {
            let run = try play(on: bench)
            bench.clean()
            return run
        } catch {
            // Its folder is what explains it.
            if case .scenarioFailed = error, folder == nil { throw error }
            bench.clean()
            throw error
        }
    }

    private func play(on bench: Bench) throws(Wakebench.Failure) -> Wakebench.Run {
        let (file, name, search) = try place(in: bench)
        for app in apps { try put(app, on: bench) }
        let out = folder.map(absolute) ?? bench.path("run")
        var line = ["run", file, "--quiet", "--out", out, "--parent", "\(getpid())", "--apps", search]
        if folder != nil { line.append("--force") }
        let (code, talk) = try bench.run(line + words)
        guard Self.complete.contains(code) else {
            throw .refused(exitCode: code, message: bench.said(talk, of: file, as: name))
        }
        let log = try bench.log(of: out)
        let failed = code != 0 && !allowsFailure
        let run = try RunFiles(folder: out, log: log, name: name).run(
            exitCode: code,
            talk: talk,
            kept: folder != nil || failed ? out : nil
        )
        if failed { throw .scenarioFailed(run) }
        return run
    }

    /// The scenario stands in the temporary folder, so that the bundles beside it are those of this run.
    private func place(in bench: Bench) throws(Wakebench.Failure) -> (file: String, name: String, search: String) {
        switch scenario {
        case .file(let path):
            let whole = absolute(path)
            let name = URL(filePath: whole).lastPathComponent
            guard FileManager.default.fileExists(atPath: whole) else {
                throw .unusable("\(whole): no such file; give a scenario's path, from the working directory on")
            }
            try bench.link(whole, as: name)
            return (bench.path(name), whole, URL(filePath: whole).deletingLastPathComponent().path)
        case .text(let text):
            let name = "scenario.yaml"
            do { try Data(text.utf8).write(to: URL(filePath: bench.path(name))) } catch {
                throw .unusable(
                    "\(bench.path(name)): cannot be written; make room, or set TMPDIR to a folder with some"
                )
            }
            return (bench.path(name), name, FileManager.default.currentDirectoryPath)
        }
    }

    private func put(_ app: Wakebench.App, on bench: Bench) throws(Wakebench.Failure) {
        switch app {
        case .bundle(let path):
            let whole = absolute(path)
            try bench.link(whole, as: URL(filePath: whole).lastPathComponent)
        case .program(let name, let info):
            let program = try Programs().app(name)
            let (code, talk) = try bench.run([
                "app", "bundle", program, "--info", absolute(info), "--out", bench.folder,
            ])
            guard code == 0 else { throw .refused(exitCode: code, message: bench.said(talk)) }
        }
    }

    private static func temporaryFolder() throws(Wakebench.Failure) -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-\(UUID().uuidString)").path
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .unusable("\(folder): cannot be made; make room, or set TMPDIR to a folder with some")
        }
        return folder
    }
}

/// The program, and the temporary folder that one play has for its own.
struct Bench {
    let program: String
    let child: Child
    let folder: String

    /// The most that is kept of what a command says on stderr.
    private static let talkLimit = 64 << 10

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    func clean() { try? FileManager.default.removeItem(atPath: folder) }

    func link(_ file: String, as name: String) throws(Wakebench.Failure) {
        do { try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: file) } catch {
            throw .unusable(
                "\(path(name)): cannot be linked to \(file); give each app, and the scenario, a name of its own"
            )
        }
    }

    /// Runs a command to its end.
    ///
    /// - Returns: its exit code, and what it said on stderr.
    func run(_ words: [String]) throws(Wakebench.Failure) -> (code: Int32, talk: String) {
        let (output, errors) = (path(".output"), path(".errors"))
        let code = try child.run(program, words, output: output, errors: errors)
        guard let file = FileHandle(forReadingAtPath: errors) else { return (code, "") }
        let talk = (try? file.read(upToCount: Self.talkLimit)) ?? Data()
        return (code, String(decoding: talk, as: UTF8.self))
    }

    /// The records of a run, in full.
    func log(of run: String) throws(Wakebench.Failure) -> Data {
        let (code, talk) = try self.run(["log", run])
        guard code == 0 else { throw .refused(exitCode: code, message: said(talk)) }
        guard let log = try? Data(contentsOf: URL(filePath: path(".output")), options: .alwaysMapped) else {
            throw .unusable("\(path(".output")): cannot be read")
        }
        return log
    }

    /// What the program said last, without its own name, and with the user's name for a file in the temporary folder.
    func said(_ talk: String, of file: String? = nil, as name: String = "") -> String {
        let last = talk.split(separator: "\n").last { !$0.hasPrefix("wakebench: note: ") } ?? ""
        let plain = last.hasPrefix("wakebench: ") ? String(last.dropFirst(11)) : String(last)
        guard let file else { return plain.isEmpty ? "it said nothing" : plain }
        return plain.replacing(file, with: name).replacing("\(folder) or ", with: "")
    }
}

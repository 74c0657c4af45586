import ChildProcess
import Foundation

/// A program that is notified: the bench with its app, the C program with the same app, or bleak.
final class Client {
    let name: String
    /// Where what it prints goes.
    let output: String
    private let process: ChildProcess
    /// Where its app prints; nil for one that counts itself.
    private let log: String?

    /// - Parameter log: where the count is printed, when the program does not print it.
    init(
        _ name: String,
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        in folder: String,
        log: String? = nil
    ) throws {
        self.name = name
        self.log = log
        output = "\(folder)/\(name).output"
        process = ChildProcess(program, arguments)
        process.environment.merge(environment) { $1 }
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        guard let file = FileHandle(forWritingAtPath: output) else { throw Failure("\(output) cannot be written") }
        process.standardOutput = .handle(file)
        process.standardError = .handle(file)
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// The process itself, and the app that it has started.
    func processes() throws -> [pid_t] {
        let own = process.processIdentifier
        let apps = try Self.threads(of: own).flatMap { thread in
            try Self.text("/proc/\(own)/task/\(thread)/children").split(separator: " ").compactMap { pid_t($0) }
        }
        return [own] + apps
    }

    /// The processor time of a process since its start, in nanoseconds: the scheduler's own count of all its threads.
    static func processorTime(of process: pid_t) throws -> Int64 {
        try threads(of: process).reduce(0) { sum, thread in
            let count = try text("/proc/\(process)/task/\(thread)/schedstat").split(separator: " ").first
            return sum + (count.flatMap { Int64($0) } ?? 0)
        }
    }

    private static func threads(of process: pid_t) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
    }

    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// How many values came, and how many did not; to be asked when it has ended.
    func counted() throws -> (values: Int, lost: Int) {
        process.waitUntilExit()
        let text = try Self.text(log ?? output)
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("counted ") }) else {
            throw Failure("\(name) did not count; see \(log ?? output)")
        }
        let numbers = line.split(separator: " ").compactMap { word in
            word.split(separator: "=").last.flatMap { Int($0) }
        }
        guard numbers.count == 2 else { throw Failure("\(name) printed '\(line)'") }
        return (numbers[0], numbers[1])
    }
}

/// A measurement that cannot be made, in words.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

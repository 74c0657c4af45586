import ChildProcess
import Foundation
import WakeSystem

/// A program that is notified: the bench with its app, the C program with the same app, or bleak.
final class Client {
    let name: String
    /// Where its complaints go.
    let complaints: String
    private let process: ChildProcess
    private let output = Pipe()
    private var printed = Data()
    private var watch: Watch?
    /// It has closed its output, and so has all that it has started.
    private(set) var hasEnded = false
    /// Where its app prints; nil for one that counts itself.
    private let log: String?

    /// - Parameters:
    ///   - loop: hears what it prints, and that it ends.
    ///   - log: where the count is printed, when the program does not print it.
    init(
        _ name: String,
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        in folder: String,
        on loop: EventLoop,
        log: String? = nil
    ) throws {
        self.name = name
        self.log = log
        complaints = "\(folder)/\(name).complaints"
        process = ChildProcess(program, arguments)
        process.environment.merge(environment) { $1 }
        _ = FileManager.default.createFile(atPath: complaints, contents: nil)
        guard let file = FileHandle(forWritingAtPath: complaints) else {
            throw Failure("\(complaints) cannot be written")
        }
        process.standardOutput = .pipe(output)
        process.standardError = .handle(file)
        try process.run()
        watch = try loop.watch(output.fileHandleForReading.fileDescriptor, for: .readable) { [unowned self] _ in hear()
        }
    }

    private func hear() {
        let part = output.fileHandleForReading.availableData
        printed.append(part)
        if part.isEmpty {
            hasEnded = true
            watch = nil
        }
    }

    /// The process itself, and the app that it has started.
    func processes() throws -> [pid_t] {
        let own = process.processIdentifier
        let children = try Self.threads(of: own).flatMap { thread in
            try Self.text("/proc/\(own)/task/\(thread)/children").split(separator: " ").compactMap { pid_t($0) }
        }
        return try [own] + children.filter { try Self.text("/proc/\($0)/comm").hasPrefix("NotificationBen") }
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
        let text = try log.map(Self.text) ?? String(decoding: printed, as: UTF8.self)
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("counted ") }) else {
            throw Failure("\(name) did not count; see \(log ?? complaints)")
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

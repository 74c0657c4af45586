import Foundation
import WakeBench
import WakeDevices

/// The record of a fuzzing: a head, then a line an operation.
@safe final class FuzzFile {
    let path: String
    private var file: UnsafeMutablePointer<FILE>?
    private var failure: String?

    init(_ path: String) { self.path = path }

    deinit { if let file = unsafe file { unsafe fclose(file) } }

    /// Makes the file, in a folder that is there.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 when there can be no such file.
    func begin(address: String, seed: UInt64, _ target: FuzzTarget) throws(CommandFailure) {
        unsafe file = fopen(path, "we")
        guard unsafe file != nil else {
            let reason = unsafe String(cString: strerror(errno))
            throw CommandFailure(.environment, "\(path): \(reason)", hint: "give another folder with --out")
        }
        let characteristics = target.characteristics.map {
            FuzzHead.Characteristic(handle: FuzzReport.handle($0.handle), uuid: $0.uuid, service: $0.service)
        }
        write(try Output.json(page: FuzzHead(device: address, seed: seed, characteristics: characteristics)))
    }

    func add(_ record: FuzzRecord) {
        do throws(CommandFailure) { write(try Output.json(page: FuzzLine(record))) } catch {
            failure = failure ?? error.message
        }
    }

    /// One line, at once: a bench that dies leaves all that was done.
    private func write(_ line: String) {
        guard failure == nil, let file = unsafe file else { return }
        let isWhole = unsafe fputs(line + "\n", file) >= 0 && fflush(file) == 0
        if !isWhole {
            failure = unsafe String(cString: strerror(errno))
        }
    }

    /// - Throws: ``CommandFailure`` when not all of it could be written.
    func end() throws(CommandFailure) {
        guard let failure else { return }
        throw CommandFailure(.environment, in: path, "cannot be written (\(failure))", hint: "make room there")
    }
}

/// The first line of a record.
struct FuzzHead: Encodable {
    struct Characteristic: Encodable {
        var handle: String
        var uuid: String
        var service: String
    }

    var schema = "wake.device-fuzz/1"
    var device: String
    var seed: UInt64
    var characteristics: [Characteristic]
}

/// A line of a record.
struct FuzzLine: Encodable {
    var operation: Int
    /// Since the beginning, in seconds.
    var at: Double
    var does: String
    var handle: String?
    var value: String?
    var length: Int?
    var count: Int?
    var answer: String
    /// The error of ATT, with its words.
    var error: String?
    var says: String?
    /// In seconds.
    var latency: Double
    var notified: Int?

    init(_ record: FuzzRecord) {
        let operation = record.operation
        (self.operation, does) = (record.number, operation.word)
        at = Double(record.at / 1_000) / 1e6
        latency = Double(record.latency / 1_000) / 1e6
        handle = operation.handle.map(FuzzReport.handle)
        (value, length, count) = (operation.value?.hexadecimal, operation.value?.count, operation.count)
        answer = record.answer.word
        notified = record.notified == 0 ? nil : record.notified
        switch record.answer {
        case .value(let bytes): if length == nil { length = bytes }
        case .refused(let code): (error, says) = ("0x\(code.hexadecimal)", FuzzAnswer.text(code))
        case .unsent(let why): says = why
        case .done, .ignored, .silence, .gone: break
        }
    }
}

/// What a fuzzing came to, for people and for programs.
struct FuzzReport {
    var address: String
    var seed: UInt64
    var summary: FuzzSummary
    /// Of characteristics, by their handles.
    var uuids: [UInt16: String]
    var record: String

    static func handle(_ handle: UInt16) -> String { "0x\(handle.hexadecimal)" }

    // MARK: For people

    private static let mostListed = 8

    var lines: [String] {
        var lines = [
            "\(address): \(summary.operations) operations with seed \(seed) over \(summary.links) links: "
                + "\(summary.answered) answered, \(summary.refused) of them with an error, "
                + "\(summary.notified) values notified"
        ]
        lines += summary.disconnects.prefix(Self.mostListed).map { "link lost during \(text($0))" }
        if summary.disconnects.count > Self.mostListed {
            lines.append("and \(summary.disconnects.count - Self.mostListed) links more")
        }
        lines += summary.hangs.prefix(Self.mostListed).map { "no answer in 30s to \(text($0))" }
        lines += summary.opened.map { "\(place($0)) takes no writes, and took one" }
        lines += summary.changed.map { "\(place($0.handle)) has another value than at first" }
        if !summary.leftOut.isEmpty {
            let names = summary.leftOut.map(\.uuid).joined(separator: ", ")
            lines.append("not written to, for want of --writes: \(names)")
        }
        lines.append("record: \(record)")
        lines.append(end)
        return lines
    }

    private var end: String {
        let last = summary.before.map { "; before it, \(text($0))" } ?? ""
        let cause = summary.diedOf.map { ": lost with \(text($0))\(last)" } ?? ""
        switch summary.end {
        case .answered: return "it is there, and answers"
        case .silent: return "it is there, and does not answer any more\(cause)"
        case .unreachable: return "it advertises, and cannot be connected to any more\(cause)"
        case .gone: return "it is gone from the air\(cause)"
        }
    }

    /// `0x0012 (2A39)`
    private func place(_ handle: UInt16) -> String {
        Self.handle(handle) + (uuids[handle].map { " (\($0))" } ?? "")
    }

    private func text(_ record: FuzzRecord) -> String {
        let operation = record.operation
        let bytes = operation.value.map { " of \($0.count) bytes" } ?? ""
        let place = operation.handle.map { " at \(self.place($0))" } ?? ""
        let count = operation.count.map { ", \($0) times" } ?? ""
        return "operation \(record.number), \(operation.word)\(bytes)\(place)\(count)"
    }

    // MARK: For programs

    struct Page: Encodable {
        var schema = "wake.device-fuzz-summary/1"
        var ok: Bool
        var device: String
        var seed: UInt64
        var operations: Int
        var answered: Int
        var refused: Int
        var notified: Int
        var links: Int
        /// By their numbers.
        var disconnects: [Int]
        var hangs: [Int]
        var opened: [String]
        var changed: [String]
        var leftOut: [String]
        /// `answered`, `silent`, `unreachable` or `gone`.
        var end: String
        /// The operation that was the last one, and the one before it.
        var diedOf: FuzzLine?
        var before: FuzzLine?
        var interrupted: Bool
        var record: String
    }

    var page: Page {
        Page(
            ok: summary.isClean && !summary.wasInterrupted,
            device: address,
            seed: seed,
            operations: summary.operations,
            answered: summary.answered,
            refused: summary.refused,
            notified: summary.notified,
            links: summary.links,
            disconnects: summary.disconnects.map(\.number),
            hangs: summary.hangs.map(\.number),
            opened: summary.opened.map(Self.handle),
            changed: summary.changed.map { Self.handle($0.handle) },
            leftOut: summary.leftOut.map(\.uuid),
            end: summary.end.rawValue,
            diedOf: summary.diedOf.map(FuzzLine.init),
            before: summary.diedOf == nil ? nil : summary.before.map(FuzzLine.init),
            interrupted: summary.wasInterrupted,
            record: record
        )
    }
}

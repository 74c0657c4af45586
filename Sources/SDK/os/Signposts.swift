import Foundation
import Glibc
import WakeClient
import WakeWire

/// Names one span among those of the same name that overlap.
public struct OSSignpostID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number behind the name.
    public let rawValue: UInt64

    /// A name from its number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A name from its number.
    public init(_ value: UInt64) {
        rawValue = value
    }

    /// A name that no other span of the process has.
    public init(log: OSLog) {
        rawValue = SignpostNumbers.next()
    }

    /// The name that goes with an object.
    public init(log: OSLog, object: AnyObject) {
        rawValue = UInt64(UInt(bitPattern: ObjectIdentifier(object)))
    }

    /// Spans of the name do not overlap.
    public static let exclusive = OSSignpostID(0xEEEE_B0B5_B2B2_EEEE)
    /// No name; nothing is written.
    public static let null = OSSignpostID(0)
    /// A name that never is one; nothing is written.
    public static let invalid = OSSignpostID(.max)

    /// By their numbers.
    public static func < (lhs: OSSignpostID, rhs: OSSignpostID) -> Bool { lhs.rawValue < rhs.rawValue }

    var isWritten: Bool { self != .null && self != .invalid }
}

/// What a signpost marks.
public struct OSSignpostType: RawRepresentable, Hashable, Sendable {
    /// The number behind the kind.
    public let rawValue: UInt8

    /// A kind from its number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A moment.
    public static let event = OSSignpostType(rawValue: 0)
    /// The begin of a span.
    public static let begin = OSSignpostType(rawValue: 1)
    /// The end of a span.
    public static let end = OSSignpostType(rawValue: 2)

    var mark: WireSignpost.Mark {
        switch self {
        case .begin: .begin
        case .end: .end
        default: .event
        }
    }
}

extension OSLog {
    /// Whether signposts of this log are written.
    public var signpostsEnabled: Bool { prefix != nil }

    /// Writes a signpost as a line: the log, what it marks, its name, its number and the seconds of the monotonic clock, such as
    /// `signpost [com.example:sync] begin fetch id=1 at=12.000000000 3 records`. An app's bench hears of it too.
    func writeSignpost(_ type: OSSignpostType, _ name: StaticString, _ id: OSSignpostID, _ text: String) {
        guard signpostsEnabled, id.isWritten else {
            return
        }
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        BenchClient.connected?.send(
            .signpost(
                WireSignpost(
                    type.mark,
                    name: name.description,
                    span: id == .exclusive ? nil : String(id.rawValue),
                    subsystem: subsystem,
                    category: category,
                    message: text,
                    time: Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
                )
            )
        )
        let fraction = String(now.tv_nsec)
        let zeroes = String(repeating: "0", count: 9 - fraction.count)
        let number = id == .exclusive ? "exclusive" : String(id.rawValue)
        write(
            word: "signpost",
            "\(type.mark.rawValue) \(name) id=\(number) at=\(now.tv_sec).\(zeroes)\(fraction)\(text.isEmpty ? "" : " " + text)"
        )
    }
}

/// Marks a moment, or an end of a span, in the run's trace and with a line in the app's log, with a format as of `printf`.
public func os_signpost(
    _ type: OSSignpostType,
    log: OSLog,
    name: StaticString,
    signpostID: OSSignpostID = .exclusive,
    _ format: StaticString = "",
    _ arguments: Any...
) {
    guard log.signpostsEnabled else {
        return
    }
    log.writeSignpost(type, name, signpostID, Format.text(format.description, arguments))
}

/// What a signpost says beside its name.
public typealias SignpostMetadata = OSLogMessage

/// A span that has begun.
public struct OSSignpostIntervalState: Hashable, Sendable {
    let id: OSSignpostID

    /// The span of a number that was begun elsewhere.
    public static func beginState(id: OSSignpostID) -> OSSignpostIntervalState { OSSignpostIntervalState(id: id) }
}

/// Marks moments and spans of one subsystem and category, in the run's trace and with lines in the app's log.
public struct OSSignposter: Sendable {
    private let log: OSLog

    /// Marks in the log of a program that names no part of itself.
    public init() {
        log = .default
    }

    /// Marks in the log of a subsystem, such as a bundle identifier, and a category in it.
    public init(subsystem: String, category: String) {
        log = OSLog(subsystem: subsystem, category: category)
    }

    /// Marks in the log of a subsystem and a category with a meaning of its own.
    public init(subsystem: String, category: OSLog.Category) {
        log = OSLog(subsystem: subsystem, category: category)
    }

    /// Marks in that log.
    public init(logHandle: OSLog) {
        log = logHandle
    }

    /// Marks where a logger writes.
    public init(logger: Logger) {
        log = logger.log
    }

    /// Marks nothing.
    public static let disabled = OSSignposter(logHandle: .disabled)

    /// Whether anything is marked.
    public var isEnabled: Bool { log.signpostsEnabled }

    /// A number that no other span of the process has.
    public func makeSignpostID() -> OSSignpostID { OSSignpostID(log: log) }

    /// The number that goes with an object.
    public func makeSignpostID(from object: AnyObject) -> OSSignpostID { OSSignpostID(log: log, object: object) }

    /// Marks the begin of a span.
    public func beginInterval(
        _ name: StaticString,
        id: OSSignpostID = .exclusive,
        _ message: SignpostMetadata = ""
    ) -> OSSignpostIntervalState {
        log.writeSignpost(.begin, name, id, message.text)
        return OSSignpostIntervalState(id: id)
    }

    /// Marks the end of a span.
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: SignpostMetadata = "") {
        log.writeSignpost(.end, name, state.id, message.text)
    }

    /// Marks a moment.
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: SignpostMetadata = "") {
        log.writeSignpost(.event, name, id, message.text)
    }

    /// Marks the span of a piece of work.
    public func withIntervalSignpost<Result>(
        _ name: StaticString,
        id: OSSignpostID = .exclusive,
        _ message: SignpostMetadata = "",
        around task: () throws -> Result
    ) rethrows -> Result {
        let state = beginInterval(name, id: id, message)
        defer { endInterval(name, state) }
        return try task()
    }
}

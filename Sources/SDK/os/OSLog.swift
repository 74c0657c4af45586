import Foundation
import Glibc

/// How much a line of the log matters.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    /// The number behind the level.
    public let rawValue: UInt8

    /// A level from its number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A level from its number.
    public init(_ rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Worth keeping.
    public static let `default` = OSLogType(0x00)
    /// Helpful, not essential.
    public static let info = OSLogType(0x01)
    /// Useful only while something is being looked for.
    public static let debug = OSLogType(0x02)
    /// Something went wrong in the process.
    public static let error = OSLogType(0x10)
    /// Something went wrong in the system, or in the program itself.
    public static let fault = OSLogType(0x11)

    /// The word that a line begins with.
    var word: String {
        switch self {
        case .info: "info"
        case .debug: "debug"
        case .error: "error"
        case .fault: "fault"
        default: "default"
        }
    }
}

/// A part of a program that writes to the log.
///
/// On this phone the log is the app's standard error: one line an entry, with the level, the subsystem and the category.
open class OSLog: NSObject, @unchecked Sendable {
    /// A category with a meaning of its own.
    public struct Category: RawRepresentable, Hashable, Sendable {
        /// The text behind the category.
        public let rawValue: String

        /// A category from its text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Moments of interest in a trace.
        public static let pointsOfInterest = Category(rawValue: "PointsOfInterest")
    }

    /// The log of a program that names no part of itself.
    public static let `default` = OSLog(prefix: "", subsystem: "", category: "")
    /// A log that nothing is written to.
    public static let disabled = OSLog(prefix: nil, subsystem: "", category: "")

    /// What stands before each line; nil when nothing is written.
    let prefix: String?
    let subsystem: String
    let category: String

    private init(prefix: String?, subsystem: String, category: String) {
        self.prefix = prefix
        self.subsystem = subsystem
        self.category = category
        super.init()
    }

    /// The log of a subsystem, such as a bundle identifier, and a category in it.
    public convenience init(subsystem: String, category: String) {
        self.init(prefix: "[\(subsystem):\(category)] ", subsystem: subsystem, category: category)
    }

    /// The log of a subsystem and a category with a meaning of its own.
    public convenience init(subsystem: String, category: OSLog.Category) {
        self.init(subsystem: subsystem, category: category.rawValue)
    }

    /// Whether lines of that level are written.
    open func isEnabled(type: OSLogType) -> Bool {
        prefix != nil
    }

    /// A log that takes nothing, such as a full disk or a pipe that nobody reads, is no reason for an app to end.
    private static func writeToStandardError(_ line: String) {
        var pipe = sigset_t()
        var (before, pending) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&pipe)
        unsafe sigaddset(&pipe, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &pipe, &before)
        unsafe sigpending(&pending)
        let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
        var rest = Array(line.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        // The signal of this write alone is taken back.
        var none = timespec()
        if !wasPending { _ = unsafe sigtimedwait(&pipe, nil, &none) }
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    func write(_ type: OSLogType, _ text: @autoclosure () -> String) {
        write(word: type.word, text())
    }

    /// Writes a line that begins with the word.
    func write(word: String, _ text: @autoclosure () -> String) {
        guard let prefix else {
            return
        }
        Self.writeToStandardError("\(word) \(prefix)\(text())\n")
    }
}

/// Writes a line to the log: a format as of `printf`, with `%@` for objects and `%{public}…` for what is no secret.
@_disfavoredOverload
public func os_log(
    _ message: StaticString,
    log: OSLog = .default,
    type: OSLogType = .default,
    _ arguments: Any...
) {
    log.write(type, Format.text(message.description, arguments))
}

/// Writes a line to the log: a format as of `printf`, with `%@` for objects and `%{public}…` for what is no secret.
@_disfavoredOverload
public func os_log(
    _ type: OSLogType,
    log: OSLog = .default,
    _ message: StaticString,
    _ arguments: Any...
) {
    log.write(type, Format.text(message.description, arguments))
}

/// Writes a line with interpolated values to the log.
public func os_log(_ message: OSLogMessage) {
    OSLog.default.write(.default, message.text)
}

/// Writes a line with interpolated values to the log.
public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) {
    log.write(type, message.text)
}

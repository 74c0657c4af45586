import Foundation

/// Writes lines of one subsystem and category to the log.
public struct Logger: Sendable {
    let log: OSLog

    /// Writes to the log of a program that names no part of itself.
    public init() {
        log = .default
    }

    /// Writes to the log of a subsystem, such as a bundle identifier, and a category in it.
    public init(subsystem: String, category: String) {
        log = OSLog(subsystem: subsystem, category: category)
    }

    /// Writes to that log.
    public init(_ logObj: OSLog) {
        log = logObj
    }

    /// Writes a line of that level.
    public func log(level: OSLogType = .default, _ message: OSLogMessage) {
        log.write(level, message.text)
    }

    /// Writes a line that is useful only while something is being looked for.
    public func trace(_ message: OSLogMessage) {
        log.write(.debug, message.text)
    }

    /// Writes a line that is useful only while something is being looked for.
    public func debug(_ message: OSLogMessage) {
        log.write(.debug, message.text)
    }

    /// Writes a line that is helpful, not essential.
    public func info(_ message: OSLogMessage) {
        log.write(.info, message.text)
    }

    /// Writes a line that is worth keeping.
    public func notice(_ message: OSLogMessage) {
        log.write(.default, message.text)
    }

    /// Writes a line about something that may be wrong.
    public func warning(_ message: OSLogMessage) {
        log.write(.error, message.text)
    }

    /// Writes a line about something that went wrong in the process.
    public func error(_ message: OSLogMessage) {
        log.write(.error, message.text)
    }

    /// Writes a line about something that must not go wrong.
    public func critical(_ message: OSLogMessage) {
        log.write(.fault, message.text)
    }

    /// Writes a line about something that must not go wrong.
    public func fault(_ message: OSLogMessage) {
        log.write(.fault, message.text)
    }
}

/// Whether a value may be read in the log; on this phone each may.
public struct OSLogPrivacy: Sendable {
    /// How a private value is made unreadable.
    public enum Mask: Sendable {
        /// Equal values stay equal.
        case hash
        /// Nothing stays.
        case none
    }

    /// As the kind of value asks for.
    public static var auto: OSLogPrivacy { OSLogPrivacy() }
    /// May be read.
    public static var `public`: OSLogPrivacy { OSLogPrivacy() }
    /// May not be read.
    public static var `private`: OSLogPrivacy { OSLogPrivacy() }
    /// May not be read, not even by a developer.
    public static var sensitive: OSLogPrivacy { OSLogPrivacy() }

    /// As the kind of value asks for.
    public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
    /// May not be read.
    public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
}

/// How a whole number is written.
public struct OSLogIntegerFormatting: Sendable {
    let radix: Int
    let isUppercase: Bool
    let hasPrefix: Bool

    /// In base 10.
    public static var decimal: Self { Self(radix: 10, isUppercase: false, hasPrefix: false) }
    /// In base 16.
    public static var hex: Self { hex() }
    /// In base 8.
    public static var octal: Self { Self(radix: 8, isUppercase: false, hasPrefix: false) }

    /// In base 16, with `0x` before it or not, in capitals or not.
    public static func hex(includePrefix: Bool = false, uppercase: Bool = false) -> Self {
        Self(radix: 16, isUppercase: uppercase, hasPrefix: includePrefix)
    }
}

/// How a number with a fraction is written.
public struct OSLogFloatFormatting: Sendable {
    let places: Int

    /// With six decimal places.
    public static var fixed: Self { Self(places: 6) }

    /// With that many decimal places.
    public static func fixed(precision: Int) -> Self {
        Self(places: precision)
    }
}

/// A line of the log with its values.
public struct OSLogMessage: ExpressibleByStringInterpolation, ExpressibleByStringLiteral, Sendable {
    let text: String

    /// A line without values.
    public init(stringLiteral value: String) {
        text = value
    }

    /// A line with values.
    public init(stringInterpolation: OSLogInterpolation) {
        text = stringInterpolation.text
    }
}

/// Puts a line of the log together.
public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
    var text = ""

    /// Begins a line.
    public init(literalCapacity: Int, interpolationCount: Int) {
        text.reserveCapacity(literalCapacity + interpolationCount * 8)
    }

    /// Adds what stands in the program.
    public mutating func appendLiteral(_ literal: String) {
        text += literal
    }

    /// Adds a value of any kind.
    public mutating func appendInterpolation<Value>(_ value: Value, privacy: OSLogPrivacy = .auto) {
        text += String(describing: value)
    }

    /// Adds a value that may be missing.
    public mutating func appendInterpolation<Value>(_ value: Value?, privacy: OSLogPrivacy = .auto) {
        text += value.map { String(describing: $0) } ?? "nil"
    }

    /// Adds a whole number in a form.
    public mutating func appendInterpolation<Value: BinaryInteger>(
        _ value: Value,
        format: OSLogIntegerFormatting,
        privacy: OSLogPrivacy = .auto
    ) {
        let digits = String(value, radix: format.radix, uppercase: format.isUppercase)
        text += format.hasPrefix ? "0x" + digits : digits
    }

    /// Adds a number with a fraction in a form.
    public mutating func appendInterpolation(
        _ value: Double,
        format: OSLogFloatFormatting,
        privacy: OSLogPrivacy = .auto
    ) {
        text += String(format: "%.\(format.places)f", value)
    }

    /// Adds a number with a fraction in a form.
    public mutating func appendInterpolation(
        _ value: Float,
        format: OSLogFloatFormatting,
        privacy: OSLogPrivacy = .auto
    ) {
        appendInterpolation(Double(value), format: format, privacy: privacy)
    }
}

import Foundation

/// Formats as of `printf`, for values of any kind: a wrong specifier shows the value instead of reading what is not there.
enum Format {
    static func text(_ format: String, _ arguments: [Any]) -> String {
        var text = ""
        var rest = Substring(format)
        var remaining = arguments[...]
        while let percent = rest.firstIndex(of: "%") {
            text += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            let specifier = take(&rest)
            if specifier == "%" {
                text += "%"
            } else if let argument = remaining.popFirst() {
                text += one(argument, specifier)
            } else {
                text += "<decode: missing data>"
            }
        }
        return text + rest
    }

    /// The specifier without its privacy in braces, such as `.2f`; what follows stays in the text.
    private static func take(_ rest: inout Substring) -> String {
        if rest.first == "{", let end = rest.firstIndex(of: "}") {
            rest = rest[rest.index(after: end)...]
        }
        let modifiers = rest.prefix { "0123456789.+-# hlqzjt'".contains($0) }
        let conversion = rest.dropFirst(modifiers.count).prefix(1)
        rest = rest.dropFirst(modifiers.count + conversion.count)
        return modifiers.filter { !"hlqzjt'".contains($0) } + conversion
    }

    private static func one(_ value: Any, _ specifier: String) -> String {
        guard let conversion = specifier.last else {
            return String(describing: value)
        }
        let flags = specifier.dropLast()
        switch conversion {
        case "d", "i", "u", "x", "X", "o":
            guard let number = value as? any BinaryInteger else {
                return String(describing: value)
            }
            let isSigned = conversion == "d" || conversion == "i"
            return isSigned
                ? String(format: "%\(flags)ld", Int(truncatingIfNeeded: number))
                : String(format: "%\(flags)l\(conversion)", UInt(truncatingIfNeeded: number))
        case "f", "F", "g", "G", "e", "E", "a":
            let number: Double
            switch value {
            case let value as Double: number = value
            case let value as Float: number = Double(value)
            default: return String(describing: value)
            }
            return String(format: "%\(flags)\(conversion)", number)
        default:
            return value is any Error && !(value is NSError)
                ? (value as? any Error)?.localizedDescription ?? "" : String(describing: value)
        }
    }
}

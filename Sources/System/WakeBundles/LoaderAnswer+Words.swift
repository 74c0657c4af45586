import Foundation

/// The C function of Swift's runtime that makes a mangled name readable. The result is the caller's to free.
@_silgen_name("swift_demangle")
private func swiftDemangle(
    _ name: UnsafePointer<CChar>,
    _ length: Int,
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?,
    _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

extension LoaderAnswer {
    /// What is missing, a sentence each, in the words of someone who writes apps: modules first, then libraries,
    /// versions and single functions.
    var sentences: [String] {
        var modules: [(name: String, symbols: [String])] = []
        var functions: [String] = []
        for symbol in symbols {
            guard let module = Self.module(of: symbol) else {
                functions.append(symbol)
                continue
            }
            if let place = modules.firstIndex(where: { $0.name == module }) {
                modules[place].symbols.append(symbol)
            } else {
                modules.append((module, [symbol]))
            }
        }
        var sentences = modules.map { Self.sentence($0.name, $0.symbols) }
        let told = Set(modules.map(\.name))
        for library in libraries {
            let name = printable(library)
            let stem = library.hasPrefix("lib") ? String(library.dropFirst(3).prefix { $0 != "." }) : ""
            if told.contains(stem) { continue }
            sentences.append(
                KnownModule.absent.contains(stem)
                    ? "uses \(stem) (\(name)), which Wakebench does not have"
                    : "needs the library \(name), which this machine does not have"
            )
        }
        sentences += versions.map { "needs \(printable($0)), which is older here; build it on this machine" }
        // Functions that belong to no known framework may be those of a library that is told of already.
        for function in functions {
            if let framework = Self.framework(of: function) {
                sentences.append("uses \(framework), which Wakebench does not have: \(printable(function))")
            } else if libraries.isEmpty {
                sentences.append("uses \(printable(Self.readable(function))), which no library here has")
            }
        }
        return sentences
    }

    private static func sentence(_ module: String, _ symbols: [String]) -> String {
        let example = printable(readable(symbols[0]))
        let what = symbols.count == 1 ? example : "\(symbols.count) symbols, such as \(example)"
        if KnownModule.here.contains(module) { return "uses of \(module) what is not here: \(what)" }
        if KnownModule.absent.contains(module) {
            return "uses \(module), which Wakebench does not have: \(what); #if canImport(\(module)) leaves it out"
        }
        return "uses the module \(printable(module)), which is not linked to it: \(what)"
    }

    /// The module of a Swift symbol, which begins with `$s`, the length of the module's name, and the name.
    static func module(of symbol: String) -> String? {
        guard symbol.hasPrefix("$s") else { return nil }
        let rest = symbol.dropFirst(2)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard !digits.hasPrefix("0"), let length = Int(digits), length <= 255 else { return nil }
        let name = rest.dropFirst(digits.count).prefix(length)
        return name.count == length && length > 0 ? String(name) : nil
    }

    /// A symbol as Swift code names it, else as it is.
    static func readable(_ symbol: String) -> String {
        guard symbol.hasPrefix("$s") else { return symbol }
        let length = symbol.utf8.count
        let text = unsafe symbol.withCString { unsafe swiftDemangle($0, length, nil, nil, 0) }
        guard let text = unsafe text else { return symbol }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    /// The framework that a C function or constant is of, by Apple's prefixes.
    private static func framework(of symbol: String) -> String? {
        let name =
            symbol.hasPrefix("OBJC_CLASS_$_")
            ? symbol.dropFirst(13) : symbol.hasPrefix("k") ? symbol.dropFirst() : symbol[...]
        return KnownModule.all.first { module in
            module.prefixes.contains { prefix in
                guard name.hasPrefix(prefix) else { return false }
                return prefix.hasSuffix("_") || name.dropFirst(prefix.count).first?.isUppercase == true
            }
        }?.name
    }
}

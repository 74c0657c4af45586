import Foundation

/// What the dynamic loader says of a program: the lines of `ldd -r`, sorted.
struct LoaderAnswer: Equatable {
    enum End {
        /// The loader has looked at everything.
        case complete
        /// There is nothing for the loader to do.
        case notDynamic
        /// The loader died of the file.
        case gaveUp
        /// It took too long, or said too much.
        case cutOff
    }

    var end = End.complete
    /// Libraries that were not found, in the loader's order.
    var libraries: [String] = []
    /// Symbols that no library has, mangled, in the loader's order.
    var symbols: [String] = []
    /// Versions that a library does not have, such as `GLIBC_2.99 of libc.so.6`.
    var versions: [String] = []

    private static let symbolLimit = 10_000

    /// Asks the loader.
    ///
    /// - Returns: nil when this machine has no ldd.
    static func ask(about program: String) -> LoaderAnswer? {
        guard let examination = Examination(["ldd", "-r", program]) else { return nil }
        var answer = LoaderAnswer(examination.output)
        if examination.code == nil { answer.end = .cutOff }
        return answer
    }

    /// Reads what ldd printed. Lines nobody knows are passed over.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            if let symbol = Self.undefined(line) {
                if symbols.count < Self.symbolLimit { symbols.append(symbol) }
            } else if line.hasSuffix(" => not found") {
                libraries.append(String(line.drop { $0 == "\t" || $0 == " " }.dropLast(" => not found".count)))
            } else if let version = Self.version(line) {
                versions.append(version)
            } else if line.contains("not a dynamic executable") || line.contains("statically linked") {
                end = .notDynamic
            }
        }
        if text.contains("exited with unknown exit code") { end = .gaveUp }
        libraries = Self.once(libraries)
        symbols = Self.once(symbols)
        versions = Self.once(versions)
    }

    /// `undefined symbol: NAME[, version V] (FILE)`, or `symbol NAME, version V not defined in file LIBRARY ...`.
    private static func undefined(_ line: Substring) -> String? {
        for (beginning, needed) in [("undefined symbol: ", ""), ("symbol ", " not defined in file ")] {
            guard line.hasPrefix(beginning), needed.isEmpty || line.contains(needed) else { continue }
            let name = line.dropFirst(beginning.count).prefix { $0 != "," && $0 != "\t" && $0 != " " }
            return name.isEmpty || name.utf8.count > 4_096 ? nil : String(name)
        }
        return nil
    }

    /// "FILE: /lib/LIBRARY: version `V' not found (required by FILE)".
    private static func version(_ line: Substring) -> String? {
        guard let mark = line.range(of: ": version `"), let end = line.range(of: "' not found (required by ") else {
            return nil
        }
        guard mark.upperBound <= end.lowerBound else { return nil }
        let library = line[..<mark.lowerBound].split { $0 == "/" || $0 == " " }.last ?? "a library"
        return "\(line[mark.upperBound..<end.lowerBound]) of \(library)"
    }

    private static func once(_ words: [String]) -> [String] {
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }
    }
}

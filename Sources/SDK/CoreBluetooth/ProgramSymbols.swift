import Foundation

@_silgen_name("swift_demangle")
private func demangle(
    _ name: UnsafePointer<CChar>,
    _ length: UInt,
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<UInt>?,
    _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

/// What the program's own symbols tell of its classes: without Objective-C a method that a delegate may leave out cannot be
/// asked for. A program without symbols tells nothing.
enum ProgramSymbols {
    /// Whether the class of an object, or one that it inherits from, has a method of its own, in the form `name(label:)`.
    static func implements(_ method: String, by object: AnyObject) -> Bool {
        guard let names = SymbolNames(ofProgram: "/proc/self/exe") else { return false }
        var mirror: Mirror? = Mirror(reflecting: object)
        while let type = mirror?.subjectType {
            if let mangled = _mangledTypeName(type), names.any(after: "$s" + mangled, where: { declares(method, $0) }) {
                return true
            }
            mirror = mirror?.superclassMirror
        }
        return false
    }

    /// Whether a symbol is a method, and not what stands for it in a protocol.
    private static func declares(_ method: String, _ symbol: String) -> Bool {
        let labels = method.split { "(:)".contains($0) }.map(String.init)
        guard symbol.hasSuffix("F"), let name = demangled(symbol), let start = name.range(of: ".\(labels[0])(") else {
            return false
        }
        let rest = name[start.upperBound...]
        return labels.dropFirst().allSatisfy { rest.contains("\($0): ") }
    }

    private static func demangled(_ symbol: String) -> String? {
        let name = unsafe demangle(symbol, UInt(symbol.utf8.count), nil, nil, 0)
        guard let name = unsafe name else { return nil }
        defer { unsafe free(name) }
        return unsafe String(cString: name)
    }
}

/// The names of all symbols of an ELF program of 64 bits.
private struct SymbolNames {
    private let bytes: Data

    init?(ofProgram path: String) {
        guard let file = try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped), file.count > 64,
            file.prefix(5) == Data([0x7F, 0x45, 0x4C, 0x46, 2])
        else { return nil }
        let sections = (0..<file.number(at: 60, bytes: 2)).map {
            file.number(at: 40, bytes: 8) + $0 * file.number(at: 58, bytes: 2)
        }
        // The table of symbols, whose link is the section with their names.
        guard let table = sections.first(where: { file.number(at: $0 + 4, bytes: 4) == 2 }),
            file.number(at: table + 40, bytes: 4) < sections.count
        else { return nil }
        let names = sections[file.number(at: table + 40, bytes: 4)]
        let (start, size) = (file.number(at: names + 24, bytes: 8), file.number(at: names + 32, bytes: 8))
        guard start >= 0, size > 0, start <= file.count, size <= file.count - start else { return nil }
        bytes = file[start..<start + size]
    }

    /// Whether one of the names that begin so is meant.
    func any(after prefix: String, where isMeant: (String) -> Bool) -> Bool {
        var place = bytes.startIndex
        while let found = bytes.range(of: Data(prefix.utf8), in: place..<bytes.endIndex) {
            let end = bytes[found.lowerBound...].firstIndex(of: 0) ?? bytes.endIndex
            let isWhole = found.lowerBound == bytes.startIndex || bytes[found.lowerBound - 1] == 0
            if isWhole, isMeant(String(decoding: bytes[found.lowerBound..<end], as: UTF8.self)) { return true }
            place = end
        }
        return false
    }
}

extension Data {
    /// A number, least significant byte first; 0 beyond the end.
    fileprivate func number(at offset: Int, bytes count: Int) -> Int {
        guard offset >= 0, offset <= self.count - count else { return 0 }
        let value = (0..<count).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(self[startIndex + offset + $1]) }
        return Int(clamping: value)
    }
}

import Foundation

/// What a bundle's program asks for and this machine does not have.
package struct ProgramNeeds: Hashable, Sendable {
    /// What keeps the program from running as it was written, a sentence each.
    package var missing: [String] = []
    /// What could not be told, or is not emulated, a sentence each.
    package var notes: [String] = []

    /// Looks at a program: a script by its first line, and one in Python by its imports; a binary by the machine's dynamic
    /// loader, which loads what the program asks for and reports what it does not find, and runs nothing of it (`ldd -r`).
    package static func of(_ program: String) -> ProgramNeeds {
        let name = printable(program.split(separator: "/").last.map(String.init) ?? program)
        guard let head = ProgramHead.read(program) else {
            return ProgramNeeds(notes: ["\(name) cannot be read: what it asks for cannot be told"])
        }
        switch ProgramHead(head) {
        case .script(let line): return ofScript(line, program)
        case .mach:
            return ProgramNeeds(missing: ["\(name) was built for Apple's systems (Mach-O); build it on this machine"])
        case .binary(let machine):
            if let own = ProgramHead.own, machine != own {
                return ProgramNeeds(missing: ["\(name) was built for another processor; build it on this machine"])
            }
            return ofBinary(program, name)
        case .unknown:
            return ProgramNeeds(
                notes: ["\(name) is neither a binary (ELF) nor a script (#!): what it asks for cannot be told"]
            )
        }
    }

    private static func ofScript(_ line: String, _ program: String) -> ProgramNeeds {
        var words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard var interpreter = words.first else { return ProgramNeeds(missing: ["its first line names no program"]) }
        guard FileManager.default.isExecutableFile(atPath: interpreter) else {
            return ProgramNeeds(
                missing: ["its first line asks for \(printable(interpreter)), which this machine does not have"]
            )
        }
        words.removeFirst()
        if interpreter.hasSuffix("/env"), let name = words.first(where: { !$0.hasPrefix("-") && !$0.contains("=") }) {
            let folders = ProcessInfo.processInfo.environment["PATH", default: "/usr/bin:/bin"].split(separator: ":")
            let places = folders.map { "\($0)/\(name)" }
            guard let found = places.first(where: FileManager.default.isExecutableFile(atPath:)) else {
                return ProgramNeeds(missing: ["its first line asks for \(printable(name)), which is not in PATH"])
            }
            interpreter = found
        }
        let isPython = interpreter.split(separator: "/").last?.hasPrefix("python3") == true
        return isPython ? PythonImports.needs(of: program, interpreter: interpreter) : ProgramNeeds()
    }

    private static func ofBinary(_ program: String, _ name: String) -> ProgramNeeds {
        guard let answer = LoaderAnswer.ask(about: program) else {
            return ProgramNeeds(notes: ["ldd is not here: what \(name) asks for cannot be told"])
        }
        switch answer.end {
        case .complete:
            let bytes = try? Data(contentsOf: URL(filePath: program), options: .mappedIfSafe)
            return ProgramNeeds(missing: answer.sentences, notes: bytes.map(KeptState.notes) ?? [])
        case .notDynamic:
            return ProgramNeeds(
                notes: ["\(name) is linked statically, or is damaged: what it asks for cannot be told"]
            )
        case .gaveUp:
            return ProgramNeeds(missing: ["\(name) is damaged: this machine's loader gave it up"])
        case .cutOff:
            return ProgramNeeds(notes: [
                "the loader did not come to an end with \(name): what it asks for cannot be told"
            ])
        }
    }
}

/// What the first bytes of a program say of it.
enum ProgramHead: Equatable {
    /// The rest of the line after `#!`.
    case script(String)
    /// Class, byte order and processor of an ELF file (elf(5): bytes 4, 5, 18 and 19).
    case binary([UInt8])
    case mach
    case unknown

    private static let limit = 256

    init(_ bytes: [UInt8]) {
        let machs: [[UInt8]] = [
            [0xcf, 0xfa, 0xed, 0xfe], [0xce, 0xfa, 0xed, 0xfe], [0xfe, 0xed, 0xfa, 0xcf], [0xfe, 0xed, 0xfa, 0xce],
            [0xca, 0xfe, 0xba, 0xbe],
        ]
        if bytes.starts(with: Array("#!".utf8)) {
            let line = bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
            self = .script(String(decoding: line, as: UTF8.self))
        } else if bytes.starts(with: [0x7f, 0x45, 0x4c, 0x46]), bytes.count >= 20 {
            self = .binary([bytes[4], bytes[5], bytes[18], bytes[19]])
        } else if machs.contains(where: { bytes.starts(with: $0) }) {
            self = .mach
        } else {
            self = .unknown
        }
    }

    /// The first bytes of a file; nil when it cannot be read.
    static func read(_ path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return Array((try? file.read(upToCount: limit)) ?? Data())
    }

    /// What binaries of this machine say.
    static var own: [UInt8]? {
        guard let head = read("/proc/self/exe"), case .binary(let machine) = ProgramHead(head) else { return nil }
        return machine
    }
}

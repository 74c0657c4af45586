import Glibc
import WakeSystem

/// A sound card for tests, made of alsa-lib's own plug-ins and one of ours, in a folder of its own.
///
/// alsa-lib reads its configuration once in a process: one for all tests, in which a card is named with its arguments.
package final class SoundCardStandIn: Sendable {
    package let folder: String

    /// What can be cut of one card's nature.
    package enum Format: String, Sendable {
        case float = "FLOAT"
        case signed16 = "S16"
    }

    package init() throws(SystemError) {
        _ = Self.configuration
        folder = try Self.makeFolder()
        try write([], to: "plug")
    }

    deinit {
        for name in ["plug", "played", "heard"] { unsafe unlink("\(folder)/\(name)") }
        unsafe rmdir(folder)
    }

    /// A PCM that keeps time, plays into ``played()`` and records what was given to ``hear(_:)``.
    package func paced(_ format: Format = .float, rate: Int = 48_000) -> String {
        "paced:\(folder),\(format.rawValue),\(rate)"
    }

    /// A PCM that takes all there is at once, and writes it into ``played()``.
    package var file: String { "filed:\(folder)/played" }

    /// All that was played.
    package func played() throws(SystemError) -> [UInt8] { try Self.read("\(folder)/played") }

    /// What is there to be recorded.
    package func hear(_ bytes: [UInt8]) throws(SystemError) { try write(bytes, to: "heard") }

    /// The card is pulled out.
    package func unplug() { unsafe unlink("\(folder)/plug") }

    private func write(_ bytes: [UInt8], to name: String) throws(SystemError) {
        let file = try Descriptor.open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_TRUNC)
        var rest = bytes[...]
        while !rest.isEmpty, let count = try file.write(Array(rest)) { rest = rest.dropFirst(count) }
    }

    private static func read(_ path: String) throws(SystemError) -> [UInt8] {
        let file = try Descriptor.open(path, O_RDONLY)
        var (bytes, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 65_536))
        while let count = try file.read(into: &buffer), count > 0 { bytes += buffer[..<count] }
        return bytes
    }

    private static func makeFolder() throws(SystemError) -> String {
        var template = Array("/tmp/wakebench-sound-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError(last: "mkdtemp") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The path of the configuration that every alsa-lib in this process, and in its children, reads.
    package static let configuration: String = {
        let text = """
            </usr/share/alsa/alsa.conf>
            pcm_type.paced { lib "\(libraries)/libPacedCard.so" }
            pcm.paced {
                @args [ FOLDER FORMAT RATE ]
                @args.FOLDER { type string }
                @args.FORMAT { type string }
                @args.RATE { type integer }
                type paced
                played { @func concat strings [ $FOLDER "/played" ] }
                heard { @func concat strings [ $FOLDER "/heard" ] }
                plug { @func concat strings [ $FOLDER "/plug" ] }
                format $FORMAT
                rate $RATE
            }
            pcm.filed {
                @args [ FILE ]
                @args.FILE { type string }
                type file
                slave.pcm "null"
                file $FILE
                format "raw"
            }

            """
        let path = "/tmp/wakebench-sound-\(getpid()).conf"
        do throws(SystemError) {
            let file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC)
            _ = try file.write(Array(text.utf8))
        } catch {
            preconditionFailure("\(error)")
        }
        unsafe setenv("ALSA_CONFIG_PATH", path, 1)
        atexit { unsafe unlink("/tmp/wakebench-sound-\(getpid()).conf") }
        return path
    }()

    /// Where the package's libraries are: beside the program that runs the tests.
    private static var libraries: String {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        let program = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The tests may run inside of a program of the toolchain, with the package's file as an argument.
        let beside = program.split(separator: "/").dropLast().joined(separator: "/")
        if unsafe access("/\(beside)/libPacedCard.so", F_OK) == 0 { return "/\(beside)" }
        let own = CommandLine.arguments.first { $0.contains(".xctest") } ?? program
        return own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    }
}

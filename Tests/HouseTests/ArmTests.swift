import ChildProcess
import Foundation
import Testing

/// The only parts of the house that know the processor are in C. Their code for arm64 is compiled here, not run.
@Suite("arm64: compiled, not run")
struct ArmTests {
    private static let headers = "/usr/aarch64-linux-gnu/include"

    @Test(
        "Each C file compiles for arm64 without warnings (compiled, not run)",
        .enabled(if: FileManager.default.fileExists(atPath: headers), "needs Debian's libc6-dev-arm64-cross"),
        arguments: try House.files(House.sources.appending(path: "C"), ending: "c")
    )
    func compiles(file: URL) throws {
        #expect(try compile(file) == "")
    }

    @Test(
        "A file that does not compile for arm64 is told",
        .enabled(if: FileManager.default.fileExists(atPath: headers), "needs Debian's libc6-dev-arm64-cross")
    )
    func tells() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "processor-\(UUID()).c")
        defer { try? FileManager.default.removeItem(at: file) }
        let code = """
            long stamp(void) {
                long result;
                __asm__ volatile("rdtsc" : "=a"(result));
                return result;
            }
            """
        try Data(code.utf8).write(to: file)
        #expect(try compile(file).contains("error:"))
    }

    /// - Returns: what the compiler says.
    private func compile(_ file: URL) throws -> String {
        let folder = file.deletingLastPathComponent()
        let shared = House.sources.appending(path: "C/CVirtualTime/include")
        let compiler = ChildProcess(
            "/usr/bin/env",
            [
                "clang", "--target=aarch64-linux-gnu", "-isystem", Self.headers, "-Wall", "-Wextra", "-Werror", "-O2",
                "-I\(folder.appending(path: "include").path)", "-I\(shared.path)", "-c", "-o", "/dev/null", file.path,
                // Debian has libcurl's headers among those of a processor; they are the same for all.
                "-idirafter", "/usr/include/x86_64-linux-gnu", "-idirafter", "/usr/include/aarch64-linux-gnu",
            ]
        )
        let errors = Pipe()
        compiler.standardError = .pipe(errors)
        try compiler.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        compiler.waitUntilExit()
        #expect(text != "" || compiler.terminationStatus == 0)
        return text
    }
}

import Foundation
import Testing
import WakeVirtualTime

@Suite("Where the library of virtual time lies")
struct TimeLibraryTests {
    @Test("It is found beside the program, and in the lib folder beside the program's own, and nowhere else")
    func places() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["bin", "lib", "build"] {
            try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        for name in ["lib", "build"] {
            try Data().write(to: folder.appending(path: "\(name)/\(TimeLibrary.name)"))
        }
        let build = folder.appending(path: "build").path
        #expect(TimeLibrary.path(beside: build) == "\(build)/\(TimeLibrary.name)")
        let bin = folder.appending(path: "bin").path
        #expect(TimeLibrary.path(beside: bin) == "\(bin)/../lib/\(TimeLibrary.name)")
        #expect(TimeLibrary.path(beside: folder.path) == nil)
        #expect(TimeLibrary.path() != nil)
    }
}

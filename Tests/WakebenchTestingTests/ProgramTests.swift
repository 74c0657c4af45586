import Foundation
import Testing

@testable import WakebenchTesting

@Suite("The program that a unit test starts")
struct ProgramTests {
    private func inFolder(_ body: (Folder) throws -> Void) throws {
        let folder = try Folder()
        defer { folder.clean() }
        try body(folder)
    }

    @Test("WAKEBENCH goes before the folder of the tests, that before PATH, and PATH before what the package built")
    func order() throws {
        try inFolder { folder in
            for place in ["named", "beside", "path", "package/.build/debug"] {
                try folder.write("\(place)/wakebench", "", executable: true)
            }
            let (beside, path) = ("\(folder.path)/beside", "relative:/nowhere:\(folder.path)/path")
            var programs = Programs(environment: [:], beside: "/nowhere", repository: "\(folder.path)/package")
            #expect(try programs.bench() == "\(folder.path)/package/.build/debug/wakebench")
            programs.environment["PATH"] = path
            #expect(try programs.bench() == "\(folder.path)/path/wakebench")
            programs.beside = beside
            #expect(try programs.bench() == "\(beside)/wakebench")
            programs.environment["WAKEBENCH"] = "\(folder.path)/named/wakebench"
            #expect(try programs.bench() == "\(folder.path)/named/wakebench")
        }
    }

    @Test("Without one the failure says where it was looked for and what to do")
    func missing() throws {
        try inFolder { folder in
            // Neither a folder nor a file without the right to run is a program.
            try folder.write("bin/wakebench/file", "")
            try folder.write("wakebench", "")
            let path = ["PATH": "\(folder.path)/bin"]
            let programs = Programs(environment: path, beside: folder.path, repository: folder.path)
            let failure = #expect(throws: Wakebench.Failure.self) { try programs.bench() }
            #expect(
                failure?.description == "no program wakebench beside the tests (\(folder.path)), on PATH or built in "
                    + "\(folder.path); put it on PATH, name it in the variable WAKEBENCH, or add its product to the "
                    + "dependencies of the test target"
            )
        }
    }

    @Test("A variable WAKEBENCH that names none is told of, whatever is on PATH")
    func wrongVariable() throws {
        try inFolder { folder in
            try folder.write("wakebench", "", executable: true)
            let programs = Programs(environment: ["WAKEBENCH": "/nowhere/wakebench"], beside: folder.path)
            let failure = #expect(throws: Wakebench.Failure.self) { try programs.bench() }
            #expect(failure?.description.hasPrefix("WAKEBENCH=/nowhere/wakebench: no such program; ") == true)
        }
    }

    @Test("A program that is none ends the run with a line")
    func foreign() throws {
        try inFolder { folder in
            let program = try folder.write("wakebench", "\u{7f}ELF", executable: true)
            let failure = #expect(throws: Wakebench.Failure.self) {
                try Child().run(program, [], output: "/dev/null", errors: "/dev/null")
            }
            #expect(failure?.description == "\(program): Exec format error")
        }
    }

    @Test("The package of this library is this one")
    func package() {
        #expect(FileManager.default.fileExists(atPath: "\(Programs().repository)/Sources/SDK/WakebenchTesting"))
    }

    @Test("The bench for these tests is the one that was built with them")
    func built() throws {
        #expect(try Programs(environment: [:]).bench().hasSuffix("/debug/wakebench"))
    }
}

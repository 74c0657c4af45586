import ChildProcess
import Foundation
import Testing

/// What the house is measured by: how far an area is spread over it, and how long its functions are.
@Suite("The house's measures")
struct MeasureTests {
    @Test("No more files name an area that is not theirs than FloorPlan says")
    func spread() throws {
        let script = ChildProcess(House.root.appending(path: "Scripts/spread").path)
        let said = Pipe()
        script.standardOutput = .pipe(said)
        try script.run()
        let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        script.waitUntilExit()
        let counts = text.matches(of: /(?m)^(\w+) +(\d+)$/).map { (area: String($0.output.1), files: Int($0.output.2)) }
            .filter { $0.area != "total" }
        #expect(counts.count == FloorPlan.rooms.count { $0.floor == "EventSources" })
        for (area, files) in counts {
            let most = FloorPlan.spread[area] ?? FloorPlan.spreadOfOthers
            #expect(try #require(files) <= most, "\(text)See Scripts/spread --list")
        }
    }

    @Test("No function is longer than 60 lines, but tables and those that FloorPlan still names")
    func lengths() throws {
        for function in try LongFunction.all() where !FloorPlan.tables.contains(function.name) {
            let allowed = FloorPlan.longFunctions[function.name] ?? LongFunction.most
            #expect(function.lines <= allowed, "\(function.place): \(function.name) has \(function.lines) lines")
        }
    }

    @Test("Lines are counted from a function's first to its closing brace")
    func counting() throws {
        let text = """
            protocol P {
                func wanted()
                var also: Int { get }
            }
            struct S {
                static func short() {}

                private func long<T>(
                    _ value: T
                ) -> Int
                where T: P {
                    0
                }
                var computed: Int {
                    0
                }
            }
            """
        let file = FileManager.default.temporaryDirectory.appending(path: "house-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try text.write(to: file, atomically: true, encoding: .utf8)
        let found = try LongFunction.functions(file)
        #expect(found.map { "\($0.declaration) \($0.line) \($0.lines)" } == ["func long 8 6", "var computed 14 3"])
    }
}

/// A function that is longer than what a reader holds at once.
struct LongFunction {
    static let most = 60

    /// `Run.swift: func play`, the name by which FloorPlan knows it.
    var name: String
    /// `Sources/Bench/WakeBench/Run.swift:81`.
    var place: String
    var lines: Int

    /// Those of Sources.
    static func all() throws -> [LongFunction] {
        try House.files(House.sources).flatMap { file in
            try functions(file).filter { $0.lines > most }.map { function in
                LongFunction(
                    name: "\(file.lastPathComponent): \(function.declaration)",
                    place: House.place(file, function.line),
                    lines: function.lines
                )
            }
        }
    }

    /// The functions, initializers and computed properties of a formatted file that have a body of their own lines.
    ///
    /// A body ends at the first closing brace that stands as deep as the declaration.
    static func functions(_ file: URL) throws -> [(declaration: String, line: Int, lines: Int)] {
        let declaration =
            /^ *(?:@\w+(?:\([^)]*\))? +)*(?:[a-z]+(?:\(\w+\))? +)*?(func +[^ (<]+|init\b|deinit\b|subscript\b|var +\w+(?=[^=]*\{$))/
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.compactMap { first in
            // A head with a body below it ends so, and the rest of the lines need no search.
            guard let end = lines[first].utf8.last,
                end == UInt8(ascii: "{") || end == UInt8(ascii: "(") || end == UInt8(ascii: "<"),
                let match = lines[first].firstMatch(of: declaration)
            else { return nil }
            let indent = lines[first].prefix { $0 == " " }
            for last in lines.indices.suffix(from: first + 1) {
                let line = lines[last]
                if line == indent + "}" { return (String(match.output.1), first + 1, last - first + 1) }
                if line.isEmpty || line.hasPrefix(indent + " ") { continue }
                // As deep as the declaration, and no rest of its head: what follows a declaration without a body.
                if line.dropFirst(indent.count).prefixMatch(of: /[)\]>{]|->|where\b/) == nil { return nil }
            }
            return nil
        }
    }
}

import Foundation
import Testing

@Suite("The house")
struct HouseTests {
    @Test("Package.swift has exactly the rooms of the plan, each on its floor")
    func rooms() throws {
        let targets = try House.folders().filter { !FloorPlan.openFloors.contains($0.target.floor ?? "") }
        let planned = (FloorPlan.rooms + FloorPlan.sdk).map { "\($0.floor)/\($0.name)" }
        #expect(targets.map(\.folder).sorted() == planned.sorted())
    }

    @Test("Package.swift has exactly the code in C of the plan, each part in a folder, needed by somebody")
    func clang() throws {
        let targets = try House.targets()
        let libraries = targets.filter { $0.kind == "library" }.map(\.name)
        #expect(libraries.sorted() == FloorPlan.libraries.sorted())
        let clang = targets.filter { $0.kind == "clang" }
        #expect(clang.map(\.name).sorted() == FloorPlan.halves.union(FloorPlan.clang.keys).sorted())
        for target in clang { #expect(target.uses == FloorPlan.clang[target.name] ?? [], "\(target.name)") }

        let all = libraries + clang.map(\.name)
        let folders = try FileManager.default.contentsOfDirectory(atPath: House.sources.appending(path: "C").path)
        #expect(folders.filter { !$0.hasPrefix(".") }.sorted() == (all + [FloorPlan.preloaded]).sorted())
        #expect(Set(all).subtracting(targets.flatMap(\.uses)).sorted() == [], "nobody uses these")
    }

    @Test("No file of Devices is a link: they are used where the rest of the repository is not")
    func devices() throws {
        let folder = House.root.appending(path: "Devices")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        #expect(files.contains("Captures/belt.btsnoop"))
        let links = files.filter { file in
            let path = folder.appending(path: file).path
            return (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
        }
        #expect(links == [])
    }

    @Test("Each folder under Sources is a room or a program of Package.swift")
    func folders() throws {
        let known = Set(try House.folders().map(\.folder))
        for floor in try FileManager.default.contentsOfDirectory(atPath: House.sources.path) {
            let path = House.sources.appending(path: floor).path
            var isFolder: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            guard isFolder.boolValue, floor != "C" else { continue }
            for room in try FileManager.default.contentsOfDirectory(atPath: path) where !room.hasPrefix(".") {
                // A program in another language is no business of the plan's.
                let files = try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(room)")
                if FloorPlan.openFloors.contains(floor), !files.contains(where: { $0.hasSuffix(".swift") }) { continue }
                #expect(known.contains("\(floor)/\(room)"), "Sources/\(floor)/\(room) is in no line of Package.swift")
            }
        }
    }

    @Test("Package.swift makes each target by one of its functions, but the library that is loaded before an app")
    func helpers() throws {
        let manifest = try House.manifest()
        let list = try #require(manifest.range(of: "    targets: ["))
        let raw = manifest[list.upperBound...].matches(of: /\.(?:target|executableTarget|testTarget|systemLibrary)\(/)
        #expect(raw.count == 1)
        for target in try House.targets() {
            let folder = House.root.appending(path: target.folder)
            #expect(FileManager.default.fileExists(atPath: folder.path), "\(target.name) is not in \(folder.path)")
        }
    }

    @Test("Package.swift links each room to what the plan says, no less and no more")
    func manifestDirections() throws {
        for target in try House.targets() {
            guard let room = FloorPlan.room(target.name) else { continue }
            #expect(target.uses.sorted() == room.imports.sorted(), "\(target.name)")
        }
    }

    @Test("A room imports only rooms that stand above it, and no source another source")
    func order() {
        var above: Set<String> = []
        for room in FloorPlan.rooms {
            let rooms = room.imports.filter { !$0.hasPrefix("C") }
            #expect(rooms.isSubset(of: above), "\(room.name) imports \(rooms.subtracting(above).sorted()) from below")
            above.insert(room.name)
        }
        let sources = Set(FloorPlan.rooms.filter { $0.floor == "EventSources" }.map(\.name))
        for room in FloorPlan.rooms where sources.contains(room.name) {
            #expect(room.imports.isDisjoint(with: sources))
        }
    }

    @Test(
        "Each import is allowed by the plan and declared in Package.swift",
        arguments: FloorPlan.rooms + FloorPlan.sdk
    )
    func imports(room: FloorPlan.Room) throws {
        var declared = Set(try House.targets().first { $0.name == room.name }?.uses ?? [])
        var allowed = room.imports
        for half in room.imports.intersection(declared) where FloorPlan.halves.contains(half) {
            allowed.insert(room.name)
            declared.insert(room.name)
        }
        let folder = House.sources.appending(path: "\(room.floor)/\(room.name)")
        for file in try House.files(folder) {
            for (module, line) in try House.imports(file) where !FloorPlan.system.contains(module) {
                if FloorPlan.foundation.contains(module) {
                    #expect(room.foundation, "\(House.place(file, line)): \(room.name) may not import \(module)")
                    continue
                }
                #expect(
                    allowed.contains(module),
                    "\(House.place(file, line)): \(room.name) may not import \(module)"
                )
                #expect(
                    declared.contains(module),
                    "\(House.place(file, line)): Package.swift does not say that \(room.name) uses \(module)"
                )
            }
        }
    }

    @Test("Only the bench and its reports import the router")
    func router() throws {
        for file in try House.files(House.sources) {
            for (module, line) in try House.imports(file) where module == "WakeRouter" {
                let place = House.place(file, line)
                let allowed = ["Sources/Bench/", "Sources/Benchmarks/", "Sources/Fuzz/"]
                #expect(allowed.contains { place.hasPrefix($0) }, "\(place) may not import WakeRouter")
            }
        }
    }

    @Test("The router imports the model and nothing else, not even the C library")
    func pureRouter() throws {
        for floor in ["Core/WakeRouter", "Core/WakeModel"] {
            for file in try House.files(House.sources.appending(path: floor)) {
                for (module, line) in try House.imports(file) {
                    #expect(module == "WakeModel", "\(House.place(file, line)) imports \(module)")
                }
            }
        }
    }

    @Test("Nothing in Sources sleeps: waiting is for a descriptor, a timer or a signal")
    func noSleeping() throws {
        let call = /\b(?:sleep|usleep|nanosleep|clock_nanosleep|sleepForTimeInterval)\s*\(|\b(?:Thread|Task)\.sleep\b/
        for file in try House.files(House.sources) {
            let text = try String(contentsOf: file, encoding: .utf8)
            for (offset, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let code = line.prefix(upTo: line.firstRange(of: "//")?.lowerBound ?? line.endIndex)
                #expect(code.firstMatch(of: call) == nil, "\(House.place(file, offset + 1)) sleeps")
            }
        }
    }

    @Test("Nothing that packages of apps are built with has unsafe flags")
    func unsafeFlags() throws {
        let manifest = try House.manifest()
        // Loaded before an app, and linked by nothing.
        let name = try #require(manifest.range(of: "name: \"WakebenchTime\",\n            path:"))
        let flags = manifest.ranges(of: ".unsafeFlags(")
        #expect(flags.count == 7)
        let flag = try #require(flags.last)
        try #require(name.upperBound < flag.lowerBound)
        let between = manifest[name.upperBound..<flag.lowerBound]
        #expect(!between.contains("name:") && !between.contains("room("), "\(between)")
        let rooms = try House.targets()
        for room in rooms { #expect(!room.uses.contains(FloorPlan.preloaded), "\(room.name)") }
        // Those of the examples are of no product, and that of the program is the program's alone.
        #expect(manifest.contains("(floor == \"Examples\" ? asNeeded : [])"))
        #expect(manifest.contains("(name == \"wakebench\" ? selfContained : [])"))
        // One is of code that only tests run.
        #expect(manifest.contains("(warns ? [.unsafeFlags([\"-suppress-warnings\"])] : phone)"))
        // One more is of tests and programs; the other are the bench's rooms', and not of those that the SDK reaches.
        #expect(manifest.contains("(floor == \"SDK\" || inApps.contains(name) ? [] : unchecked)"))
        // Where a build is the only one of its checkout, all rooms have it; no package of an app is built so.
        #expect(manifest.contains("+ (once ? whole : [])"))
        #expect(manifest.contains("let once = Context.environment[\"WAKEBENCH_BUILD\"] == \"once\""))
        let optimized = manifest.matches(of: /room\("(\w+)", on: "(\w+)"[^\n]*isOptimized: true/)
        #expect(optimized.map(\.output.1) == ["WakeRouter"])
        let list = try #require(manifest.firstMatch(of: /let inApps = \[(.*?)\]/)?.1)
        var reached = Set(FloorPlan.sdk.map(\.name))
        var before = 0
        while reached.count > before {
            before = reached.count
            reached.formUnion(rooms.filter { reached.contains($0.name) }.flatMap(\.uses))
        }
        let swift = reached.subtracting(FloorPlan.sdk.map(\.name)).filter { $0.hasPrefix("Wake") }
        #expect(Set(list.split(separator: ", ").map { $0.trimmingPrefix("\"").dropLast() }.map(String.init)) == swift)
    }

    @Test("The SDK's modules are library products")
    func sdkProducts() throws {
        let manifest = try House.manifest()
        for room in FloorPlan.sdk where !room.name.hasPrefix("Wake") && !room.name.hasPrefix("_") {
            #expect(manifest.contains(".library(name: \"\(room.name)\", targets: [\"\(room.name)\"])"))
        }
    }

    @Test("Nothing is left for later: no TODO, no FIXME")
    func nothingLeft() throws {
        for file in try House.files(House.sources) {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text.firstMatch(of: /\b(?:TODO|FIXME|XXX)\b/) == nil, "\(House.place(file, 0))")
        }
    }

    @Test("The plan is found wanting when it should be")
    func readers() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "house-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try
            "@testable import A\n  private import struct B.C\n// import D\nimportant()\n@preconcurrency import E\nlet text = \"\"\"\nimport F\n\"\"\"\nimport G\n"
            .write(to: file, atomically: true, encoding: .utf8)
        #expect(try House.imports(file).map(\.module) == ["A", "B", "E", "G"])
        #expect(try House.imports(file).map(\.line) == [1, 2, 5, 9])
        #expect(try House.targets().first { $0.name == "WakeBench" }?.uses.contains("WakeRouter") == true)
    }

    @Test("The index of the lab's parts names each of them, and nothing else")
    func labParts() throws {
        let lab = House.root.appending(path: "Scripts/lab.d")
        let index = try String(contentsOf: lab.appending(path: "README.md"), encoding: .utf8)
        let named = index.matches(of: /(?m)^- `([^`]+)`:/).map { String($0.output.1) }
        var parts: [String] = []
        for part in try FileManager.default.contentsOfDirectory(atPath: lab.path) {
            switch part {
            case "README.md": break
            case "guest", "peers", "jobs":
                let files = try FileManager.default.contentsOfDirectory(atPath: lab.appending(path: part).path)
                parts += files.filter { $0 != "__pycache__" }.map { "\(part)/\($0)" }
            case "scenarios", "devices", "bundles": parts.append("\(part)/")
            default: parts.append(part)
            }
        }
        #expect(named.sorted() == parts.sorted())
    }

    @Test("Each job of the lab is one that Scripts/test plays, but those that take words")
    func labJobs() throws {
        let lab = House.root.appending(path: "Scripts/lab.d")
        let jobs = try FileManager.default.contentsOfDirectory(atPath: lab.appending(path: "jobs").path)
        let player = try String(contentsOf: lab.appending(path: "job"), encoding: .utf8)
        let list = try #require(player.firstMatch(of: /<<'LIST'\n(.*?)\nLIST\n/.dotMatchesNewlines())?.1)
        let played = list.split(separator: "\n").map { "\($0.prefix { $0 != " " }).sh" }
        #expect(jobs.sorted() == (played + ["scenario.sh", "with-belt.sh"]).sorted())
    }

    @Test("Each test target that Scripts/test runs apart from those that start processes is one")
    func pureTargets() throws {
        let steps = House.root.appending(path: "Scripts/test.d/steps.py")
        let list = try #require(try String(contentsOf: steps, encoding: .utf8).firstMatch(of: /PURE = \(([^)]*)\)/)?.1)
        let names = list.matches(of: /"(\w+)"/).map { String($0.1) }
        let targets = try House.targets().filter { $0.kind == "tests" }.map(\.name)
        #expect(names.count > 5)
        #expect(Set(names).isSubset(of: targets), "\(Set(names).subtracting(targets))")
    }
}

import Foundation
import Testing

/// Sources/README.md is the page of those who build here: what it says of places is so.
@Suite("The page for those who build in the house")
struct GuideTests {
    private static func text() throws -> String {
        try String(contentsOf: House.sources.appending(path: "README.md"), encoding: .utf8)
    }

    /// A place in a chapter's list: `- `Sources/Core/WakeModel/Input.swift`: why`.
    private struct Place {
        var path: String
        /// Not for each: `- `Sources/Core/WakeModel/Input.swift`, where there are any: why`.
        var isForSome: Bool
    }

    private static func places(_ chapter: String) throws -> [Place] {
        let chapters = try text().components(separatedBy: "\n## ")
        let body = try #require(chapters.first { $0.hasPrefix(chapter + "\n") })
        return body.matches(of: /(?m)^- `([^`]+)`(, where [^:]+)?: ./).map { match in
            Place(path: String(match.output.1), isForSome: match.output.2 != nil)
        }
    }

    /// The areas that the page names.
    private static func areas() throws -> [String] {
        let names = try #require(try text().firstMatch(of: /These are all: ([^.]+)\./)?.output.1)
        return names.components(separatedBy: ", ")
    }

    /// Every file and folder of the package that git may keep, below it; a folder ends with a slash.
    private static func everything() throws -> [String] {
        try ["Sources", "Tests", "Devices", "Scripts"].flatMap { top in
            let folder = House.root.appending(path: top).path
            let below = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
            return try below.map { path in
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")
                return "\(top)/\(path)" + (attributes[.type] as? FileAttributeType == .typeDirectory ? "/" : "")
            }
        } + ["Package.swift"]
    }

    @Test("Each place exists", arguments: ["To add an area", "To add a rule", "To add a call of the SDK"])
    func exists(chapter: String) throws {
        let places = try Self.places(chapter)
        #expect(places.count >= 10)
        let everything = Set(try Self.everything())
        for place in places where !place.path.contains("<Area>") {
            #expect(everything.contains(place.path), "\(place.path)")
        }
    }

    @Test("Each room of the SDK is named once where the page says which there are")
    func rooms() throws {
        let paragraphs = try Self.text().components(separatedBy: "\n\n")
        let paragraph = try #require(paragraphs.first { $0.hasPrefix("The SDK stands outside") })
        for room in FloorPlan.sdk {
            #expect(paragraph.components(separatedBy: "`\(room.name)`").count == 2, "\(room.name)")
        }
    }

    @Test("Each area has all the places of an area")
    func areas() throws {
        let everything = try Self.everything()
        let patterns = try Self.places("To add an area").filter { $0.path.contains("<Area>") }
        #expect(patterns.count >= 5)
        let areas = try Self.areas()
        for pattern in patterns {
            let having = areas.filter { area in
                let parts = pattern.path.replacing("<Area>", with: area).components(separatedBy: "*")
                return everything.contains { Self.matches($0, parts) }
            }
            #expect(pattern.isForSome ? !having.isEmpty : having == areas, "only \(having) have \(pattern.path)")
        }
    }

    /// Whether a path consists of the parts in their order, with anything between two of them.
    private static func matches(_ path: String, _ parts: [String]) -> Bool {
        guard let first = parts.first, let last = parts.last, path.hasPrefix(first), path.hasSuffix(last) else {
            return false
        }
        var rest = path.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return parts.count == 1 ? path == first : rest.count >= last.count
    }

    @Test("The areas of the page are those of the event sources")
    func allAreas() throws {
        let areas = try Self.areas()
        let sources = FloorPlan.rooms.filter { $0.floor == "EventSources" }.map(\.name)
        #expect(areas.count == sources.count)
        for area in areas {
            #expect(sources.contains { $0.hasPrefix("Wake") && $0.hasSuffix(area) }, "\(area)")
        }
    }

    @Test("The floor plan of the page is the house's")
    func floorPlan() throws {
        let rows = try Self.text().matches(of: /(?m)^\| (\w+) \| `(\w+)` \|/).map { "\($0.output.1)/\($0.output.2)" }
        #expect(rows == FloorPlan.rooms.map { "\($0.floor)/\($0.name)" })
        for room in FloorPlan.sdk { #expect(try Self.text().contains("`\(room.name)`"), "\(room.name)") }
    }
}

/// The SDK's catalogues for DocC: what they name is there, and their code is code of an example that is built.
@Suite("The catalogues of the SDK")
struct CatalogueTests {
    private static let sdk = House.sources.appending(path: "SDK")

    private static func pages() throws -> [URL] {
        try House.files(sdk, ending: "md").filter { $0.path.contains(".docc/") }
    }

    private static func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    /// A module's own Swift text.
    private static func module(of page: URL) throws -> String {
        let folder = page.deletingLastPathComponent().deletingLastPathComponent()
        return try House.files(folder).map(text).joined()
    }

    @Test("Each module that tells of a source has an overview and an article, and one tells how to start")
    func catalogues() throws {
        for module in [
            "UIKit", "CoreBluetooth", "CoreLocation", "AVFAudio", "ExternalAccessory", "UserNotifications", "PushKit",
            "CallKit", "BackgroundTasks",
        ] {
            let pages = try Self.pages().filter { $0.path.contains("/\(module)/\(module).docc/") }
            #expect(pages.contains { $0.lastPathComponent == "\(module).md" }, "\(module)")
            #expect(pages.count >= 2, "\(module)")
        }
        #expect(try Self.pages().contains { $0.lastPathComponent == "GettingStarted.md" })
    }

    @Test("Each symbol that a page names is declared in its module")
    func symbols() throws {
        for page in try Self.pages() {
            let module = try Self.module(of: page)
            for match in try Self.text(page).matches(of: /``([^`\n]+)``/) {
                for part in match.output.1.split(separator: "/")
                where part != page.deletingPathExtension().lastPathComponent {
                    let name = String(part.prefix { $0 != "(" })
                    let declared = try Regex(
                        #"\b(?:actor|class|struct|enum|protocol|func|var|let|typealias|case) \#(name)\b"#
                    )
                    #expect(module.firstMatch(of: declared) != nil, "\(page.lastPathComponent) names \(match.output.1)")
                }
            }
        }
    }

    @Test("Each page that another one links to is there")
    func links() throws {
        for page in try Self.pages() {
            for match in try Self.text(page).matches(of: /<doc:(\w+)>/) {
                let target = page.deletingLastPathComponent().appending(path: "\(match.output.1).md")
                #expect(
                    FileManager.default.fileExists(atPath: target.path),
                    "\(page.lastPathComponent): \(target.path)"
                )
            }
        }
    }

    @Test("The code of each page is an example's, line by line")
    func code() throws {
        let examples = try House.files(House.sources.appending(path: "Examples")).map {
            "\n" + Self.flat(try Self.text($0))
        }
        for page in try Self.pages() {
            for block in try Self.text(page).matches(of: /(?ms)^```swift\n(.*?)^```/) {
                let code = "\n" + Self.flat(String(block.output.1))
                #expect(examples.contains { $0.contains(code) }, "\(page.lastPathComponent): \(code)")
            }
        }
    }

    /// Lines without their indentation, each ended.
    private static func flat(_ text: String) -> String {
        text.split(separator: "\n").map { $0.drop { $0 == " " } + "\n" }.joined()
    }
}

import Foundation

/// The rooms of the house and what each may import: the plan that Package.swift and every `import` must follow.
///
/// A room imports only rooms that stand above it here, and of those only the ones it names.
enum FloorPlan {
    struct Room {
        var name: String
        var floor: String
        /// Rooms and C libraries it may import.
        var imports: Set<String>
        var foundation = false
    }

    static let rooms: [Room] = [
        Room(name: "WakeModel", floor: "Core", imports: []),
        Room(name: "WakeJSON", floor: "Core", imports: []),
        Room(name: "WakeRouter", floor: "Core", imports: ["WakeModel"]),
        Room(name: "WakePorts", floor: "Core", imports: ["WakeModel"]),
        Room(name: "WakeWire", floor: "Core", imports: ["WakeModel", "WakeJSON"], foundation: true),
        Room(name: "WakeDevices", floor: "Core", imports: ["CYAML", "WakeModel", "WakeJSON"], foundation: true),
        Room(name: "WakeCaptures", floor: "Core", imports: ["CZlib", "WakeModel", "WakeDevices"]),

        Room(name: "WakeSystem", floor: "System", imports: ["CSystemd", "CWakeShims"]),
        Room(name: "WakeBus", floor: "System", imports: ["CSystemd", "WakeSystem"]),
        Room(name: "WakeBlueZ", floor: "System", imports: ["CBluetooth", "CWakeShims", "WakeSystem", "WakeBus"]),
        Room(name: "WakeUdev", floor: "System", imports: ["CUdev", "WakeSystem"]),
        Room(name: "WakeALSA", floor: "System", imports: ["CALSA", "WakeSystem", "WakeUdev"]),
        Room(
            name: "WakeAPNs",
            floor: "System",
            imports: ["CNGHTTP2", "COpenSSL", "CWakeShims", "WakeJSON", "WakeSystem"]
        ),
        Room(name: "WakeHTTP", floor: "System", imports: ["CMicroHTTPD", "WakeSystem"]),
        Room(name: "WakeScreen", floor: "System", imports: ["CNcurses", "WakeSystem"]),
        Room(name: "WakeBundles", floor: "System", imports: ["WakeDevices", "WakeModel"], foundation: true),
        Room(
            name: "WakeProcesses",
            floor: "System",
            imports: ["CWakeShims", "WakeSystem"]
        ),
        Room(name: "WakeVirtualTime", floor: "System", imports: ["CVirtualTime", "WakeSystem"]),
        Room(name: "WakeJournal", floor: "System", imports: ["CJournalFiles", "CSQLite", "WakeModel", "WakePorts"]),
        Room(name: "WakeTransfers", floor: "System", imports: ["CWakeShims", "WakeJSON", "WakeSystem"]),

        Room(
            name: "WakeBluetooth",
            floor: "EventSources",
            imports: ["WakeModel", "WakePorts", "WakeDevices", "WakeCaptures", "WakeSystem", "WakeBus", "WakeBlueZ"]
        ),

        Room(
            name: "WakeLocation",
            floor: "EventSources",
            imports: ["WakeModel", "WakeJSON", "WakePorts", "WakeDevices", "WakeSystem", "WakeUdev"]
        ),

        Room(
            name: "WakeAudio",
            floor: "EventSources",
            imports: ["WakeModel", "WakePorts", "WakeWire", "WakeDevices", "WakeSystem", "WakeUdev", "WakeALSA"]
        ),

        Room(
            name: "WakeExternalAccessory",
            floor: "EventSources",
            imports: [
                "CBluetooth", "WakeModel", "WakePorts", "WakeDevices", "WakeSystem", "WakeUdev", "WakeBus", "WakeBlueZ",
            ]
        ),

        Room(
            name: "WakeVoIP",
            floor: "EventSources",
            imports: ["CWakeShims", "WakeModel", "WakePorts", "WakeDevices", "WakeSystem"]
        ),

        Room(name: "WakeNotification", floor: "EventSources", imports: ["WakeModel", "WakePorts"]),
        Room(
            name: "WakeBackgroundTransfer",
            floor: "EventSources",
            imports: ["WakeModel", "WakePorts", "WakeDevices", "WakeSystem", "WakeTransfers"]
        ),

        Room(
            name: "WakePush",
            floor: "EventSources",
            imports: ["WakeModel", "WakeJSON", "WakePorts", "WakeSystem", "WakeAPNs"]
        ),

        Room(
            name: "WakeReports",
            floor: "Bench",
            imports: ["CReportFiles", "WakeModel", "WakeJSON"],
            foundation: true
        ),
        Room(
            name: "WakeBench",
            floor: "Bench",
            imports: [
                "WakeModel", "WakeJSON", "WakeRouter", "WakePorts", "WakeWire", "WakeDevices", "WakeCaptures",
                "WakeSystem",
                "WakeUdev", "WakeHTTP", "WakeBundles",
                "WakeProcesses", "WakeVirtualTime", "WakeJournal", "WakeBluetooth", "WakeLocation", "WakeAudio",
                "WakeExternalAccessory",
                "WakeReports", "WakeVoIP", "WakeNotification", "WakeBackgroundTransfer", "WakePush",
            ]
        ),

        Room(
            name: "wakebench",
            floor: "CommandLine",
            imports: [
                "WakeModel", "WakeJSON", "WakeDevices", "WakeCaptures", "WakeSystem", "WakeScreen", "WakeBundles",
                "WakeBench", "WakeReports",
            ],
            foundation: true
        ),
        Room(
            name: "WakebenchTransfers",
            floor: "CommandLine",
            imports: ["CCurl", "CCurlShims", "CWakeShims", "WakeSystem", "WakeTransfers"]
        ),
    ]

    /// The SDK stands outside of the order: it sees the wire and the words that are on it, and nothing of the bench.
    ///
    /// A module with a Clang half imports that half by its own name.
    static let sdk: [Room] = [
        Room(name: "WakeClient", floor: "SDK", imports: ["CWakeClient", "WakeWire"], foundation: true),
        // What Apple's Foundation and Dispatch have, and Linux's do not.
        Room(name: "WakeFoundation", floor: "SDK", imports: ["CWakeFoundation", "WakeClient"], foundation: true),
        // URLSession's background sessions, which Apple's Foundation has.
        Room(
            name: "WakeNetworking",
            floor: "SDK",
            imports: ["WakeClient", "WakeModel", "WakeWire"],
            foundation: true
        ),
        Room(name: "_Testing_UIKit", floor: "SDK", imports: []),
        Room(
            name: "UIKit",
            floor: "SDK",
            imports: [
                "CUIKit", "WakeClient", "WakeFoundation", "WakeModel", "WakeNetworking", "WakeWire", "_Testing_UIKit",
            ],
            foundation: true
        ),
        Room(
            name: "CoreBluetooth",
            floor: "SDK",
            imports: ["CCoreBluetooth", "WakeClient", "WakeFoundation", "WakeModel", "WakeWire"],
            foundation: true
        ),
        Room(
            name: "CoreLocation",
            floor: "SDK",
            imports: ["CCoreLocation", "WakeClient", "WakeFoundation", "WakeModel", "WakeWire"],
            foundation: true
        ),
        Room(
            name: "AVFAudio",
            floor: "SDK",
            imports: ["CAVFAudio", "WakeClient", "WakeFoundation", "WakeModel", "WakeWire"],
            foundation: true
        ),
        Room(name: "AVFoundation", floor: "SDK", imports: ["AVFAudio", "CAVFoundation"], foundation: true),
        Room(
            name: "ExternalAccessory",
            floor: "SDK",
            imports: ["CExternalAccessory", "WakeClient", "WakeFoundation", "WakeModel", "WakeWire"],
            foundation: true
        ),
        Room(
            name: "UserNotifications",
            floor: "SDK",
            imports: ["CUserNotifications", "WakeClient", "WakeFoundation", "WakeModel", "WakeWire"],
            foundation: true
        ),
        Room(
            name: "PushKit",
            floor: "SDK",
            imports: ["CPushKit", "WakeClient", "WakeFoundation", "WakeWire"],
            foundation: true
        ),
        Room(
            name: "CallKit",
            floor: "SDK",
            imports: ["AVFAudio", "CCallKit", "WakeClient", "WakeFoundation"],
            foundation: true
        ),
        Room(
            name: "BackgroundTasks",
            floor: "SDK",
            imports: ["CBackgroundTasks", "WakeClient", "WakeFoundation", "WakeWire"],
            foundation: true
        ),
        Room(
            name: "os",
            floor: "SDK",
            imports: ["COS", "WakeClient", "WakeFoundation", "WakeWire"],
            foundation: true
        ),
        Room(name: "OSLog", floor: "SDK", imports: ["os"]),
        // For tests of apps: it starts the program, and has nothing of it.
        Room(name: "WakebenchTesting", floor: "SDK", imports: [], foundation: true),
    ]

    /// The Clang halves of the SDK's modules.
    static let halves: Set<String> = [
        "CUIKit", "CCoreBluetooth", "CCoreLocation", "CAVFAudio", "CAVFoundation", "CExternalAccessory",
        "CUserNotifications", "CPushKit", "CCallKit", "CBackgroundTasks", "COS",
    ]

    /// Libraries of the system.
    static let libraries: Set<String> = [
        "CSystemd", "CSQLite", "CYAML", "CUdev", "CALSA", "CBluetooth", "CCurl", "CNGHTTP2", "COpenSSL",
        "CMicroHTTPD", "CNcurses", "CZlib",
    ]

    /// Our own code in C, but for the halves: what each needs.
    static let clang: [String: [String]] = [
        "CWakeShims": ["CBluetooth"], "CJournalFiles": ["CSQLite"], "CCurlShims": ["CCurl"], "CVirtualTime": [],
        "CWakeClient": [],
        "CWakeFoundation": [],
        "CReportFiles": [],
    ]

    /// Loaded into apps by its file, and linked by nothing.
    static let preloaded = "WakebenchTime"

    /// Floors whose programs may import any room.
    static let openFloors: Set<String> = ["Examples", "Benchmarks", "Fuzz"]

    /// At most how many files that are not an area's own may name it, as `Scripts/spread` counts them. The numbers only sink.
    static let spread = ["bluetooth": 18, "location": 9, "accessory": 13, "audio": 5, "voip": 8]

    /// The same for an area that has no number yet: what the others have on average.
    static let spreadOfOthers = 10

    /// Functions that read as a table, or that are one long text: they may be as long as what they hold.
    static let tables: Set<String> = [
        "Profile.swift: func generation"
    ]

    /// Functions of more than 60 lines that wait to be parted, each with the lines it may have until then.
    static let longFunctions: [String: Int] = [:]

    static func room(_ name: String) -> Room? { (rooms + sdk).first { $0.name == name } }

    /// What comes with the toolchain and the system.
    static let system: Set<String> = ["Glibc", "Dispatch", "Synchronization"]
    /// What stands for Foundation in a room that may import it.
    static let foundation: Set<String> = [
        "CoreFoundation", "Foundation", "FoundationEssentials", "FoundationNetworking", "FoundationXML",
    ]
}

/// The house as it stands in the package's folder.
enum House {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static let sources = root.appending(path: "Sources")

    /// A target of Package.swift.
    struct Target {
        /// The function of Package.swift that makes it.
        var kind: String
        var name: String
        /// The folder under Sources for rooms and programs; nil for what is nowhere else than its kind says.
        var floor: String?
        var uses: [String]

        /// Where its files are, below the package.
        var folder: String {
            switch kind {
            case "room", "program": "Sources/\(floor ?? "")/\(name)"
            case "library", "clang": "Sources/C/\(name)"
            case "tests": "Tests/\(name)"
            default: "Tests/Support/\(name)"
            }
        }
    }

    static func manifest() throws -> String {
        try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
    }

    /// The targets of Package.swift, in its order.
    static func targets() throws -> [Target] {
        let manifest = try manifest()
        let call = /\b(room|program|library|clang|testProgram|appCode|testLibrary|tests)\(\s*"(\w+)"/
        let calls = manifest.matches(of: call)
        return calls.indices.map { index in
            let end = index + 1 < calls.count ? calls[index + 1].range.lowerBound : manifest.endIndex
            let arguments = manifest[calls[index].range.upperBound..<end]
            let uses = arguments.firstMatch(of: /\buses:\s*\[([^\]]*)\]/)?.output.1 ?? ""
            return Target(
                kind: String(calls[index].output.1),
                name: String(calls[index].output.2),
                floor: arguments.prefixMatch(of: /,\s*on:\s*"(\w+)"/).map { String($0.output.1) },
                uses: uses.matches(of: /"(\w+)"/).map { String($0.output.1) }
            )
        }
    }

    /// The targets that are rooms or programs, each with its folder below Sources.
    static func folders() throws -> [(folder: String, target: Target)] {
        try targets().compactMap { target in target.floor.map { ("\($0)/\(target.name)", target) } }
    }

    /// The files of a language under a folder of Sources, sorted.
    static func files(_ folder: URL, ending: String = "swift") throws -> [URL] {
        guard let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else { return [] }
        return all.compactMap { $0 as? URL }.filter { $0.pathExtension == ending }.sorted { $0.path < $1.path }
    }

    /// The modules that a file imports, each with its line. What stands in a text of several lines is no import.
    static func imports(_ file: URL) throws -> [(module: String, line: Int)] {
        let statement =
            /^\s*(?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)/
        var isText = false
        return try String(contentsOf: file, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
            .compactMap { offset, line in
                if !line.ranges(of: "\"\"\"").count.isMultiple(of: 2) { isText.toggle() }
                return isText ? nil : line.firstMatch(of: statement).map { (String($0.output.1), offset + 1) }
            }
    }

    /// `Sources/Core/WakeModel/Action.swift:3`.
    static func place(_ file: URL, _ line: Int) -> String {
        "\(file.path.replacingOccurrences(of: root.path + "/", with: "")):\(line)"
    }
}

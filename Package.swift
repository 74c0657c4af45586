// swift-tools-version: 6.2
import PackageDescription

// The floor plan: one room a line. A room imports only rooms that stand above it; HouseTests holds the line.

let house: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

// Debug builds check that no access overlaps another; what the bench does at each event is not slowed by it.
let unchecked: [SwiftSetting] = [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

// The random world computes for minutes otherwise.
let optimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

// A debug build reads a module once for each processor otherwise, and once more for what imports it, and expands its macros each
// time. Tests and programs are many and imported by nothing: read once they cost a quarter less. Rooms are built anew by their files,
// but where a build is the only one (Scripts/debug).
let whole: [SwiftSetting] = [
    .unsafeFlags(
        ["-disable-batch-mode", "-whole-module-optimization", "-num-threads", "2", "-no-emit-module-separately-wmo"],
        .when(configuration: .debug)
    )
]

let once = Context.environment["WAKEBENCH_BUILD"] == "once"

/// Rooms that apps are built with, in packages of their own, where such a flag may be refused.
let inApps = ["WakeModel", "WakeJSON", "WakeWire"]

/// `tables` and `templates` are compiled into the room: the program needs no file beside it.
///
/// - Parameter isOptimized: In debug builds too.
func room(
    _ name: String,
    on floor: String,
    uses: [String] = [],
    exclude: [String] = [],
    tables: [String] = [],
    templates: [String] = [],
    isOptimized: Bool = false
) -> Target {
    .target(
        name: name,
        dependencies: uses.map { .byName(name: $0) },
        path: "Sources/\(floor)/\(name)",
        exclude: exclude,
        resources: tables.map { .embedInCode("Tables/\($0)") } + templates.map { .embedInCode("Templates/\($0)") },
        swiftSettings: house + (floor == "SDK" || inApps.contains(name) ? [] : unchecked)
            + (isOptimized ? optimized : []) + (once ? whole : [])
    )
}

// An app loads what it calls: FoundationNetworking comes with UIKit and brings libcurl and all of its libraries. The flag must
// stand before the libraries, where swiftc puts none but what a configuration of clang says. New apps get the same.
let asNeeded: [LinkerSetting] = [
    .unsafeFlags([
        "-Xclang-linker",
        "--config=\(Context.packageDirectory)/Sources/System/WakeBundles/Templates/as-needed.cfg.txt",
    ])
]

// The optimized program carries Swift's libraries in it: it starts in two thirds of the time, and runs where Swift is not installed.
let selfContained: [LinkerSetting] =
    [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]
    // What Foundation takes in turn.
    + ["_CFXMLInterface", "CoreFoundation", "_FoundationICU", "_FoundationCShims", "_FoundationCollections", "xml2"].map
{
    .linkedLibrary($0, .when(configuration: .release))
}

// Code as it is written for a phone, where audio blocks touch memory without a word.
let phone: [SwiftSetting] = [.treatAllWarnings(as: .error)]

func program(
    _ name: String,
    on floor: String,
    uses: [String],
    exclude: [String] = [],
    settings: [SwiftSetting] = house,
    links: [String] = []
) -> Target {
    .executableTarget(
        name: name,
        dependencies: uses.map { .byName(name: $0) },
        path: "Sources/\(floor)/\(name)",
        exclude: exclude,
        swiftSettings: settings + whole,
        linkerSettings: links.map { .linkedLibrary($0) } + (floor == "Examples" ? asNeeded : [])
            + (name == "wakebench" ? selfContained : [])
    )
}

/// - Parameter pkgConfig: nil where its file has flags that the package manager prohibits, and the compiler finds it without.
func library(_ name: String, pkgConfig: String?, apt: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

/// Code in C: what Swift cannot import, or the Clang half of a Swift module of Apple's, which makes
/// `import UIKit.UIApplication` a module that exists.
func clang(_ name: String, uses: [String] = []) -> Target {
    .target(name: name, dependencies: uses.map { .byName(name: $0) }, path: "Sources/C/\(name)")
}

/// A program that tests start.
func testProgram(_ name: String, uses: [String] = [], settings: [SwiftSetting] = house) -> Target {
    .executableTarget(
        name: name,
        dependencies: uses.map { .byName(name: $0) },
        path: "Tests/Support/\(name)",
        swiftSettings: settings + whole
    )
}

/// Code of apps as it is written for a phone, by people who see of this package what is public: a warning ends the build.
///
/// - Parameter warns: Old code that warns, and is not heard.
func appCode(_ name: String, uses: [String], mode: SwiftLanguageMode, warns: Bool = false) -> Target {
    .executableTarget(
        name: name,
        dependencies: uses.map { .byName(name: $0) },
        path: "Tests/Support/\(name)",
        packageAccess: false,
        swiftSettings: (warns ? [.unsafeFlags(["-suppress-warnings"])] : phone) + whole + [.swiftLanguageMode(mode)]
    )
}

/// What several test targets share.
func testLibrary(_ name: String, uses: [String] = [], links: [String] = []) -> Target {
    .target(
        name: name,
        dependencies: uses.map { .byName(name: $0) },
        path: "Tests/Support/\(name)",
        swiftSettings: house + whole,
        linkerSettings: links.map { .linkedLibrary($0) }
    )
}

/// - Parameter isOptimized: In debug builds too.
func tests(
    _ name: String,
    uses: [String],
    exclude: [String] = [],
    resources: [Resource] = [],
    isOptimized: Bool = false
) -> Target {
    .testTarget(
        name: name,
        dependencies: uses.map { .byName(name: $0) },
        path: "Tests/\(name)",
        exclude: exclude,
        resources: resources,
        swiftSettings: house + whole + (isOptimized ? optimized : [])
    )
}

/// Modules that apps import.
let sdk = [
    "UIKit", "CoreBluetooth", "CoreLocation", "AVFoundation", "ExternalAccessory", "UserNotifications", "PushKit",
    "CallKit",
    "BackgroundTasks", "os", "OSLog",
]

let package = Package(
    name: "wakebench",
    products: [
        .executable(name: "wakebench", targets: ["wakebench"]),
        .library(name: "UIKit", targets: ["UIKit"]),
        .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
        .library(name: "CoreLocation", targets: ["CoreLocation"]),
        .library(name: "AVFAudio", targets: ["AVFAudio"]),
        .library(name: "AVFoundation", targets: ["AVFoundation"]),
        .library(name: "ExternalAccessory", targets: ["ExternalAccessory"]),
        .library(name: "UserNotifications", targets: ["UserNotifications"]),
        .library(name: "PushKit", targets: ["PushKit"]),
        .library(name: "CallKit", targets: ["CallKit"]),
        .library(name: "BackgroundTasks", targets: ["BackgroundTasks"]),
        .library(name: "os", targets: ["os"]),
        .library(name: "OSLog", targets: ["OSLog"]),
        .library(name: "WakebenchTesting", targets: ["WakebenchTesting"]),
        // Preloaded into an app's processes, by its file.
        .library(name: "WakebenchTime", type: .dynamic, targets: ["WakebenchTime"]),
        // Loaded by alsa-lib in tests, by its file.
        .library(name: "PacedCard", type: .dynamic, targets: ["PacedCard"]),
    ],
    targets: [
        // C libraries, and what Swift cannot import.
        library("CSystemd", pkgConfig: "libsystemd", apt: "libsystemd-dev"),
        library("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        library("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        library("CUdev", pkgConfig: "libudev", apt: "libudev-dev"),
        library("CALSA", pkgConfig: "alsa", apt: "libasound2-dev"),
        library("CBluetooth", pkgConfig: "bluez", apt: "libbluetooth-dev"),
        library("CNGHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev"),
        library("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        library("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        library("CNcurses", pkgConfig: nil, apt: "libncurses-dev"),
        library("CCurl", pkgConfig: nil, apt: "libcurl4-openssl-dev"),
        library("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
        clang("CUIKit"),
        clang("CCoreBluetooth"),
        clang("CCoreLocation"),
        clang("CAVFAudio"),
        clang("CAVFoundation"),
        clang("CExternalAccessory"),
        clang("CUserNotifications"),
        clang("CPushKit"),
        clang("CCallKit"),
        clang("CBackgroundTasks"),
        clang("COS"),
        // Goes into programs of any kind, so nothing of Swift may come with it: the link adds that to all products.
        .target(
            name: "WakebenchTime",
            path: "Sources/C/WakebenchTime",
            cSettings: [.headerSearchPath("../CVirtualTime/include")],
            linkerSettings: [.unsafeFlags(["-nostartfiles", "-static-stdlib", "-Xlinker", "-z", "-Xlinker", "now"])]
        ),
        clang("CWakeShims", uses: ["CBluetooth"]),
        clang("CJournalFiles", uses: ["CSQLite"]),
        clang("CCurlShims", uses: ["CCurl"]),
        clang("CVirtualTime"),
        clang("CWakeClient"),
        clang("CWakeFoundation"),
        clang("CReportFiles"),

        // Core
        // Its numbers and words are public where all else is package: other rooms inline equality of public types only,
        // and these are compared many times an event.
        room("WakeModel", on: "Core", tables: ["checks.tsv", "deeds.tsv", "events.tsv", "reasons.tsv"]),
        room("WakeJSON", on: "Core"),
        room("WakeRouter", on: "Core", uses: ["WakeModel"], isOptimized: true),
        room("WakePorts", on: "Core", uses: ["WakeModel"]),
        room("WakeWire", on: "Core", uses: ["WakeModel", "WakeJSON"], exclude: ["WIRE.md"]),
        room("WakeDevices", on: "Core", uses: ["CYAML", "WakeModel", "WakeJSON"], tables: ["guidelines.tsv"]),
        room("WakeCaptures", on: "Core", uses: ["CZlib", "WakeModel", "WakeDevices"]),

        // System
        room("WakeSystem", on: "System", uses: ["CSystemd", "CWakeShims"]),
        room("WakeBus", on: "System", uses: ["CSystemd", "WakeSystem"]),
        room("WakeBlueZ", on: "System", uses: ["CBluetooth", "CWakeShims", "WakeSystem", "WakeBus"]),
        room("WakeUdev", on: "System", uses: ["CUdev", "WakeSystem"]),
        room("WakeALSA", on: "System", uses: ["CALSA", "WakeSystem", "WakeUdev"]),
        room("WakeAPNs", on: "System", uses: ["CNGHTTP2", "COpenSSL", "CWakeShims", "WakeJSON", "WakeSystem"]),
        room("WakeHTTP", on: "System", uses: ["CMicroHTTPD", "WakeSystem"]),
        room("WakeScreen", on: "System", uses: ["CNcurses", "WakeSystem"]),
        room(
            "WakeBundles",
            on: "System",
            uses: ["WakeDevices", "WakeModel"],
            tables: ["frameworks.tsv", "lint.tsv", "modules.tsv", "state.tsv"],
            templates: [
                "AppDelegate.swift.txt", "BeltCentral.swift.txt", "Info.plist.txt", "Makefile.txt", "Package.swift.txt",
                "README.md.txt", "ScenarioTests.swift.txt", "as-needed.cfg.txt", "belt.yaml.txt", "main.c.txt",
                "main.py.txt", "scenario.yaml.txt",
            ]
        ),
        room("WakeProcesses", on: "System", uses: ["CWakeShims", "WakeSystem"]),
        room("WakeVirtualTime", on: "System", uses: ["CVirtualTime", "WakeSystem"]),
        room("WakeJournal", on: "System", uses: ["CJournalFiles", "CSQLite", "WakeModel", "WakePorts"]),
        room("WakeTransfers", on: "System", uses: ["CWakeShims", "WakeJSON", "WakeSystem"]),

        // EventSources
        room(
            "WakeBluetooth",
            on: "EventSources",
            uses: ["WakeModel", "WakePorts", "WakeDevices", "WakeCaptures", "WakeSystem", "WakeBus", "WakeBlueZ"]
        ),

        room(
            "WakeLocation",
            on: "EventSources",
            uses: ["WakeModel", "WakeJSON", "WakePorts", "WakeDevices", "WakeSystem", "WakeUdev"]
        ),

        room(
            "WakeAudio",
            on: "EventSources",
            uses: ["WakeModel", "WakePorts", "WakeWire", "WakeDevices", "WakeSystem", "WakeUdev", "WakeALSA"]
        ),

        room(
            "WakeExternalAccessory",
            on: "EventSources",
            uses: [
                "CBluetooth", "WakeModel", "WakePorts", "WakeDevices", "WakeSystem", "WakeUdev", "WakeBus", "WakeBlueZ",
            ]
        ),

        room(
            "WakeVoIP",
            on: "EventSources",
            uses: ["CWakeShims", "WakeModel", "WakePorts", "WakeDevices", "WakeSystem"]
        ),

        room("WakeNotification", on: "EventSources", uses: ["WakeModel", "WakePorts"]),
        room(
            "WakeBackgroundTransfer",
            on: "EventSources",
            uses: ["WakeModel", "WakePorts", "WakeDevices", "WakeSystem", "WakeTransfers"]
        ),

        room(
            "WakePush",
            on: "EventSources",
            uses: ["WakeModel", "WakeJSON", "WakePorts", "WakeSystem", "WakeAPNs"]
        ),

        // Bench
        room(
            "WakeReports",
            on: "Bench",
            uses: ["CReportFiles", "WakeModel", "WakeJSON"],
            exclude: ["Tables", "Templates"]
        ),
        room(
            "WakeBench",
            on: "Bench",
            uses: [
                "WakeModel", "WakeJSON", "WakeRouter", "WakePorts", "WakeWire", "WakeDevices", "WakeCaptures",
                "WakeSystem",
                "WakeUdev", "WakeHTTP", "WakeBundles",
                "WakeProcesses", "WakeVirtualTime", "WakeJournal", "WakeBluetooth", "WakeLocation", "WakeAudio",
                "WakeExternalAccessory",
                "WakeReports", "WakeVoIP", "WakeNotification", "WakeBackgroundTransfer", "WakePush",
            ]
        ),

        // CommandLine
        program(
            "wakebench",
            on: "CommandLine",
            uses: [
                "WakeModel", "WakeJSON", "WakeDevices", "WakeCaptures", "WakeSystem", "WakeScreen", "WakeBundles",
                "WakeBench", "WakeReports",
            ]
        ),
        // A process of its own, beside wakebench: no bench loads libcurl.
        program(
            "WakebenchTransfers",
            on: "CommandLine",
            uses: ["CCurl", "CCurlShims", "CWakeShims", "WakeSystem", "WakeTransfers"]
        ),

        // SDK
        room("WakeClient", on: "SDK", uses: ["CWakeClient", "WakeWire"]),
        room("WakeFoundation", on: "SDK", uses: ["CWakeFoundation", "WakeClient"]),
        room("WakeNetworking", on: "SDK", uses: ["WakeClient", "WakeModel", "WakeWire"]),
        room("_Testing_UIKit", on: "SDK"),
        room(
            "UIKit",
            on: "SDK",
            uses: [
                "CUIKit", "WakeClient", "WakeFoundation", "WakeModel", "WakeNetworking", "WakeWire", "_Testing_UIKit",
            ]
        ),
        room(
            "CoreBluetooth",
            on: "SDK",
            uses: ["CCoreBluetooth", "WakeClient", "WakeFoundation", "WakeModel", "WakeWire"]
        ),
        room(
            "CoreLocation",
            on: "SDK",
            uses: ["CCoreLocation", "WakeClient", "WakeFoundation", "WakeModel", "WakeWire"]
        ),
        room("AVFAudio", on: "SDK", uses: ["CAVFAudio", "WakeClient", "WakeFoundation", "WakeModel", "WakeWire"]),
        room("AVFoundation", on: "SDK", uses: ["AVFAudio", "CAVFoundation"]),
        room(
            "ExternalAccessory",
            on: "SDK",
            uses: ["CExternalAccessory", "WakeClient", "WakeFoundation", "WakeModel", "WakeWire"]
        ),
        room(
            "UserNotifications",
            on: "SDK",
            uses: ["CUserNotifications", "WakeClient", "WakeFoundation", "WakeModel", "WakeWire"]
        ),
        room("PushKit", on: "SDK", uses: ["CPushKit", "WakeClient", "WakeFoundation", "WakeWire"]),
        room("CallKit", on: "SDK", uses: ["AVFAudio", "CCallKit", "WakeClient", "WakeFoundation"]),
        room("BackgroundTasks", on: "SDK", uses: ["CBackgroundTasks", "WakeClient", "WakeFoundation", "WakeWire"]),
        room("os", on: "SDK", uses: ["COS", "WakeClient", "WakeFoundation", "WakeWire"]),
        room("OSLog", on: "SDK", uses: ["os"]),
        room("WakebenchTesting", on: "SDK"),

        // Examples
        program("HeartRate", on: "Examples", uses: ["UIKit", "CoreBluetooth"], exclude: ["Info.plist"]),
        program(
            "ThermometerPeripheral",
            on: "Examples",
            uses: ["UIKit", "CoreBluetooth", "os"],
            exclude: ["Info.plist"]
        ),
        program("Logger", on: "Examples", uses: ["UIKit", "CoreBluetooth"], exclude: ["Info.plist"]),
        program(
            "SIPPhone",
            on: "Examples",
            uses: ["UIKit", "AVFoundation"],
            exclude: ["Info.plist"],
            settings: phone
        ),
        program("Fences", on: "Examples", uses: ["UIKit", "CoreLocation"], exclude: ["Info.plist"]),
        program(
            "ToneRadio",
            on: "Examples",
            uses: ["UIKit", "AVFoundation"],
            exclude: ["Info.plist"],
            settings: phone
        ),
        program(
            "Recorder",
            on: "Examples",
            uses: ["UIKit", "AVFoundation"],
            exclude: ["Info.plist"],
            settings: phone
        ),
        program("Reminders", on: "Examples", uses: ["UIKit", "UserNotifications"], exclude: ["Info.plist"]),
        program(
            "Messenger",
            on: "Examples",
            uses: ["UIKit", "UserNotifications", "PushKit", "CallKit"],
            exclude: ["Info.plist"],
            settings: phone
        ),
        program(
            "MessengerService",
            on: "Examples",
            uses: ["UserNotifications"],
            exclude: ["Info.plist"],
            settings: phone
        ),
        program("FeedReader", on: "Examples", uses: ["BackgroundTasks", "UIKit"], exclude: ["Info.plist"]),
        program("Downloads", on: "Examples", uses: ["UIKit"], exclude: ["Info.plist"]),
        program("AccessoryLogger", on: "Examples", uses: ["UIKit", "ExternalAccessory"], exclude: ["Info.plist"]),

        // Benchmarks
        program("RouterBenchmark", on: "Benchmarks", uses: ["WakeModel", "WakeRouter"]),
        program("RegionBenchmark", on: "Benchmarks", uses: ["WakeModel", "WakeRouter"]),
        program(
            "WakeBenchmark",
            on: "Benchmarks",
            uses: [
                "WakeBench", "WakeModel", "WakePorts", "WakeProcesses", "WakeRouter", "WakeSystem", "WakeVirtualTime",
                "WakeWire",
            ],
            exclude: ["belt.yaml", "wake.yaml"]
        ),
        program(
            "WakeBenchmarkApp",
            on: "Benchmarks",
            uses: ["CoreBluetooth", "UIKit", "WakeClient"],
            exclude: ["Info.plist"]
        ),
        program("VoIPBenchmarkApp", on: "Benchmarks", uses: ["UIKit"], exclude: ["Info.plist"]),
        program("AudioBenchmark", on: "Benchmarks", uses: ["WakeAudio", "WakeBench"]),
        program("PlainWake", on: "Benchmarks", uses: []),
        program("RestBenchmark", on: "Benchmarks", uses: ["WakeProcesses", "WakeSystem", "WakeVirtualTime"]),
        program("RestBenchmarkProgram", on: "Benchmarks", uses: [], links: ["util"]),
        program(
            "NotificationBenchmarkApp",
            on: "Benchmarks",
            uses: ["CoreBluetooth", "UIKit"],
            exclude: ["Info.plist"]
        ),
        program(
            "NotificationBenchmark",
            on: "Benchmarks",
            uses: ["BlueZStandIn", "ChildProcess", "WakeBus", "WakeSystem"],
            exclude: [
                "acquire.yaml", "belt-acquire.yaml", "belt-start.yaml", "conversation", "counter.py", "start.yaml",
            ]
        ),
        program("PlainNotification", on: "Benchmarks", uses: ["CSystemd", "CSQLite"]),

        // Fuzz: Scripts/fuzz links it with libFuzzer.
        room(
            "FuzzTargets",
            on: "Fuzz",
            uses: [
                "WakeAPNs", "WakeBundles", "WakeCaptures", "WakeDevices", "WakeLocation", "WakeModel", "WakeRouter",
                "WakeWire",
            ]
        ),

        // Tests
        testProgram("MisbehavingApp"),
        testProgram("TimedProgram"),
        testProgram("TimedSwiftProgram"),
        testProgram("BenchLike", uses: ["WakeProcesses", "WakeSystem"]),
        testProgram("AccessoryApp", uses: ["ExternalAccessory"]),
        testProgram("HoppingApp", uses: ["CoreBluetooth", "UIKit"], settings: phone),
        testProgram("LocationApp", uses: ["CoreLocation"]),
        testProgram("CallApp", uses: ["UIKit", "WakeDevices"]),
        testProgram("DefaultsProgram", uses: ["os"]),
        testProgram("KeepingApp", uses: ["UIKit"], settings: phone),
        testProgram("MemoApp", uses: ["UIKit", "AVFoundation"], settings: phone),
        testProgram("PushApp", uses: ["AVFoundation", "CallKit", "PushKit", "UIKit"], settings: phone),
        testProgram("SceneApp", uses: ["UIKit", "os"]),
        testProgram("BluetoothApp", uses: ["CoreBluetooth"]),
        testProgram("PeripheralEnd", uses: ["WakeBluetooth", "WakeDevices", "WakeModel", "WakePorts", "WakeSystem"]),
        testProgram(
            "AccessoryEnd",
            uses: ["WakeDevices", "WakeExternalAccessory", "WakeModel", "WakePorts", "WakeSystem"]
        ),
        testProgram("APNsEnd", uses: ["WakeAPNs", "WakeSystem"]),
        testProgram("TransfersEnd", uses: ["WakeSystem", "WakeTransfers"]),
        // The same files, in each mode of the language.
        appCode("Forms5", uses: sdk, mode: .v5),
        appCode("Forms6", uses: sdk, mode: .v6),
        appCode("DefaultsApp5", uses: ["CoreBluetooth", "UIKit"], mode: .v5),
        appCode("DefaultsApp6", uses: ["CoreBluetooth", "UIKit"], mode: .v6),
        appCode("ApplicationMain", uses: ["UIKit"], mode: .v5),
        appCode("Witnesses5", uses: sdk, mode: .v5, warns: true),
        testLibrary("ChildProcess"),
        testLibrary("TriedFreezers", uses: ["WakeProcesses"]),
        tests("HouseTests", uses: ["ChildProcess"]),
        tests("FuzzTests", uses: ["FuzzTargets"], exclude: ["Corpus"]),
        // It builds a package of its own, which depends on this one.
        tests(
            "OutsideTests",
            uses: ["ApplicationMain", "Forms5", "Forms6", "Witnesses5", "wakebench"],
            exclude: ["Package"]
        ),
        tests("WakeModelTests", uses: ["WakeModel"]),
        testLibrary("RouterSnapshots", uses: ["WakeModel", "WakeRouter"]),
        tests("WakeRouterTests", uses: ["RouterSnapshots", "WakeModel", "WakeRouter"]),
        tests("RandomWorldTests", uses: ["RouterSnapshots", "WakeModel", "WakeRouter"], isOptimized: true),
        tests("WakeWireTests", uses: ["WakeModel", "WakeWire"]),
        tests("WakeDevicesTests", uses: ["WakeDevices", "WakeModel"], exclude: ["Answers"]),
        tests("WakeCapturesTests", uses: ["WakeCaptures", "WakeDevices", "WakeModel"], exclude: ["Captures"]),
        tests("WakeSystemTests", uses: ["ChildProcess", "WakeSystem"]),
        testLibrary("BlueZStandIn", uses: ["WakeBus", "WakeSystem"]),
        tests("WakeBusTests", uses: ["BlueZStandIn", "CWakeShims", "WakeBus", "WakeBlueZ", "WakeSystem"]),
        tests("WakeAPNsTests", uses: ["CNGHTTP2", "COpenSSL", "ChildProcess", "WakeAPNs", "WakeSystem"]),
        tests("WakeBundlesTests", uses: ["WakeBundles", "WakeModel"]),
        tests(
            "WakeProcessesTests",
            uses: ["BenchLike", "ChildProcess", "MisbehavingApp", "TriedFreezers", "WakeProcesses", "WakeSystem"]
        ),
        tests(
            "WakeVirtualTimeTests",
            uses: [
                "ChildProcess", "RestBenchmark", "RestBenchmarkProgram", "TimedProgram", "TimedSwiftProgram",
                "WakeVirtualTime",
            ]
        ),
        tests("WakeJournalTests", uses: ["WakeJournal", "WakeModel", "WakePorts"]),
        tests(
            "WakeTransfersTests",
            uses: [
                "CWakeShims", "ChildProcess", "WakebenchTransfers", "WakeBackgroundTransfer", "WakeModel", "WakePorts",
                "WakeSystem", "WakeTransfers",
            ]
        ),
        tests(
            "WakeBluetoothTests",
            uses: [
                "BlueZStandIn", "WakeBluetooth", "WakeCaptures", "WakeModel", "WakePorts", "WakeDevices", "WakeSystem",
                "WakeBus", "WakeBlueZ",
            ]
        ),
        tests(
            "WakeLocationTests",
            uses: ["ChildProcess", "WakeLocation", "WakeModel", "WakePorts", "WakeDevices", "WakeSystem", "WakeUdev"]
        ),
        testLibrary("PacedCard", links: ["asound"]),
        testLibrary("SoundCardStandIn", uses: ["WakeSystem"]),
        tests("WakeALSATests", uses: ["SoundCardStandIn", "WakeALSA", "WakeSystem", "WakeUdev"]),
        tests(
            "WakeAudioTests",
            uses: [
                "SoundCardStandIn", "WakeALSA", "WakeAudio", "WakeModel", "WakePorts", "WakeWire", "WakeDevices",
                "WakeSystem",
            ]
        ),
        tests(
            "WakeExternalAccessoryTests",
            uses: [
                "AccessoryEnd", "BlueZStandIn", "ChildProcess", "WakeExternalAccessory", "WakeModel", "WakePorts",
                "WakeDevices", "WakeSystem", "WakeBus", "WakeBlueZ", "WakeUdev",
            ],
            resources: [.copy("Plugging")]
        ),
        tests(
            "WakeBackgroundTransferTests",
            uses: ["WakeModel", "WakeBackgroundTransfer", "WakePorts", "WakeDevices"]
        ),
        tests("WakePushTests", uses: ["ChildProcess", "WakeModel", "WakePush", "WakePorts", "WakeSystem"]),
        tests("WakeNotificationTests", uses: ["WakeModel", "WakeNotification", "WakePorts"]),
        tests("WakeVoIPTests", uses: ["WakeVoIP", "WakeModel", "WakePorts", "WakeDevices", "WakeSystem"]),
        tests(
            "WakeReportsTests",
            uses: ["WakeReports", "WakeModel", "WakeRouter"],
            resources: [.copy("Answers"), .copy("Logs")]
        ),
        tests(
            "WakeBenchTests",
            uses: [
                "AccessoryApp", "AccessoryLogger", "CallApp", "ChildProcess", "DefaultsApp5", "DefaultsApp6",
                "Downloads", "FeedReader", "Fences", "HoppingApp", "KeepingApp",
                "LocationApp",
                "Logger",
                "MemoApp",
                "Messenger", "MessengerService",
                "MisbehavingApp",
                "Recorder", "SceneApp", "SIPPhone", "SoundCardStandIn", "ThermometerPeripheral", "TimedProgram",
                "ToneRadio", "TriedFreezers",
                "WakeAudio",
                "WakeBench", "WakeCaptures",
                "WakeDevices", "WakeJournal", "WakeModel", "WakePorts", "WakeProcesses", "WakePush", "WakeReports",
                "WakeRouter", "WakeSystem", "WakeUdev", "WakeVoIP", "WakeWire", "wakebench",
            ],
            exclude: ["Cases"]
        ),
        tests(
            "SDKTests",
            uses: [
                "BluetoothApp", "ChildProcess", "DefaultsProgram", "Downloads", "Fences", "HeartRate", "LocationApp",
                "Messenger", "MessengerService",
                "PushApp",
                "Reminders",
                "SceneApp", "ThermometerPeripheral",
                "WakeClient",
                "WakeModel", "WakeWire",
                "UIKit", "AVFAudio", "AVFoundation", "CoreBluetooth", "CoreLocation", "ExternalAccessory", "os",
                "OSLog", "UserNotifications", "PushKit", "CallKit", "BackgroundTasks", "FeedReader",
            ]
        ),
        tests("WakebenchTestingTests", uses: ["ChildProcess", "WakeModel", "WakebenchTesting", "wakebench"]),
        tests("CommandLineTests", uses: ["wakebench", "BlueZStandIn", "ChildProcess"], resources: [.copy("Answers")]),
    ],
    swiftLanguageModes: [.v6]
)

// WAKEBENCH_TESTS="WakeRouterTests WakeModelTests" leaves only these test targets and what they need: a build of a few
// rooms takes a fraction of the whole. Give such a build a --scratch-path of its own.
if let wanted = Context.environment["WAKEBENCH_TESTS"] {
    var names = wanted.split(separator: " ").map(String.init)
    var needed: Set<String> = []
    while let name = names.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            continue
        }
        for dependency in target.dependencies {
            if case .byNameItem(let name, _) = dependency { names.append(name) }
        }
    }
    // Loaded by its file.
    if !needed.isDisjoint(with: ["TimedProgram", "wakebench"]) { needed.insert("WakebenchTime") }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { product in
        (product as? Product.Library).map { $0.name != "WakebenchTime" || !needed.contains($0.name) } ?? true
    }
}

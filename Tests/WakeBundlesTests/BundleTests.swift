import Foundation
import Testing
import WakeBundles
import WakeModel

/// A folder of its own for one test, removed with it.
private final class Folder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/bundles-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes an app bundle whose Info.plist has these bytes.
    func bundle(_ name: String = "Heart.app", plist: Data?, program: String? = "Heart") throws -> String {
        let bundle = path + "/" + name
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        if let plist { try plist.write(to: URL(fileURLWithPath: bundle + "/Info.plist")) }
        if let program { try file(name + "/" + program, "#!/bin/sh\n", executable: true) }
        return bundle
    }

    func file(_ name: String, _ text: String, executable: Bool = false) throws {
        let url = URL(fileURLWithPath: path + "/" + name)
        try Data(text.utf8).write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: executable ? 0o755 : 0o644], ofItemAtPath: url.path)
    }
}

private let good: [String: any Sendable] = [
    "CFBundleIdentifier": "com.example.heart",
    "CFBundleExecutable": "Heart",
    "CFBundleName": "Heart Rate",
    "UIBackgroundModes": ["bluetooth-central", "audio"],
    "UIApplicationExitsOnSuspend": true,
]

private func plist(_ values: Any, _ format: PropertyListSerialization.PropertyListFormat = .xml) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0)
}

private func changed(_ key: String, _ value: (any Sendable)?) -> [String: any Sendable] {
    var values = good
    values[key] = value
    return values
}

@Suite("App bundles")
struct AppBundleTests {
    @Test("MODE-3: Info.plist is read as XML and as binary", arguments: [true, false])
    func formats(binary: Bool) throws {
        let folder = try Folder()
        let path = try folder.bundle(plist: try plist(good, binary ? .binary : .xml))
        let bundle = try AppBundle.read(path)
        #expect(bundle.identifier == "com.example.heart")
        #expect(bundle.name == "Heart Rate")
        #expect(bundle.executable.hasSuffix("/Heart.app/Heart"))
        #expect(bundle.modes == BackgroundModes([.audio, .bluetoothCentral]))
        #expect(bundle.exitsOnSuspend)
        #expect(bundle.warnings.isEmpty)
        let names = NameTable()
        let manifest = bundle.manifest(names)
        #expect(names.text(manifest.bundle) == "com.example.heart")
        #expect(manifest.exitsOnSuspend)
    }

    @Test("EA-3: the protocols of accessories are read, and anything else there is an error")
    func accessoryProtocols() throws {
        let key = "UISupportedExternalAccessoryProtocols"
        let folder = try Folder()
        let path = try folder.bundle(plist: try plist(changed(key, ["com.example.log", "com.example.keys"])))
        let names = NameTable()
        let manifest = try AppBundle.read(path).manifest(names)
        #expect(manifest.accessoryProtocols.map(names.text) == ["com.example.log", "com.example.keys"])
        let wrong = try Folder()
        let other = try wrong.bundle(plist: try plist(changed(key, "com.example.log")))
        let error = #expect(throws: BundleError.self) { try AppBundle.read(other) }
        #expect(error?.key == key)
    }

    @Test("BGT-1, FETCH-6: permitted identifiers of tasks are read; no list is not the same as an empty one")
    func taskIdentifiers() throws {
        let key = "BGTaskSchedulerPermittedIdentifiers"
        for permitted in [["com.example.refresh", "com.example.clean"], [], nil] as [[String]?] {
            let folder = try Folder()
            let names = NameTable()
            let manifest = try AppBundle.read(try folder.bundle(plist: try plist(changed(key, permitted)))).manifest(
                names
            )
            #expect(manifest.taskIdentifiers?.map(names.text) == permitted)
        }
        let wrong = try Folder()
        let path = try wrong.bundle(plist: try plist(changed(key, "com.example.refresh")))
        let error = #expect(throws: BundleError.self) { try AppBundle.read(path) }
        #expect(error?.key == key)
    }

    @Test(
        "BTC-8: a bundle declares AccessorySetupKit for Bluetooth by either key, and anything but an array of texts is an error",
        arguments: ["NSAccessorySetupKitSupports", "NSAccessorySetupSupports"]
    )
    func accessorySetup(key: String) throws {
        for (kinds, declares) in [
            (["Bluetooth"], true), (["WiFi", "Bluetooth"], true), (["WiFi"], false), (nil, false),
        ] {
            let folder = try Folder()
            let bundle = try AppBundle.read(try folder.bundle(plist: try plist(changed(key, kinds))))
            #expect(bundle.accessorySetup == declares)
            #expect(bundle.manifest(NameTable()).accessorySetup == declares)
        }
        let folder = try Folder()
        let path = try folder.bundle(plist: try plist(changed(key, "Bluetooth")))
        let error = #expect(throws: BundleError.self) { try AppBundle.read(path) }
        #expect(error?.key == key)
    }

    @Test(
        "VOIP-1: a bundle says which SDK it was built with, by the SDK's name or the platform's version",
        arguments: [
            ("DTSDKName", "iphoneos9.3", SDKVersion(9, 3)), ("DTSDKName", "iphonesimulator10.0", SDKVersion(10)),
            ("DTPlatformVersion", "8.4.1", SDKVersion(8, 4)), ("DTSDKName", "iphoneos17", SDKVersion(17)),
        ]
    )
    func sdk(key: String, value: String, version: SDKVersion) throws {
        let folder = try Folder()
        let bundle = try AppBundle.read(try folder.bundle(plist: try plist(changed(key, value))))
        #expect(bundle.sdk == version)
        #expect(bundle.manifest(NameTable()).sdk == version)
    }

    @Test("VOIP-1: a bundle that does not say its SDK has none, and one without a version is an error")
    func noSDK() throws {
        let folder = try Folder()
        #expect(try AppBundle.read(try folder.bundle(plist: try plist(good))).sdk == .unknown)
        let wrong = try Folder()
        let path = try wrong.bundle(plist: try plist(changed("DTSDKName", "iphoneos")))
        let error = #expect(throws: BundleError.self) { try AppBundle.read(path) }
        #expect(error?.key == "DTSDKName")
    }

    @Test("MODE-1: unknown background modes are one warning and have no effect")
    func unknownMode() throws {
        let folder = try Folder()
        let modes = ["bluetooth-central", "bluetooth-centrl", "telepathy"]
        let path = try folder.bundle(plist: try plist(changed("UIBackgroundModes", modes)))
        let bundle = try AppBundle.read(path)
        #expect(bundle.modes == BackgroundModes([.bluetoothCentral]))
        #expect(bundle.warnings.count == 1)
        #expect(bundle.warnings[0].contains("'bluetooth-centrl', 'telepathy'"))
    }

    @Test(
        "MODE-3: a missing or malformed key refuses the bundle and is named",
        arguments: [
            ("CFBundleIdentifier", nil), ("CFBundleIdentifier", ""), ("CFBundleIdentifier", "../evil"),
            ("CFBundleIdentifier", "a/b"), ("CFBundleExecutable", nil), ("CFBundleExecutable", "Nobody"),
            ("CFBundleExecutable", "../Heart"), ("CFBundleExecutable", "/bin/sh"), ("CFBundleExecutable", "Info.plist"),
            ("CFBundleExecutable", "."), ("UIBackgroundModes", "audio"), ("UIApplicationExitsOnSuspend", "perhaps"),
        ] as [(String, String?)]
    )
    func malformedKeys(key: String, value: String?) throws {
        let folder = try Folder()
        let path = try folder.bundle(plist: try plist(changed(key, value)))
        let error = #expect(throws: BundleError.self) { try AppBundle.read(path) }
        #expect(error?.key == key)
        #expect(error.map { "\($0)".contains(key) && !"\($0)".contains("\n") } == true)
    }

    @Test("MODE-3: a bundle without Info.plist, and one that is no folder, are refused")
    func missing() throws {
        let folder = try Folder()
        let path = try folder.bundle(plist: nil)
        var error = #expect(throws: BundleError.self) { try AppBundle.read(path) }
        #expect(error?.description == "\(path): Info.plist: no such file; expected a property list, XML or binary")
        for nobody in [folder.path + "/Nobody.app", ""] {
            error = #expect(throws: BundleError.self) { try AppBundle.read(nobody) }
            #expect(error?.description == "\(nobody): no such folder; expected an app bundle such as Heart.app")
        }
        error = #expect(throws: BundleError.self) { try AppBundle.read(folder.path) }
        let name = try #require(folder.path.split(separator: "/").last)
        #expect(error?.description == "\(folder.path): a folder named '\(name)'; expected a name ending in .app")
    }

    @Test("An executable behind a link that leaves the bundle is refused")
    func linkedExecutable() throws {
        let folder = try Folder()
        let path = try folder.bundle(plist: try plist(good), program: nil)
        try FileManager.default.createSymbolicLink(atPath: path + "/Heart", withDestinationPath: "/bin/sh")
        let error = #expect(throws: BundleError.self) { try AppBundle.read(path) }
        #expect(error?.found.contains("outside") == true)
    }

    @Test("Info.plist cut at each byte and scrambled never crashes", arguments: [true, false])
    func cutAndScrambled(binary: Bool) throws {
        let whole = [UInt8](try plist(good, binary ? .binary : .xml))
        let folder = try Folder()
        let path = try folder.bundle(plist: nil)
        var state: UInt64 = 42
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        func attempt(_ bytes: [UInt8]) throws -> Bool {
            try Data(bytes).write(to: URL(fileURLWithPath: path + "/Info.plist"))
            return (try? AppBundle.read(path)) != nil
        }
        for length in whole.indices { #expect(try !attempt(Array(whole[..<length])) || length > whole.count - 3) }
        for _ in 0..<500 {
            var bytes = whole
            for _ in 0...random(4) { bytes[random(bytes.count)] = UInt8(truncatingIfNeeded: random(256)) }
            _ = try attempt(bytes)
        }
        #expect(try attempt(whole))
    }

    @Test("Deeply nested lists are refused")
    func nested() throws {
        let folder = try Folder()
        let depth = 20_000
        let text =
            "<plist>" + String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
            + "</plist>"
        var error = #expect(throws: BundleError.self) { try AppBundle.read(try folder.bundle(plist: Data(text.utf8))) }
        #expect(error?.found == "neither XML nor a binary list")
        // Each object an array with the next as its one member; references of four bytes.
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for number in 1...depth {
            offsets.append(bytes.count)
            bytes += [0xa1] + (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        offsets.append(bytes.count)
        bytes += [0x50]
        let table = bytes.count
        for offset in offsets { bytes += (0..<4).reversed().map { UInt8(truncatingIfNeeded: offset >> ($0 * 8)) } }
        bytes += [0, 0, 0, 0, 0, 0, 4, 4]
        for number in [offsets.count, 0, table] {
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        error = #expect(throws: BundleError.self) { try AppBundle.read(try folder.bundle(plist: Data(bytes))) }
        #expect(error?.found == "more than 64 levels of nesting")
    }

    /// A binary list whose objects are given with one byte a reference and the first of them on top.
    private static func binary(_ objects: [[UInt8]]) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)]
            bytes += object
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [objects.count, 0, table] {
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        return Data(bytes)
    }

    @Test("A binary Info.plist of 406 bytes whose shared objects stand for 2^40 is refused in a line")
    func sharedObjects() throws {
        // A dictionary with one key, and under it 40 arrays of twice the next each.
        var objects: [[UInt8]] = [[0xd1, 1, 2], Array("Qa".utf8)]
        for level in 2..<42 as Range<UInt8> { objects.append([0xa2, level + 1, level + 1]) }
        objects.append([0x09])
        let list = Self.binary(objects)
        #expect(list.count < 410)
        let folder = try Folder()
        let path = try folder.bundle(plist: list)
        let error = #expect(throws: BundleError.self) { try AppBundle.read(path) }
        #expect(error?.found == "more than 100000 values with shared ones expanded")
        // A text of 60 000 bytes, a thousand times.
        let text: [UInt8] = [0x5f, 0x11, 0x75, 0x30] + Array(repeating: 0x61, count: 30_000)
        let many = Self.binary([
            [0xd1, 1, 2], Array("Qa".utf8), [0xaf, 0x11, 0x03, 0xe8] + Array(repeating: 3, count: 1_000), text,
        ])
        let heavy = #expect(throws: BundleError.self) { try AppBundle.read(try folder.bundle(plist: many)) }
        #expect(heavy?.found == "more than 8388608 bytes with shared ones expanded")
        // An array that holds itself.
        let ring = Self.binary([[0xd1, 1, 2], Array("Qa".utf8), [0xa1, 2]])
        let deep = #expect(throws: BundleError.self) { try AppBundle.read(try folder.bundle(plist: ring)) }
        #expect(deep?.found == "more than 64 levels of nesting")
    }

    @Test("A binary list gives what the same list in XML gives")
    func sameValues() throws {
        var values = good
        values["Number"] = [1, -1, 255, 65_536, 1 << 40]
        values["Real"] = 2.5
        values["CFBundleDisplayName"] = "Gürtel 🫀"
        values["CFBundleName"] = String(repeating: "long ", count: 100)
        values["Data"] = Data([1, 2, 3])
        values["Date"] = Date(timeIntervalSinceReferenceDate: 7)
        values["Nested"] = ["a": ["b": ["c", true] as [any Sendable]]]
        let folder = try Folder()
        let binary = try AppBundle.read(try folder.bundle(plist: try plist(values, .binary)))
        let text = try AppBundle.read(try folder.bundle(plist: try plist(values, .xml)))
        #expect(binary == text)
        #expect(binary.name == "Gürtel 🫀")
    }

    @Test("MODE-3: a pipe, a folder or a device in place of Info.plist is refused without waiting")
    func noPlainFile() throws {
        let folder = try Folder()
        let path = try folder.bundle(plist: nil)
        try #require(makePipe(path + "/Info.plist"))
        var error = #expect(throws: BundleError.self) { try AppBundle.read(path) }
        #expect(error?.found == "a pipe")
        let other = try folder.bundle("Other.app", plist: nil)
        try FileManager.default.createDirectory(atPath: other + "/Info.plist", withIntermediateDirectories: true)
        error = #expect(throws: BundleError.self) { try AppBundle.read(other) }
        #expect(error?.found == "a folder")
    }
}

/// Makes a pipe that nobody writes to; whether that could be done.
private func makePipe(_ path: String) -> Bool { unsafe mkfifo(path, 0o600) == 0 }

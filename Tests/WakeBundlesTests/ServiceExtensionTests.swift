import Foundation
import Testing
import WakeBundles
import WakeModel

@Suite("Service extensions of bundles")
struct ServiceExtensionTests {
    private static let service = "com.apple.usernotifications.service"

    /// An app's bundle with extensions in its PlugIns, each by its folder's name, its identifier and its point.
    private func read(_ plugIns: [(name: String, identifier: String, point: String)]) throws -> AppBundle {
        let folder = URL.temporaryDirectory.appending(path: "extensions-\(UUID().uuidString)/Tea.app")
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        try write(["CFBundleIdentifier": "com.example.tea", "CFBundleExecutable": "program"], to: folder)
        for plugIn in plugIns {
            let values: [String: Any] = [
                "CFBundleIdentifier": plugIn.identifier, "CFBundleExecutable": "program",
                "NSExtension": ["NSExtensionPointIdentifier": plugIn.point],
            ]
            try write(values, to: folder.appending(path: "PlugIns/\(plugIn.name)"))
        }
        return try AppBundle.read(folder.path)
    }

    private func write(_ values: [String: Any], to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
            .write(to: folder.appending(path: "Info.plist"))
        let program = folder.appending(path: "program")
        try Data("#!/bin/sh\n".utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
    }

    @Test("PUSH-9: the extension of the point for notifications is the app's, and declared to the router")
    func found() throws {
        let bundle = try read([
            ("Keys.appex", "com.example.tea.keys", "com.apple.keyboard-service"),
            ("Reader.appex", "com.example.tea.reader", Self.service),
            ("Other.framework", "com.example.other", Self.service),
        ])
        #expect(bundle.serviceExtension?.identifier == "com.example.tea.reader")
        #expect(bundle.serviceExtension?.executable.hasSuffix("Tea.app/PlugIns/Reader.appex/program") == true)
        #expect(bundle.manifest(NameTable()).serviceExtension)
    }

    @Test("A bundle without such an extension has none")
    func none() throws {
        let bundle = try read([("Keys.appex", "com.example.tea.keys", "com.apple.keyboard-service")])
        #expect(bundle.serviceExtension == nil)
        #expect(!bundle.manifest(NameTable()).serviceExtension)
    }

    @Test("An extension of another's name, or a second one, is an error that names it")
    func wrong() throws {
        let foreign = #expect(throws: BundleError.self) {
            try read([("Reader.appex", "com.example.cake.reader", Self.service)])
        }
        #expect(foreign?.bundle.hasSuffix("PlugIns/Reader.appex") == true)
        #expect(foreign?.expected.contains("com.example.tea.") == true)
        let second = #expect(throws: BundleError.self) {
            try read([
                ("Reader.appex", "com.example.tea.reader", Self.service),
                ("Writer.appex", "com.example.tea.writer", Self.service),
            ])
        }
        #expect(second?.bundle.hasSuffix("PlugIns/Writer.appex") == true)
    }
}

import Foundation
import Testing
import WakeSystem

@testable import WakeAPNs

@Suite("The identity of the server")
struct IdentityTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/identity-\(UUID())"

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("The key is its owner's alone, and files that are valid are kept")
    func files() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let identity = try TLSIdentity(in: folder, at: noon)
        #expect(try mode(identity.key) == 0o600 && mode(folder) == 0o700)
        let (key, certificate) = (try readSmallFile(identity.key), try readSmallFile(identity.certificate))
        #expect(try TLSIdentity(in: folder, at: noon + 86_400) == identity)
        #expect(try readSmallFile(identity.key) == key && readSmallFile(identity.certificate) == certificate)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 3)
    }

    @Test("Files that have expired, or do not belong together, are made anew")
    func madeAnew() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let identity = try TLSIdentity(in: folder, at: noon)
        var key = try readSmallFile(identity.key)
        func isNew() throws -> Bool {
            let before = key
            key = try readSmallFile(identity.key)
            return key != before && identity.isUsable(at: noon + 400 * 86_400)
        }
        _ = try TLSIdentity(in: folder, at: noon + 400 * 86_400)
        #expect(try isNew())
        try FileManager.default.removeItem(atPath: identity.authority)
        _ = try TLSIdentity(in: folder, at: noon + 400 * 86_400)
        #expect(try isNew())
        try "none".write(toFile: identity.key, atomically: false, encoding: .utf8)
        _ = try TLSIdentity(in: folder, at: noon + 400 * 86_400)
        #expect(try isNew())
    }

    @Test("A folder that cannot be made is named")
    func noFolder() {
        let error = #expect(throws: SystemError.self) { _ = try TLSIdentity(in: "/proc/none", at: noon) }
        #expect(error?.description.hasPrefix("/proc/none: mkdir: ") == true)
    }

    @Test("A server without its files is told which is missing")
    func noFiles() throws {
        let identity = TLSIdentity(folder: "/proc/none")
        let error = #expect(throws: TLSError.self) { _ = try TLSContext(identity) }
        #expect(error?.description.contains("/proc/none/apns-server.pem") == true)
    }
}

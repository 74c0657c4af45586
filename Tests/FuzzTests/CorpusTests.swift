import Foundation
import FuzzTargets
import Testing

@Suite("The fuzzer's corpus")
struct CorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    @Test("Every committed input is read or refused, and never ends the process", arguments: FuzzTarget.all.map(\.name))
    func replay(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let folder = Self.folder.appending(path: name)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(!files.isEmpty)
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: file)))
            target.run(bytes)
            // A cut input is one that a fuzzer tries first.
            for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 16)) {
                target.run(Array(bytes.prefix(length)))
            }
        }
    }

    @Test("Each folder of the corpus belongs to a target")
    func folders() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}

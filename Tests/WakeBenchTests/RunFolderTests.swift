import Foundation
import Testing

@testable import WakeBench

@Suite("The folder of a run")
struct RunFolderTests {
    @Test("A run that is given no place has a folder of its own, also where one of the same time is there")
    func claim() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-claim-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let time = folder.path + "/2262-04-11T23-47-16.854Z"
        #expect((0..<3).map { _ in RunFolder.claim(time) } == [time, time + "-2", time + "-3"])
        try Data().write(to: URL(fileURLWithPath: time + "-4"))
        #expect(RunFolder.claim(time) == time + "-5")
        let nowhere = folder.path + "/none/time"
        #expect(RunFolder.claim(nowhere) == nowhere)
    }
}

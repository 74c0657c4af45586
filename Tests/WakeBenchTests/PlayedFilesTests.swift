import Foundation
import Testing
import WakeDevices

@testable import WakeBench

@Suite("The files that a run plays")
struct PlayedFilesTests {
    private static let scenario = """
        scenario: two
        devices: [{file: belt.yaml, name: one}]
        apps: [{scripted: com.acme.heart, name: heart, modes: [bluetooth-central]}]

        """

    private static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics: [{uuid: 2A37, properties: [notify]}]

        """

    /// Keeps the scenario in the folder of a run, with so many bytes at most.
    private func kept(_ options: RunOptions, bound: Int) throws -> RunFolder {
        let played = PlayedFiles(options, bound: bound)
        _ = try Scenario.load(file: played.scenario, files: played.files)
        let folder = try RunFolder(making: options.out)
        try played.keep(in: folder)
        return folder
    }

    @Test("The copies are read as what was copied, by the names of the originals")
    func copies() throws {
        try ScenarioFolder.with(Self.scenario, belt: Self.belt) { options in
            let folder = try kept(options, bound: PlayedFiles.usualBound)
            let before = try Scenario.load(file: options.scenario)
            try Data("scenario: another\n".utf8).write(to: URL(filePath: options.scenario))
            let copies = try #require(try PlayedCopies(of: folder))
            #expect(copies.scenario == options.scenario)
            #expect(copies.digest == PlayedFiles.digest(Array(Self.scenario.utf8)))
            #expect(try Scenario.load(file: copies.scenario, files: copies.files()) == before)
        }
    }

    @Test("What is too large to be copied is read where it was, and refused by its path and digest once it has changed")
    func tooLarge() throws {
        try ScenarioFolder.with(Self.scenario, belt: Self.belt) { options in
            let folder = try kept(options, bound: Self.scenario.utf8.count)
            let belt = URL(filePath: options.scenario).deletingLastPathComponent().appending(path: "belt.yaml")
            #expect(try #require(try PlayedCopies(of: folder)).scenario == options.scenario)
            try Data("# Another.\n".utf8).write(to: belt)
            let bytes = Array(Self.belt.utf8)
            let failure = CommandFailure(
                .invalidFile,
                in: belt.path,
                "too large to be copied into \(options.out), and no longer what the run played",
                hint: "bring its \(bytes.count) bytes with the digest \(PlayedFiles.digest(bytes)) back to \(belt.path)"
            )
            #expect(throws: failure) { try PlayedCopies(of: folder) }
        }
    }

    @Test("The folder of an older version has none")
    func none() throws {
        try ScenarioFolder.with(Self.scenario, belt: Self.belt) { options in
            let folder = try RunFolder(making: options.out)
            #expect(try PlayedCopies(of: folder) == nil)
        }
    }
}

import Testing

@testable import WakeDevices

@Suite("Patterns of task identifiers")
struct TaskPatternTests {
    private func read(_ tasks: String) throws -> Scenario {
        let app = "{scripted: com.example.export, name: export, tasks: {\(tasks)}}"
        let text = "scenario: s\nprofile: ios26\napps: [\(app)]\nsteps: [{at: 0, launch: export}]\n"
        return try Scenario.parse(Array(text.utf8), file: "s.yaml")
    }

    @Test("BGT-1: the permitted list of a scripted app takes patterns, and a request takes none")
    func patterns() throws {
        _ = try read("permitted: [com.example.export.*]")
        let request = "permitted: [com.example.export.*], submits: [{id: com.example.export.*, kind: processing}]"
        let error = #expect(throws: FileError.self) { try read(request) }
        #expect(error?.description.contains("'com.example.export.*'; expected the identifier of a task") == true)
    }
}

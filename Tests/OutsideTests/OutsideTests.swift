import Testing

@Suite("Apps outside of this package")
struct OutsideTests {
    private static func run(_ program: String) throws -> OutsidePackage.Outcome {
        try OutsidePackage().run(OutsidePackage.repository.appending(path: ".build/debug/\(program)").path)
    }

    /// They are targets of this package that see what is public, and no warning is let through.
    @Test(
        "Code that is written for a phone compiles as it is, in Swift 5 and 6 mode, and runs",
        arguments: ["Forms5", "Forms6"]
    )
    func forms(program: String) throws {
        let run = try Self.run(program)
        #expect(run.status == 0, "\(run.output)")
    }

    @Test("In Swift 5 mode the system's objects stand for protocols of before actors, with handlers of that time")
    func witnesses() throws {
        let run = try Self.run("Witnesses5")
        #expect(run.status == 0, "\(run.output)")
    }

    @Test("A class with @UIApplicationMain gets as far as UIKit's main function")
    func applicationMain() throws {
        let app = try Self.run("ApplicationMain")
        #expect(app.output == "wakebench: no bench started this app; run it with `wakebench run SCENARIO.yaml`\n")
        #expect(app.status == 2)
    }

    @Test("A package outside the repository builds a new app and its tests without a warning, and they pass")
    func package() throws {
        let package = try OutsidePackage()
        try package.write()
        let built = try package.build()
        try #require(built.status == 0, "\(built.output)")
        #expect(built.warnings == [])
        let tested = try package.test()
        #expect(tested.status == 0, "\(tested.output)")
        for test in [
            #"Test "The belt resumes the suspended app, and relaunches it after the system ended it" passed"#,
            "'PulseTestCase.testBeltResumesTheApp' passed", "'PulseTestCase.testRunsSideBySide' passed",
            "'PulseTestCase.testWhatIsMissedIsThrown' passed",
        ] { #expect(tested.output.contains(test), "\(tested.output)") }
    }
}

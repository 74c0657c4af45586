import Testing

@Suite("A package outside the repository")
struct OutsideTests {
    @Test("Its apps compile as they are written, in Swift 5 and 6 mode, without a warning, and run")
    func compiles() throws {
        let package = try OutsidePackage()
        let built = try package.build()
        try #require(built.status == 0, "\(built.output)")
        #expect(built.warnings == [])
        for program in ["Forms5", "Forms6"] {
            let run = try package.run(program)
            #expect(run.status == 0, "\(program): \(run.output)")
        }
        let tested = try package.test()
        #expect(tested.status == 0, "\(tested.output)")
        for test in [
            #"Test "The belt resumes the suspended app, and relaunches it after the system ended it" passed"#,
            "'PulseTestCase.testBeltResumesTheApp' passed", "'PulseTestCase.testRunsSideBySide' passed",
            "'PulseTestCase.testWhatIsMissedIsThrown' passed",
        ] { #expect(tested.output.contains(test), "\(tested.output)") }
        // The class with @UIApplicationMain gets as far as UIKit's main function.
        let app = try package.run("Main")
        #expect(app.output == "wakebench: no bench started this app; run it with `wakebench run SCENARIO.yaml`\n")
        #expect(app.status == 2)
    }
}

import ChildProcess
import Foundation
import Testing

@Suite("Real apps that notify")
struct ReminderAppTests {
    @Test(
        "NOTE-1, NOTE-3, NOTE-6: told in the foreground, shown to the user without a process, and launched by the tap",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3"),
        arguments: ["Reminders", "RemindersPython"]
    )
    func remindersOutliveTheProcess(name: String) throws {
        let bench = try BenchProgram()
        try bench.install(name)
        let shipped = BenchProgram.repository.appending(path: "Devices/Scenarios/reminders.yaml")
        let scenario = try String(contentsOf: shipped, encoding: .utf8)
        try bench.write(scenario.replacing("Reminders.app", with: "\(name).app"), to: "reminders.yaml")
        let run = try bench.run(["run", "reminders.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let identifier = name == "Reminders" ? "com.example.reminders" : "com.example.reminders.python"
        let heard = try bench.lines(of: "out/apps/\(identifier).log").filter { line in
            ["didFinishLaunching", "pending", "willPresent", "didReceive"].contains { line.hasPrefix($0) }
        }
        #expect(
            heard == [
                "didFinishLaunching", "pending []", "willPresent tea",
                "didFinishLaunching", "pending [\"morning\"]", "didReceive morning badge=1",
            ]
        )
    }
}

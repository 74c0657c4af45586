import ChildProcess
import Foundation
import Testing

/// Apps that have the user notified by the calendar, over the documented wire.
@Suite("Real apps and the phone's clock", .enabled(if: BenchProgram.python, "needs /usr/bin/python3"))
struct CalendarAppTests {
    /// Schedules what its file says, and prints its time zone and that of 1 July 2026.
    private static let script = """
        #!/usr/bin/python3 -IS
        import json, os, socket, time
        bench = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        def send(**message): bench.send(json.dumps(message).encode())
        for second in (1767225600, 1782864000):
            print(time.strftime("%H:%M %z", time.localtime(second)), flush=True)
        send(type="hello", version=1, client="python", pid=os.getpid())
        while packet := bench.recv(65536):
            message = json.loads(packet)
            if message["type"] == "welcome":
                for name, trigger in TRIGGERS.items():
                    send(type="notification.schedule", notification={"identifier": name, "body": "x", "trigger": trigger})
                send(type="launched")
            if "delivery" in message: send(type="ack", delivery=message["delivery"])

        """

    /// What a run came to.
    private struct Outcome {
        /// When the user was shown each notification.
        var shown: [String: [String]] = [:]
        var printed: [String]
    }

    private func play(
        _ triggers: String,
        phone: String,
        steps: [String] = [],
        until: String,
        environment: [String: String] = [:]
    ) throws -> Outcome {
        let bench = try BenchProgram()
        let lines = Self.script.split(separator: "\n", maxSplits: 1)
        let text = "\(lines[0])\nTRIGGERS = {\(triggers)}\n\(lines[1])"
        try bench.makeApp("Notes", "com.example.notes", text: text, modes: [])
        try bench.write(
            """
            scenario: calendar
            phone: {\(phone)}
            apps: [{bundle: Notes.app, name: notes}]
            steps:
              - {at: 0, launch: notes}
              - {at: 1s, home: notes}
            \(steps.map { "  - {\($0)}" }.joined(separator: "\n"))
            until: \(until)

            """,
            to: "calendar.yaml"
        )
        let words = ["run", "calendar.yaml", "--apps", "apps", "--out", "out", "--quiet"]
        let run = try bench.run(words, environment: environment)
        #expect(run.code == 0, "\(run.errors)")
        var outcome = Outcome(printed: try bench.lines(of: "out/apps/com.example.notes.log").map(String.init))
        for record in try bench.records(of: "out/decisions.ndjson") {
            guard let event = record["event"] as? [String: Any], event["kind"] as? String == "notification-due" else {
                continue
            }
            let (name, time) = (event["subject"] as? String ?? "", record["t"] as? String ?? "")
            outcome.shown[name, default: []].append(time)
        }
        return outcome
    }

    @Test("NOTE-1, SYS-1: three ways to say noon come at once when the phone is moved to where noon is past")
    func onceInAnotherZone() throws {
        let outcome = try play(
            """
            "year": {"year": 2026, "month": 1, "day": 30, "hour": 12}, "day": {"month": 1, "day": 30, "hour": 12},
            "date": {"date": 1769774400.0, "wall": True},
            """,
            phone: "date: 2026-01-30T10:00:30Z",
            steps: ["at: 1h, time-zone: \"+02:00\""],
            until: "5h"
        )
        for name in ["year", "day", "date"] { #expect(outcome.shown[name] == ["T+01:00:00.000"], "\(name)") }
    }

    @Test("NOTE-1: components with gaps, a day that its month lacks and an ordinal come on few days of 119")
    func gaps() throws {
        let outcome = try play(
            """
            "month": {"repeats": True, "month": 3}, "day31": {"repeats": True, "day": 31, "hour": 9},
            "monday": {"repeats": True, "weekday": 2, "weekdayOrdinal": 1, "hour": 7},
            "second": {"repeats": True, "day": 1, "second": 30},
            """,
            phone: "date: 2026-01-01T00:00:00Z",
            until: "119d"
        )
        // 1 March; 31 January, 1 and 31 March; the first Mondays of four months and, since Foundation goes there after 2 February, the
        // first instant of March; the first of the next three months.
        #expect(outcome.shown["month"] == ["T+1416:00:00.000"])
        #expect(outcome.shown["day31"] == ["T+729:00:00.000", "T+1416:00:00.000", "T+2145:00:00.000"])
        #expect(
            outcome.shown["monday"] == [
                "T+103:00:00.000", "T+775:00:00.000", "T+1416:00:00.000", "T+1447:00:00.000", "T+2287:00:00.000",
            ]
        )
        #expect(outcome.shown["second"]?.count == 4)
    }

    @Test("NOTE-1, SYS-1: in a zone by its name an app's day is that of its own clock, in summer and in winter")
    func daylightSaving() throws {
        let outcome = try play(
            "\"morning\": {\"repeats\": True, \"hour\": 2, \"minute\": 30},",
            phone: "date: 2026-03-28T00:00:00Z, time-zone: Europe/Berlin",
            until: "60h"
        )
        #expect(outcome.printed == ["01:00 +0100", "02:00 +0200"])
        // 02:30 in winter, 03:00 on the day that has no 02:30, 02:30 in summer.
        #expect(outcome.shown["morning"] == ["T+01:30:00.000", "T+25:00:00.000", "T+48:30:00.000"])
    }

    @Test(
        "A process has the phone's time zone, whatever the machine's is, and another where it is told so",
        arguments: [
            ("date: 2026-01-01T00:00:00Z", [:], ["00:00 +0000", "00:00 +0000"]),
            ("time-zone: \"+05:45\"", ["TZ": "Asia/Tokyo"], ["05:45 +0545", "05:45 +0545"]),
            ("time-zone: \"-09:30\"", [:], ["14:30 -0930", "14:30 -0930"]),
            ("time-zone: \"-09:30\"", ["WAKEBENCH_APP_TZ": "Asia/Tokyo"], ["09:00 +0900", "09:00 +0900"]),
        ] as [(String, [String: String], [String])]
    )
    func processes(phone: String, environment: [String: String], printed: [String]) throws {
        let outcome = try play("", phone: phone, until: "2s", environment: environment)
        #expect(outcome.printed == printed)
    }
}

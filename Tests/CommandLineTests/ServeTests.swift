import ChildProcess
import Foundation
import Glibc
import Testing

@Suite("The daemon, and the verbs of running phones", .timeLimit(.minutes(5)))
struct ServeTests {
    @Test("A command is answered with what was decided because of it, at an instant of the phone's own")
    func command() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        #expect(try bench("app", "launch", "heart").code == 0)
        #expect(try bench("time", "advance", "5s").code == 0)
        #expect(try bench("app", "home", "heart").code == 0)
        #expect(try bench("time", "advance", "15s").code == 0)
        #expect(try bench("app", "state", "heart").output == "suspended\n")
        let answer = try bench.json("ble", "notify", "belt", "2A37", "0049", "--require", "resume:Resumed")
        #expect(bench.verdicts(answer) == ["resume"])
        #expect(answer["at"] as? String == "T+00:00:20.000")
        #expect(try bench("time", "now").output == "T+00:00:20.000\n")
        let refused = try bench("ble", "notify", "belt", "2A37", "0050", "--require", "deny")
        #expect(refused.code == 5, "\(refused.errors)")
    }

    @Test("A central that is told to connect and to write wakes the app, and the answer waits for that")
    func central() throws {
        let bench = try ServedBench()
        try bench.makeStrap()
        #expect(try bench("app", "launch", "strap").code == 0)
        #expect(try bench("app", "home", "strap").code == 0)
        #expect(try bench("app", "wait", "strap", "suspended").code == 0)
        expectRefusal(
            try bench("ble", "write", "reader", "2A39", "01"),
            code: 4,
            says: "reader has no link: connect it first"
        )
        let connected = try bench("ble", "connect", "reader", "180D")
        #expect(connected.code == 0 && connected.output.hasSuffix("  reader: connected\n"), "\(connected.output)")
        #expect(try bench("device", "list").output.contains("connected"))
        let answer = try bench.json("ble", "write", "reader", "2A39", "01", "--require", "resume")
        #expect(bench.verdicts(answer) == ["resume"])
        #expect(try bench("ble", "disconnect", "reader").code == 0)
        #expect(try bench("ble", "write", "reader", "2A39", "01", "--how", "command").code == 4)
    }

    @Test("What a central looks for survives kill -9")
    func searching() throws {
        let bench = try ServedBench()
        try bench.makeStrap("--clock", "virtual")
        #expect(try bench("ble", "connect", "reader", "180D").code == 0)
        #expect(try bench("time", "advance", "1s").code == 0)
        try bench.killAndServeAgain()
        for words in [["app", "launch", "strap"], ["time", "advance", "1s"], ["app", "home", "strap"]] {
            #expect(try bench.run(words).code == 0)
        }
        #expect(try bench("time", "advance", "15s").code == 0)
        #expect(try bench("ble", "write", "reader", "2A39", "01").code == 0)
        let answer = try bench.json("time", "advance", "1s", "--require", "resume")
        #expect(bench.verdicts(answer) == ["resume"])
    }

    @Test("What was accepted survives kill -9: registrations, the clock, and the identifiers of commands")
    func killed() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        for words in [["app", "launch", "heart"], ["time", "advance", "5s"], ["app", "home", "heart"]] {
            #expect(try bench.run(words).code == 0)
        }
        #expect(try bench("time", "advance", "20s", "--id", "night").code == 0)
        try bench.killAndServeAgain()
        #expect(try bench("time", "now").output == "T+00:00:25.000\n")
        let again = try bench.json("time", "advance", "20s", "--id", "night")
        #expect(again["repeated"] as? Bool == true)
        #expect(try bench("time", "now").output == "T+00:00:25.000\n")
        // The app is brought back by the end of its link, and connects anew.
        #expect(try bench("time", "advance", "30s").code == 0)
        let answer = try bench.json("ble", "notify", "belt", "2A37", "0049", "--require", "wake")
        #expect(bench.verdicts(answer).count == 1)
    }

    @Test("A question about an app of a phone that has none says so")
    func noApp() throws {
        let bench = try ServedBench()
        #expect(try bench("phone", "create", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        let run = "state/phones/one/run"
        for words in [
            ["why", "x", "--run", run], ["can-wake", "x", "any", "--run", run], ["log", run, "--app", "x"],
        ] {
            expectRefusal(try bench.run(words), code: 3, says: "no app x in \(run); the run has no app at all")
        }
    }

    @Test("A phone goes on from where it was shut down, and is as it was made once it is erased")
    func erased() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        #expect(try bench("time", "advance", "1h").code == 0)
        expectRefusal(try bench("phone", "erase", "one"), code: 4, says: "one is booted", "shut it down")
        #expect(try bench("phone", "snapshot", "list").output == "")
        #expect(try bench("phone", "shutdown", "one").code == 0)
        #expect(try bench("phone", "snapshot", "save", "hour", "-p", "one").code == 0)
        #expect(try bench("phone", "clone", "one", "two").code == 0)
        for (phone, time) in [("one", "T+01:00:00.000\n"), ("two", "T+01:00:00.000\n")] {
            #expect(try bench("phone", "boot", phone).code == 0)
            #expect(try bench("time", "now", "-p", phone).output == time)
        }
        #expect(try bench("phone", "shutdown", "one").code == 0)
        #expect(try bench("phone", "erase", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "now", "-p", "one").output == "T+00:00:00.000\n")
        #expect(try bench("phone", "shutdown", "one").code == 0)
        #expect(try bench("phone", "snapshot", "load", "hour", "-p", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "now", "-p", "one").output == "T+01:00:00.000\n")
    }

    @Test(
        "An app that is installed on a running phone is there after a restart, and one that cannot be changes nothing"
    )
    func installed() throws {
        let bench = try ServedBench()
        #expect(try bench("phone", "create", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("app", "list").output.split(separator: "\n").count == 1)
        try bench.program.makeBundle(script: "exit 0")
        expectRefusal(try bench("app", "install", "None.app"), code: 11, says: "None.app")
        #expect(try bench("app", "install", "Heart.app").code == 0)
        #expect(try bench("app", "list").output.split(separator: "\n").count == 2)
        try bench.killAndServeAgain()
        #expect(try bench("app", "list").output.split(separator: "\n").count == 2)
    }

    /// An app that answers what it is told, and does nothing of its own.
    private static let answering = """
        #!/usr/bin/python3 -IS
        import json, os, socket
        connection = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        def send(**message): connection.send(json.dumps(message).encode())
        send(type="hello", version=1, client="python", pid=os.getpid())
        while packet := connection.recv(65536):
            message = json.loads(packet)
            if message["type"] == "welcome": send(type="launched")
            if "delivery" in message: send(type="ack", delivery=message["delivery"])

        """

    @Test(
        "A clone and its original have processes of their own: what ends those of one leaves those of the other alone",
        .enabled(if: Self.hasPython)
    )
    func clonedApps() throws {
        let bench = try ServedBench()
        try bench.program.makeBundle()
        try bench.program.write("Heart.app/heart", Self.answering, executable: true)
        try bench.program.write("real.yaml", "scenario: real\napps: [{bundle: Heart.app, name: heart}]\n")
        for words in [
            ["create", "one", "--scenario", "real.yaml"], ["boot", "one"], ["shutdown", "one"],
            ["clone", "one", "two"], ["boot", "one"],
        ] {
            let done = try bench.run(["phone"] + words)
            try #require(done.code == 0, "\(words): \(done.errors)")
        }
        func process(_ phone: String) throws -> Int {
            let apps = try bench.json("app", "list", "-p", phone)["apps"] as? [[String: Any]]
            return try #require(apps?.first?["pid"] as? Int)
        }
        func launched(_ phone: String) throws -> Int {
            let launched = try bench("app", "launch", "heart", "-p", phone)
            #expect(launched.code == 0, "\(launched.errors)")
            return try process(phone)
        }
        let first = try launched("one")
        #expect(try bench("phone", "boot", "two").code == 0)
        let second = try launched("two")
        #expect(first > 0 && second > 0 && first != second)
        #expect(try process("one") == first)
        #expect(try bench("app", "terminate", "heart", "-p", "two").code == 0)
        #expect(try bench("app", "wait", "heart", "not-running", "-p", "two").code == 0)
        #expect(try bench("phone", "shutdown", "two").code == 0)
        #expect(try bench("phone", "boot", "two").code == 0)
        #expect(try launched("two") != second)
        #expect(try process("one") == first)
        #expect(try !bench.program.read("state/phones/one/run/outcomes.ndjson").contains("\"wake.exit/1\""))
    }

    @Test("What an app keeps stays when it is updated, and is gone when it was uninstalled, also over kill -9")
    func uninstalled() throws {
        let bench = try ServedBench()
        #expect(try bench("phone", "create", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        try bench.program.makeBundle(script: "echo kept > Documents/kept; mkdir .config; echo 1 > .config/defaults")
        let home = "state/phones/one/run/apps/com.acme.heart"
        #expect(try bench("app", "install", "Heart.app").code == 0)
        #expect(try bench("app", "launch", "com.acme.heart").code == 0)
        #expect(try bench("app", "wait", "com.acme.heart", "not-running").code == 0)
        #expect(try bench("app", "install", "Heart.app").code == 0)
        #expect(try bench.program.read(home + "/Documents/kept") == "kept\n")
        #expect(try bench("app", "uninstall", "com.acme.heart").code == 0)
        let settings = ["WAKEBENCH_STATE": bench.program.folder.appending(path: "state").path]
        func why() throws -> String {
            try bench.program.run("why", "-p", "one", "com.acme.heart", environment: settings).output
        }
        let gone = try why()
        #expect(gone.hasPrefix("com.acme.heart  was uninstalled, at "), "\(gone)")
        #expect(gone.contains("Install the app again"), "\(gone)")
        try bench.killAndServeAgain()
        #expect(try bench("app", "install", "Heart.app").code == 0)
        let back = try why()
        #expect(back.hasPrefix("com.acme.heart  ") && !back.contains("uninstalled"), "\(back)")
        #expect(bench.program.exists(home + "/Documents"))
        for file in ["Documents/kept", ".config"] { #expect(!bench.program.exists(home + "/" + file)) }
    }

    @Test("Commands that cannot be carried out say why with their own exit codes")
    func refusals() throws {
        let bench = try ServedBench()
        expectRefusal(try bench("app", "list"), code: 4, says: "no phone is booted")
        try bench.makePhone("one")
        expectRefusal(try bench("phone", "boot", "on"), code: 3, says: "no phone 'on'", "did you mean 'one'?")
        expectRefusal(try bench("phone", "create", "one"), code: 4, says: "there is a phone 'one'")
        expectRefusal(try bench("phone", "create", "../one"), code: 2, says: "'../one'")
        expectRefusal(try bench("ble", "notify", "bolt", "2A37", "00"), code: 2, says: "unknown device 'bolt'")
        let step = #"{"step": {"notify": "belt", "characteristic": "2A37", "value": "0049"}}"#
        for request in [step, #"{"op": "do", "command": \#(step)}"#] {
            expectRefusal(
                try bench("event", "inject", request),
                code: 11,
                says: "is of a request to the socket, and no step; give what is in its 'step' alone: '{\"notify\""
            )
        }
        expectRefusal(try bench("app", "launch"), code: 2, says: "APP is missing")
        expectRefusal(try bench("app", "state", "hart"), code: 3, says: "unknown app 'hart'")
        expectRefusal(try bench("time", "advance", "1h"), code: 4, says: "its clock is the machine's")
        expectRefusal(
            try bench("app", "wait", "heart", "suspended", "--timeout", "100ms"),
            code: 6,
            says: "heart to be suspended"
        )
        let booted = try bench("phone", "boot", "one")
        #expect(booted.code == 0 && booted.errors.contains("booted already"))
        expectRefusal(try bench("phone", "boot", "one", "--strict"), code: 4, says: "booted already")
        #expect(try bench("daemon", "stop").code == 0)
        bench.daemon.waitUntilExit()
        #expect(bench.daemon.terminationStatus == 0)
        expectRefusal(try bench("daemon", "status"), code: 9, says: "no daemon at", "wakebench serve")
    }

    @Test("can-wake asks the phone as it is now, and leaves it as it is")
    func question() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        for words in [
            ["app", "launch", "heart"], ["time", "advance", "5s"], ["ble", "notify", "belt", "2A37", "01"],
        ] {
            #expect(try bench.run(words).code == 0)
        }
        #expect(try bench("app", "can-wake", "heart", "characteristic-notified").code == 0)
        #expect(try bench("app", "force-quit", "heart").code == 0)
        let answer = try bench("app", "can-wake", "heart", "characteristic-notified")
        #expect(answer.code == 7, "\(answer.errors)")
        #expect(answer.output.hasPrefix("no: characteristic-notified belt/2A37: deny, ForceQuit\n"), "\(answer.output)")
        #expect(try bench("app", "state", "heart").output == "not-running\n")
        for words in [["belt/2A37"], ["notified"], ["characteristic-notified", "belt/2A37"], ["notified belt"]] {
            let same = try bench.run(["app", "can-wake", "com.acme.heart"] + words)
            #expect(same.code == 7)
            #expect(same.output.contains("no: characteristic-notified belt/2A37: deny, ForceQuit\n"), "\(same.output)")
        }
        let kinds = try bench("app", "can-wake", "heart")
        #expect(kinds.code == 0 && kinds.output.hasPrefix("the run has "), "\(kinds.errors)")
        #expect(kinds.output.contains("characteristic-notified"), "\(kinds.output)")
        expectRefusal(try bench("app", "can-wake", "heart", "region-entered"), code: 3, says: "one", "the run has ")
        let page = try bench("app", "can-wake", "heart", "characteristic-notified", "--json")
        let object = try JSONSerialization.jsonObject(with: Data(page.output.utf8)) as? [String: Any]
        #expect(object?["schema"] as? String == "wake.can-wake/1")
        #expect(object?["ok"] as? Bool == false)
        let lost = (object?["answers"] as? [[String: Any]])?.first?["lost"] as? [[String: Any]]
        #expect(lost?.map { $0["by"] as? String } == ["lost-to-force-quit"])
        let named = ["can-wake", "heart", "characteristic-notified", "-p", "one"]
        let state = bench.program.folder.appending(path: "state").path
        let environment = ["WAKEBENCH_STATE": state, "WAKEBENCH_SOCKET": bench.socket]
        let running = try bench.program.run(Program.path, named, environment: environment)
        #expect(running.code == 7, "\(running.errors)")
        #expect(running.output == answer.output)
        // A run folder is asked by the same means.
        #expect(try bench("phone", "shutdown", "one").code == 0)
        #expect(try bench.program.run(Program.path, named, environment: environment).output == answer.output)
        let later = try bench("can-wake", "heart", "characteristic-notified", "--run", "state/phones/one/run")
        #expect(later.code == 7, "\(later.errors)")
        #expect(later.output == answer.output)
        // What came before it was switched off may come again.
        #expect(try bench("phone", "boot", "one").code == 0)
        let booted = try bench("app", "can-wake", "heart", "characteristic-notified")
        #expect(booted.code == 7 && booted.output == answer.output, "\(booted.output)\(booted.errors)")
    }

    @Test("A step that reaches nobody, and one that changes nothing, say so in their answers, and why")
    func silentSteps() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        let unheard = "notify belt 2A37 01: nobody is subscribed (heart has not run yet)"
        let notified = try bench("ble", "notify", "belt", "2A37", "01")
        #expect(notified.code == 0, "\(notified.errors)")
        #expect(notified.output == unheard + "\n")
        let required = try bench("ble", "notify", "belt", "2A37", "01", "--require", "resume")
        #expect(required.code == 5)
        #expect(required.errors.contains(unheard), "\(required.errors)")
        let nobody = "home heart: nothing changed, as the app does not run (LIFE-1)"
        #expect(try bench("app", "home", "heart").output == nobody + "\n")
        let told = try bench.json("app", "home", "heart", "--id", "home")
        #expect(told["notes"] as? [String] == [nobody])
        // Each thing is said once.
        #expect((told["happened"] as? [Any])?.isEmpty == true, "\(told)")
        func expectTold() throws {
            var again = try bench.json("app", "home", "heart", "--id", "home")
            #expect(again.removeValue(forKey: "repeated") as? Bool == true)
            #expect(again as NSDictionary == told as NSDictionary)
        }
        try expectTold()
        try bench.killAndServeAgain()
        try expectTold()
        #expect(try bench("app", "launch", "heart").code == 0)
        #expect(try bench("time", "advance", "5s").code == 0)
        let heard = try bench.json("ble", "notify", "belt", "2A37", "01")
        #expect(heard["notes"] as? [String] == [])
        #expect(bench.verdicts(heard) == ["foreground-deliver"])
        #expect(try bench("app", "force-quit", "heart").code == 0)
        let quit = try bench.json("ble", "notify", "belt", "2A37", "01")
        let notes = try #require(quit["notes"] as? [String])
        let lost = "notify belt 2A37 01: nobody is subscribed (heart lost its connection to belt, at T+00:00:"
        #expect(notes.count == 1 && notes[0].hasPrefix(lost), "\(notes)")
        #expect(notes[0].hasSuffix(": gone with the force quit, LAUNCH-2)"), "\(notes)")
    }

    @Test("What the help of 'voip do' says can be done can be done")
    func callServer() throws {
        let bench = try ServedBench()
        try bench.program.write("sip.yaml", "device: call-server\nmessages: lines\nplan: [{await: HELLO}]\n")
        try bench.program.write(
            "calls.yaml",
            """
            scenario: calls
            devices: [{file: sip.yaml}]
            apps: [{scripted: com.acme.phone, name: phone}]

            """
        )
        for words in [["phone", "create", "one", "--scenario", "calls.yaml"], ["phone", "boot", "one"]] {
            let done = try bench.run(words)
            #expect(done.code == 0, "\(done.errors)")
        }
        let help = try bench.program.run("help", "voip", "do").output
        #expect(help.contains(": say 'INVITE', or act close, half-close or reset\n"))
        for act in [["say", "INVITE"], ["act", "close"], ["act", "half-close"], ["act", "reset"]] {
            let done = try bench.run(["voip", "do", "sip"] + act)
            #expect(done.code == 0 && done.output == "voip sip: nobody is connected to it\n", "\(done.errors)")
        }
    }

    private func object(_ text: String) throws -> [String: Any] {
        #expect(text.split(separator: "\n").count == 1, "\(text)")
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test("A verb whose requirement is not met prints one object, with what was decided and with the error")
    func requirement() throws {
        let bench = try ServedBench()
        try bench.program.write("belt.yaml", ServedBench.belt)
        try bench.program.write("pulse.yaml", Cases.swipedPulse)
        for words in [
            ["phone", "create", "one", "--scenario", "pulse.yaml", "--clock", "virtual"], ["phone", "boot", "one"],
            ["time", "advance", "1m"],
        ] {
            #expect(try bench.run(words).code == 0)
        }
        let woken = try bench("ble", "notify", "belt", "2A37", "0049", "--require", "deny", "--json")
        #expect(woken.code == 5 && woken.errors == "")
        let page = try object(woken.output)
        #expect(page["schema"] as? String == "wake.control/1" && page["ok"] as? Bool == false)
        #expect(bench.verdicts(page) == ["resume"])
        let error = try #require(page["error"] as? [String: Any])
        #expect(error["code"] as? Int == 5 && error["kind"] as? String == "verdict-mismatch")
        #expect(error["hint"] as? String == "what was decided is resume Resumed")
        #expect(try bench("app", "force-quit", "pulse").code == 0)
        let words = ["ble", "notify", "belt", "2A37", "0049", "--require", "wake"]
        let refused = try bench.run(words + ["--json"])
        #expect(refused.code == 5 && refused.errors == "")
        let nothing = try object(refused.output)
        #expect(nothing["ok"] as? Bool == false && bench.verdicts(nothing) == [])
        let text = try bench.run(words)
        #expect(text.code == 5 && text.errors.hasPrefix("wakebench: nothing was decided as wake; "), "\(text.errors)")
    }

    @Test("A command that is given again has its first answer and exit code, also after kill -9 and a shutdown")
    func repeated() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        for words in [
            ["app", "launch", "heart"], ["time", "advance", "5s"], ["app", "home", "heart"],
            ["time", "advance", "15s"],
        ] {
            #expect(try bench.run(words).code == 0)
        }
        let words = ["ble", "notify", "belt", "2A37", "0049", "--id", "beat", "--json", "--require"]
        let answer = try bench.run(words + ["resume:Resumed"])
        #expect(answer.code == 0, "\(answer.errors)")
        let first = try object(answer.output)
        #expect(bench.verdicts(first) == ["resume"] && first["repeated"] == nil)
        #expect((first["decisions"] as? [[String: Any]])?.first?["value"] as? String == "0049")
        func expectFirst(location: SourceLocation = #_sourceLocation) throws {
            let again = try bench.run(words + ["resume:Resumed"])
            #expect(again.code == 0, "\(again.errors)\(again.output)", sourceLocation: location)
            var page = try object(again.output)
            #expect(page.removeValue(forKey: "repeated") as? Bool == true, sourceLocation: location)
            #expect(page as NSDictionary == first as NSDictionary, sourceLocation: location)
            #expect(try bench.run(words + ["deny"]).code == 5, sourceLocation: location)
        }
        try expectFirst()
        for words in [["time", "advance", "1h"], ["ble", "notify", "belt", "2A37", "004a"]] {
            #expect(try bench.run(words).code == 0)
        }
        try expectFirst()
        try bench.killAndServeAgain()
        try expectFirst()
        #expect(try bench("phone", "shutdown", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        try expectFirst()
        let text = try bench("ble", "notify", "belt", "2A37", "0049", "--id", "beat", "--require", "wake")
        #expect(text.code == 0 && text.output.contains("  resume  Resumed  "), "\(text.output)")
        #expect(text.errors.hasPrefix("wakebench: note: a command with this --id was accepted before"))
        // It was given once: nothing but the second value came after it.
        let log = try bench.program.run("log", "state/phones/one/run").output.split(separator: "\n")
        #expect(log.count { $0.contains("\"kind\":\"characteristic-notified\"") } == 2)
    }

    @Test("An --id of another command is refused, also after kill -9, and nothing is done; advances may be repeated")
    func otherCommand() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        #expect(try bench("phone", "lock", "--id", "k").code == 0)
        let other = "--id k: it is that of another command"
        func expectRefused() throws {
            expectRefusal(try bench("phone", "unlock", "--id", "k"), code: 4, says: other)
            expectRefusal(try bench("time", "advance", "1s", "--id", "k"), code: 4, says: other)
            #expect(try bench("phone", "lock", "--id", "k").code == 0)
        }
        try expectRefused()
        try bench.killAndServeAgain()
        try expectRefused()
        let again = try bench("phone", "lock")
        #expect(again.output.contains("nothing changed, as it was so already"), "\(again.output)")
    }

    @Test("An --id knows its command in any spelling, and an advance by the time that was said, also after kill -9")
    func spelling() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        for words in [["app", "launch", "heart"], ["time", "advance", "5s"]] {
            #expect(try bench.run(words).code == 0)
        }
        let step = #"{"notify":"belt","characteristic":"2A37","value":"0a"}"#
        let first = [
            ["event", "inject", step, "--id", "beat"], ["app", "terminate", "heart", "--id", "end"],
            ["time", "advance", "1m", "--id", "on"], ["time", "until", "T+00:02:00", "--id", "to"],
        ]
        for words in first { #expect(try bench.run(words).code == 0) }
        let same = [
            ["event", "inject", #"{"value":"0A","characteristic":"2a37","notify":"belt"}"#, "--id", "beat"],
            ["ble", "notify", "belt", "2a37", "0A", "--id", "beat"],
            ["app", "terminate", "com.acme.heart", "--id", "end"], ["time", "advance", "60s", "--id", "on"],
            ["time", "until", "2m", "--id", "to"],
        ]
        let others = [
            ["ble", "notify", "belt", "2A37", "0B", "--id", "beat"], ["app", "launch", "heart", "--id", "end"],
            ["time", "advance", "8h", "--id", "on"], ["time", "until", "T+00:01:00", "--id", "on"],
            ["time", "until", "T+08:00:00", "--id", "to"],
        ]
        func expectKnown(location: SourceLocation = #_sourceLocation) throws {
            for words in first + same {
                let again = try bench.run(words + ["--json"])
                #expect(again.code == 0, "\(words): \(again.errors)\(again.output)", sourceLocation: location)
                #expect(try object(again.output)["repeated"] as? Bool == true, "\(words)", sourceLocation: location)
            }
            for words in others {
                let other = "--id \(words.last ?? ""): it is that of another command"
                expectRefusal(try bench.run(words), code: 4, says: other, location: location)
            }
            #expect(try bench("time", "now").output == "T+00:02:00.000\n", sourceLocation: location)
        }
        try expectKnown()
        try bench.killAndServeAgain()
        try expectKnown()
    }

    @Test("What a step that happens at once cannot have is told so, and a booted phone's tasks with what helps")
    func remedies() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        for key in ["at", "when", "times"] {
            let step = #"{"notify":"belt","characteristic":"2A37","value":"00","\#(key)":"1s"}"#
            expectRefusal(
                try bench("event", "inject", step),
                code: 2,
                says: "'\(key)' in a step that happens at once; expected one without a time"
            )
        }
        let state = bench.program.folder.appending(path: "state").path
        let tasks = try bench.program.run("task", "list", "-p", "one", environment: ["WAKEBENCH_STATE": state])
        expectRefusal(tasks, code: 4, says: "in use by process", "'wakebench phone shutdown NAME'")
        #expect(!tasks.errors.contains("--out"), "\(tasks.errors)")
    }

    @Test("Good news is told on stdout: what a verb did, and what ended")
    func goodNews() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        #expect(try bench("app", "launch", "heart").code == 0)
        let ended = try bench("app", "terminate", "heart")
        #expect(ended.code == 0 && ended.errors == "")
        #expect(
            ended.output.split(separator: "\n").prefix(2) == [
                "T+00:00:00.000  com.acme.heart  terminate (memory)",
                "T+00:00:00.000  com.acme.heart  process ended  memory",
            ],
            "\(ended.output)"
        )
        let page = try bench.json("app", "launch", "heart")
        let happened = try #require(page["happened"] as? [[String: Any]])
        #expect(happened.map { $0["what"] as? String } == ["launch"])
        let locked = try bench("phone", "lock")
        #expect(locked.code == 0 && locked.errors == "" && locked.output.contains("  -  lock"), "\(locked.output)")
    }

    @Test("Each answer of a verb of running phones has a schema, and is good exactly where the exit code is 0")
    func schemas() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        for words in [
            ["app", "launch", "heart"], ["time", "advance", "5s"], ["ble", "notify", "belt", "2A37", "01"],
            ["app", "force-quit", "heart"], ["app", "list"], ["app", "state", "heart"], ["app", "state", "hart"],
            ["app", "wait", "heart", "not-running"], ["app", "wait", "heart", "active", "--timeout", "10ms"],
            ["app", "can-wake", "heart", "characteristic-notified"], ["device", "list"], ["time", "now"], ["top"],
            ["daemon", "status"], ["phone", "list"], ["phone", "wait", "idle"], ["phone", "snapshot", "list"],
            ["phone", "shutdown", "one"], ["app", "list"], ["phone", "create", "one"], ["phone", "create", "two"],
            ["phone", "clone", "two", "three"], ["phone", "erase", "three"], ["phone", "delete", "three"],
            ["daemon", "stop"], ["daemon", "status"],
        ] {
            let outcome = try bench.run(words + ["--json"])
            let page = try object(outcome.output)
            #expect((page["schema"] as? String)?.hasPrefix("wake.") == true, "\(words) \(page)")
            #expect(page["ok"] as? Bool == (outcome.code == 0), "\(words) \(outcome.code) \(page)")
            #expect((page["error"] == nil) == (outcome.code == 0 || outcome.code == 7), "\(words) \(page)")
        }
    }

    @Test("An error about a phone's scenario holds its place, through the daemon too")
    func placeOfError() throws {
        let bench = try ServedBench()
        try bench.program.write("bad.yaml", "scenario: bad\napps:\n  - {scripted: com.acme.heart, nme: heart}\n")
        let refused = try bench("phone", "create", "one", "--scenario", "bad.yaml", "--json")
        #expect(refused.code == 11)
        let error = try #require(try object(refused.output)["error"] as? [String: Any])
        #expect((error["file"] as? String)?.hasSuffix("/bad.yaml") == true)
        #expect([error["line"] as? Int, error["column"] as? Int] == [3, 32])
    }

    @Test("Two daemons do not serve the same phones")
    func rival() throws {
        let bench = try ServedBench()
        let other = try bench.program.run("serve", "--state", "state", "--socket", "other.sock")
        expectRefusal(other, code: 4, says: "process \(bench.daemon.processIdentifier) serves these phones")
    }

    @Test(
        "What a phone was told is decided the same by a fresh router, from its journal, and the verbs of runs know phones"
    )
    func again() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        for words in [
            ["app", "launch", "com.acme.heart"], ["time", "advance", "5s"], ["app", "force-quit", "heart"],
        ] {
            #expect(try bench.run(words).code == 0)
        }
        let state = bench.program.folder.appending(path: "state").path
        let why = try bench.program.run("why", "-p", "one", "heart", environment: ["WAKEBENCH_STATE": state])
        #expect(why.code == 0 && why.output.contains("com.acme.heart"), "\(why.errors)")
        expectRefusal(
            try bench.program.run("log", "-p", "two", environment: ["WAKEBENCH_STATE": state]),
            code: 3,
            says: "no phone 'two'"
        )
        #expect(try bench("phone", "shutdown", "one").code == 0)
        let same = try bench("run", "--from", "state/phones/one/run")
        #expect(same.code == 0 && same.output.contains("gave the same"), "\(same.errors)")
        expectRefusal(try bench("run", "--from", "state/phones/one/run", "--seed", "1"), code: 2, says: "--from")
    }

    @Test(
        "What top prints once is what the phone's own verbs say, as text and as JSON, and it needs a terminal for more"
    )
    func topOnce() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        #expect(try bench("app", "launch", "heart").code == 0)
        #expect(try bench("time", "advance", "10s").code == 0)
        let page = try bench.json("top")
        let phones = try #require(page["phones"] as? [[String: Any]])
        #expect(phones.map { $0["name"] as? String } == ["one"])
        let apps = try #require(phones.first?["app_list"] as? NSArray)
        #expect(apps == (try bench.json("app", "list")["apps"] as? NSArray))
        let devices = try #require(phones.first?["device_list"] as? [[String: Any]])
        #expect(devices.map { $0["connected"] as? Bool } == [true])
        let once = try bench("top", "--once")
        let rows = once.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(
            rows.contains { $0.starts(with: ["one", "booted", "virtual"]) && $0.contains("T+00:00:10") },
            "\(rows)"
        )
        #expect(rows.contains { $0.starts(with: ["heart", "active"]) && $0.contains("foreground-deliver") }, "\(rows)")
        #expect(rows.contains { $0.starts(with: ["belt", "bluetooth-peripheral", "connected"]) }, "\(rows)")
        // A read gives a value that reached nobody, too: it was not notified.
        #expect(try bench("app", "force-quit", "heart").code == 0)
        #expect(try bench("ble", "notify", "belt", "2A37", "0051").code == 0)
        let values = try bench("top", "--once").output.split(separator: "\n").filter { $0.hasSuffix("  2A37 0051") }
        #expect(values.count == 1 && once.output.contains("  HELD BY  VALUE\n"), "\(once.output)")
        expectRefusal(try bench("top"), code: 12, says: "terminal", "--once")
        expectRefusal(try bench("top", "--once", "-p", "two"), code: 2, says: "phone 'two'", "one")
    }

    @Test("simctl's spellings mean the same")
    func simctl() throws {
        let bench = try ServedBench()
        try bench.makePhone("one")
        #expect(try bench("simctl", "launch", "one", "com.acme.heart").code == 0)
        #expect(try bench("app", "wait", "heart", "active").code == 0)
        #expect(try bench("simctl", "location", "booted", "set", "52.5,13.4").code == 0)
        #expect(try bench("simctl", "privacy", "booted", "grant", "location", "com.acme.heart").code == 0)
        #expect(try bench("simctl", "terminate", "booted", "com.acme.heart").code == 0)
        #expect(try bench("app", "state", "heart").output == "not-running\n")
        expectRefusal(try bench("simctl", "frobnicate", "one"), code: 2, says: "unknown verb 'frobnicate' of simctl")
        expectRefusal(try bench("simctl", "location", "one", "clear"), code: 2, says: "set LATITUDE,LONGITUDE")
        #expect(try bench("simctl", "shutdown", "one").code == 0)
    }

    @Test("The daemon starts in the background, and says why where it cannot")
    func background() throws {
        let program = try Program()
        defer { program.clean() }
        let socket = program.folder.appending(path: "s/c").path
        let started = try program.run("daemon", "start", "--state", "s", "--socket", "s/c")
        #expect(started.code == 0 && started.output.contains("serving "), "\(started.errors)")
        let again = try program.run("daemon", "start", "--state", "s", "--socket", "s/d")
        expectRefusal(again, code: 4, says: "serves these phones already")
        #expect(try program.run("daemon", "stop", "--socket", socket).code == 0)
    }

    @Test(
        "A command on a phone that goes by the machine's clock happens when it is given, however long nothing happened"
    )
    func now() throws {
        let bench = try ServedBench()
        try bench.makePhone("one")
        let before = try bench("time", "now").output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try bench("app", "launch", "heart").code == 0)
        let outcomes = try bench.program.read("state/phones/one/run/outcomes.ndjson")
        let act = try #require(outcomes.split(separator: "\n").first { $0.contains("\"act\":\"launch\"") })
        let record = try JSONSerialization.jsonObject(with: Data(act.utf8)) as? [String: Any]
        // Texts of the same width are in the order of time.
        #expect(try #require(record?["t"] as? String) > before)
    }

    @Test("The files of a phone are whole when its shutdown is answered", .enabled(if: Self.hasPython))
    func shutDownFiles() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        let said = try python(
            """
            import os
            s = connect()
            lines = s.makefile()
            def ask(**request):
                s.sendall(json.dumps(request).encode() + b"\\n")
                answer = json.loads(lines.readline())
                assert answer["ok"], answer
            log = os.path.dirname(sys.argv[1]) + "/phones/one/run/journal.sqlite-wal"
            for _ in range(5):
                for number in range(100):
                    ask(op="do", phone="one", command={"step": {"note": str(number)}})
                assert os.path.exists(log)
                ask(op="shutdown", phone="one")
                print(os.path.exists(log))
                ask(op="boot", phone="one")
            """,
            bench
        )
        #expect(said == String(repeating: "False\n", count: 5))
    }

    // MARK: Those who may not, or speak badly

    @Test(
        "Another user is refused by the socket's mode, and by the daemon where the mode allows it",
        .enabled(
            if: Program.isRoot && FileManager.default.isExecutableFile(atPath: Program.setpriv),
            "needs root and setpriv"
        )
    )
    func stranger() throws {
        let bench = try ServedBench()
        let folder = bench.program.folder.path
        let shut = try bench.program.runAsNobody("daemon", "status", "--socket", bench.socket)
        expectRefusal(shut, code: 9, says: "Permission denied")
        unsafe chmod(folder + "/state", 0o755)
        unsafe chmod(bench.socket, 0o666)
        let refused = try bench.program.runAsNobody("daemon", "status", "--socket", bench.socket)
        expectRefusal(refused, code: 12, says: "this bench is user 0's")
        #expect(try bench("daemon", "status").code == 0)
    }

    @Test("Garbage, oversized and half lines are refused, and the next client is served", .enabled(if: Self.hasPython))
    func garbage() throws {
        let bench = try ServedBench()
        let said = try python(
            """
            def say(data, shut=False):
                s = connect()
                s.sendall(data)
                if shut:
                    s.shutdown(socket.SHUT_WR)
                data = b""
                while b"\\n" not in data and (more := s.recv(65536)):
                    data += more
                s.close()
                return data
            answers = [say(b"\\x00\\xff garbage\\n"), say(b"[1,2]\\n"), say(b'{"op":"none"}\\n'), say(b'{"op":7}\\n'),
                say(b'{"op":"do","phone":"x","command":{}}\\n'), say(b"[" * 100000 + b"\\n")]
            assert all(b'"ok":false' in answer for answer in answers), answers
            s = connect()
            try:
                for _ in range(100):
                    s.sendall(b"x" * 65536)
                while s.recv(65536):
                    pass
            except (BrokenPipeError, ConnectionResetError):
                pass
            assert say(b'{"op":"hel', shut=True) == b""
            print("served")
            """,
            bench
        )
        #expect(said == "served\n")
        #expect(try bench("daemon", "status").code == 0)
    }

    @Test("A follower that does not read is told how much it has missed", .enabled(if: Self.hasPython))
    func slowFollower() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        for words in [["app", "launch", "heart"], ["time", "advance", "5s"]] { #expect(try bench.run(words).code == 0) }
        let said = try python(
            """
            slow = connect()
            slow.sendall(b'{"op":"follow","phone":"one"}\\n')
            lines = slow.makefile()
            header = json.loads(lines.readline())
            assert header["schema"] == "wake.stream/1", header
            driver = connect()
            answers = driver.makefile()
            for number in range(1200):
                step = {"notify": "belt", "characteristic": "2A37", "value": "%04x" % number}
                driver.sendall(json.dumps({"op": "do", "phone": "one", "command": {"step": step}}).encode() + b"\\n")
                assert json.loads(answers.readline())["ok"]
            seen, dropped = 0, 0
            while seen + dropped < 1200:
                line = json.loads(lines.readline())
                if line["type"] == "gap":
                    dropped += line["dropped"]
                elif line["type"] == "decision":
                    seen += 1
            print("missed some" if dropped else "missed none")
            """,
            bench
        )
        #expect(said == "missed some\n")
    }

    private static let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    private func python(_ script: String, _ bench: ServedBench) throws -> String {
        let start = """
            import json, socket, sys
            def connect():
                s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                s.connect(sys.argv[1])
                return s

            """
        let outcome = try bench.program.run("/usr/bin/python3", ["-c", start + script, bench.socket])
        #expect(outcome.errors == "")
        return outcome.output
    }

    // MARK: The service manager

    @Test("The service manager hears when the daemon serves and when it stops", .enabled(if: Self.hasPython))
    func notifies() throws {
        let program = try Program()
        defer { program.clean() }
        let script = """
            import os, signal, socket, subprocess, sys
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind("notify.sock")
            env = dict(os.environ, NOTIFY_SOCKET=os.path.abspath("notify.sock"), WATCHDOG_USEC="1000000")
            daemon = subprocess.Popen([sys.argv[1], "serve", "--state", "s", "--socket", "c"], env=env)
            wanted = ["READY=1", "WATCHDOG=1", "STOPPING=1"]
            while wanted:
                said = s.recv(4096).decode()
                if wanted[0] in said:
                    wanted.pop(0)
                    if wanted == ["STOPPING=1"]:
                        daemon.send_signal(signal.SIGTERM)
            print(daemon.wait())
            """
        let outcome = try program.run("/usr/bin/python3", ["-c", script, Program.path])
        #expect(outcome.output.hasSuffix("\n0\n"), "\(outcome.errors)")
    }

    @Test(
        "A socket that systemd made is served",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-socket-activate"), "needs systemd")
    )
    func activated() throws {
        let program = try Program()
        defer { program.clean() }
        let script = """
            systemd-socket-activate -l "$PWD/given.sock" "$0" serve --state s & activator=$!
            until [ -S given.sock ]; do sleep 0.05; done
            "$0" daemon status --socket ./given.sock && "$0" daemon stop --socket ./given.sock
            wait $activator
            """
        let outcome = try program.run("/bin/bash", ["-c", script, Program.path], limit: 20)
        #expect(outcome.code == 0 && outcome.output.contains("0 of 0 phones booted"), "\(outcome.errors)")
    }
}

import Glibc
import WakeBundles
import WakeDevices
import WakeJSON
import WakeModel
import WakeReports
import WakeSystem

/// What clients of the control socket can ask for.
extension Daemon {
    private typealias Handler = (Daemon) -> (ControlRequest, any Client) throws(CommandFailure) -> Void

    private static var operations: KeyValuePairs<String, Handler> {
        [
            "hello": Daemon.hello, "phones": Daemon.listPhones, "create": Daemon.create, "delete": Daemon.delete,
            "boot": Daemon.boot, "shutdown": Daemon.shutDown, "erase": Daemon.erase, "clone": Daemon.clone,
            "snapshot": Daemon.snapshot, "do": Daemon.carryOut, "wait": Daemon.wait, "apps": Daemon.listApps,
            "devices": Daemon.listDevices, "can-wake": Daemon.canWake, "follow": Daemon.follow, "stop": Daemon.stop,
        ]
    }

    func hear(_ request: ControlRequest, from connection: any Client) {
        do throws(CommandFailure) {
            guard let handler = Self.operations.first(where: { $0.key == request.op })?.value else {
                throw CommandFailure(unknown: "operation '\(request.op)'", known: Self.operations.map(\.key))
            }
            try handler(self)(request, connection)
        } catch {
            connection.refuse(request.request, error)
        }
    }

    // MARK: The daemon

    private func hello(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        connection.answer(request.request) { writer in
            writer.key("version")
            writer.string(wakebenchVersion)
            writer.key("pid")
            writer.integer(Int64(getpid()))
            writer.key("state")
            writer.string(settings.state)
            writer.key("phones")
            writer.integer(Int64(phoneNames.count))
            writer.key("booted")
            writer.integer(Int64(phones.count))
            if let page {
                writer.key("page")
                writer.string(page.address)
            }
        }
    }

    private func stop(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        connection.answer(request.request)
        stop()
    }

    // MARK: Phones

    private func listPhones(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        for name in phones.keys.sorted() { look(after: name) }
        let all = phoneNames.compactMap { entry(of: $0) }
        connection.answer(request.request) { writer in
            writer.key("phones")
            writer.openArray()
            for known in all { describe(known, into: &writer) }
            writer.closeArray()
        }
    }

    private func describe(_ known: PhoneFolder.Settings, into writer: inout JSONWriter) {
        let phone = phones[known.name]
        writer.openObject()
        writer.key("name")
        writer.string(known.name)
        if known.damage == nil {
            writer.key("udid")
            writer.string(known.udid)
        }
        writer.key("state")
        writer.string(phone == nil && known.damage != nil ? "failed" : state(of: known.name))
        writer.key("folder")
        writer.string(folder(of: known.name).run)
        if known.damage == nil {
            writer.key("scenario")
            writer.string(known.scenario)
        }
        if let phone {
            writer.key("clock")
            writer.string(phone.run.realTime ? "real" : "virtual")
            writer.key("profile")
            writer.string(phone.run.profile.name)
            writer.key("at")
            writer.string(LogTime.text(phone.tellTime()))
            writer.key("locked")
            writer.bool(phone.run.bench.router.isLocked)
            writer.key("apps")
            writer.integer(Int64(phone.run.scenario.apps.count))
            writer.key("devices")
            writer.integer(Int64(phone.run.scenario.devices.count))
        }
        if let failure = known.damage ?? failures[known.name] {
            writer.key("error")
            writer.value(failure.json)
        }
        writer.closeObject()
    }

    private func answer(_ request: ControlRequest, with name: String, _ connection: any Client)
        throws(CommandFailure)
    {
        let known = try known(name)
        connection.answer(request.request) { writer in
            writer.key("phone")
            describe(known, into: &writer)
        }
    }

    /// What is known of a phone; nil when there is none. One that is damaged costs nobody but itself.
    private func entry(of name: String) -> PhoneFolder.Settings? {
        let folder = folder(of: name)
        do throws(CommandFailure) {
            if let known = try folder.readSettings() { return known }
        } catch {
            return .damaged(name, error)
        }
        guard phones[name] != nil || failures[name] != nil else { return nil }
        return .damaged(
            name,
            CommandFailure(
                .wrongState,
                in: folder.path,
                "removed while the phone was served",
                hint: "remove what is left with 'wakebench phone delete \(name)'"
            )
        )
    }

    /// The same of a phone that must be there.
    private func known(_ name: String) throws(CommandFailure) -> PhoneFolder.Settings {
        if PhoneFolder.isName(name), let known = entry(of: name) { return known }
        for other in phoneNames {
            if let known = entry(of: other), known.damage == nil, known.udid == name { return known }
        }
        let near = Suggestion.nearest(to: name, among: phoneNames)
        throw CommandFailure(
            .notFound,
            "no phone '\(name)'",
            hint: near.map { "did you mean '\($0)'?" }
                ?? (phoneNames.isEmpty ? "make one with 'phone create'" : "see 'phone list'")
        )
    }

    /// The phone that a request means: `booted` is the only one that is switched on. Whether its files are there is looked up.
    ///
    /// - Parameter isForDamaged: whether the request can be carried out where nothing but the name is known.
    private func target(_ request: ControlRequest, isForDamaged: Bool = false) throws(CommandFailure)
        -> PhoneFolder.Settings
    {
        var name = try request.text("phone")
        if name == "booted" { name = try onlyBooted() }
        let known = try known(name)
        look(after: known.name)
        if let damage = known.damage, !isForDamaged { throw damage }
        return known
    }

    private func onlyBooted() throws(CommandFailure) -> String {
        if let only = phones.keys.first, phones.count == 1 { return only }
        guard phones.isEmpty else {
            throw CommandFailure(
                .usage,
                "\(phones.count) phones are booted",
                hint: "name one of \(phones.keys.sorted().joined(separator: ", "))"
            )
        }
        let failed = failures.keys.sorted().joined(separator: ", ")
        let hint = failed.isEmpty ? "boot one" : "\(failed) failed: see 'phone list' for why"
        throw CommandFailure(.wrongState, "no phone is booted", hint: hint)
    }

    private func booted(_ request: ControlRequest) throws(CommandFailure) -> LivePhone {
        let name = try target(request).name
        if let phone = phones[name] { return phone }
        if let failure = failures[name] { throw failure }
        throw CommandFailure(.wrongState, "\(name) is shut down", hint: "boot it first")
    }

    private func needShutDown(_ known: PhoneFolder.Settings, for what: String) throws(CommandFailure) {
        guard phones[known.name] == nil else {
            throw CommandFailure(.wrongState, "\(known.name) is booted", hint: "shut it down to \(what)")
        }
    }

    private func create(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let name = try request.text("phone")
        guard PhoneFolder.isName(name) else {
            throw CommandFailure(
                .usage,
                "'\(name)' cannot be a phone's name",
                hint: "1 to 64 letters, digits, - _ and ."
            )
        }
        let folder = folder(of: name)
        guard entry(of: name) == nil else {
            throw CommandFailure(
                .wrongState,
                "there is a phone '\(name)' already",
                hint: "give another name, or delete it"
            )
        }
        let given = request.value["scenario"]?.string
        let scenario = given ?? folder.ownScenario
        let options = try request.texts("options")
        let parsed = try settings.parse(options, scenario, folder.run)
        if given != nil {
            do throws(FileError) { _ = try Scenario.load(file: scenario, searchFolders: parsed.appFolders) } catch {
                throw CommandFailure(.invalidFile, error)
            }
        }
        try make(folder) { () throws(CommandFailure) in
            try RunFolder.make(folder.path, option: PhoneFolder.option)
            if given == nil { try PhoneFolder.replace(scenario, by: Array("scenario: \(name)\napps: []\n".utf8)) }
            let udid = FolderTree.newUUID()
            try folder.write(.init(name: name, udid: udid, scenario: scenario, options: options))
        }
        try answer(request, with: name, connection)
    }

    /// Makes the folder of a new phone, or none. The body writes the settings last: a folder without them was being made when the
    /// daemon was killed, and goes first.
    private func make(_ folder: PhoneFolder, _ body: () throws(CommandFailure) -> Void) throws(CommandFailure) {
        try requireState()
        try PhoneFolder.remove(folder.path)
        do throws(CommandFailure) { try body() } catch {
            try? PhoneFolder.remove(folder.path)
            throw error
        }
    }

    private func delete(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let known = try target(request, isForDamaged: true)
        // That it is shut down cannot be written into what is damaged.
        if known.damage == nil { try needShutDown(known, for: "delete it") } else { _ = try? switchOff(known.name) }
        try folder(of: known.name).delete()
        failures[known.name] = nil
        connection.answer(request.request)
    }

    private func boot(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        var known = try target(request)
        let isOn = phones[known.name] != nil
        if !isOn { try boot(known.name, known) }
        (known.isBooted, known.hasBegun) = (true, true)
        try folder(of: known.name).write(known)
        connection.answer(request.request) { writer in
            writer.key("already")
            writer.bool(isOn)
            writer.key("phone")
            describe(known, into: &writer)
        }
    }

    private func shutDown(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        var known = try target(request, isForDamaged: true)
        known.isBooted = false
        if known.damage == nil { try folder(of: known.name).write(known) }
        failures[known.name] = nil
        let wasOn = try switchOff(known.name)
        connection.answer(request.request) { writer in
            writer.key("already")
            writer.bool(!wasOn)
            writer.key("phone")
            describe(known, into: &writer)
        }
    }

    /// Switches a phone off, and closes its journal with it: whoever hears of it then can read it.
    ///
    /// - Returns: whether it was on.
    private func switchOff(_ name: String) throws(CommandFailure) -> Bool {
        guard let phone = phones.removeValue(forKey: name) else { return false }
        tellState(of: name)
        try phone.stop()
        return true
    }

    private func erase(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let known = try target(request)
        try needShutDown(known, for: "erase it")
        let folder = folder(of: known.name)
        try folder.settle()
        try forgetRun(of: known)
        try folder.erase()
        failures[known.name] = nil
        try answer(request, with: known.name, connection)
    }

    /// Writes down, before a phone loses its run, that it need not have one.
    private func forgetRun(of known: PhoneFolder.Settings) throws(CommandFailure) {
        guard known.hasBegun else { return }
        var known = known
        known.hasBegun = false
        try folder(of: known.name).write(known)
    }

    private func clone(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let known = try target(request)
        let name = try request.text("to")
        guard PhoneFolder.isName(name), entry(of: name) == nil else {
            throw CommandFailure(.wrongState, "'\(name)' cannot be the name of a new phone", hint: "give another")
        }
        try needShutDown(known, for: "clone it")
        let (from, to) = (folder(of: known.name), folder(of: name))
        try from.settle()
        try requireRun(of: known)
        try make(to) { () throws(CommandFailure) in
            try from.copyState(to: to.path)
            var copy = known
            (copy.name, copy.udid, copy.isBooted) = (name, FolderTree.newUUID(), false)
            if known.scenario == from.ownScenario {
                copy.scenario = to.ownScenario
                try PhoneFolder.replace(copy.scenario, by: try bytes(of: known.scenario))
            }
            try to.write(copy)
        }
        try answer(request, with: name, connection)
    }

    private func bytes(of path: String) throws(CommandFailure) -> [UInt8] {
        do throws(FileError) { return try InputFile.read(path) } catch { throw CommandFailure(.invalidFile, error) }
    }

    private func snapshot(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let known = try target(request)
        let folder = folder(of: known.name)
        try folder.settle()
        let action = try request.text("action")
        if action != "list" {
            let name = try request.text("name")
            guard PhoneFolder.isSnapshotName(name) else {
                throw CommandFailure(
                    .usage,
                    "'\(name)' cannot be a snapshot's name",
                    hint: "1 to 64 letters, digits, - _ and ., without .new at the end"
                )
            }
            if action != "remove" { try needShutDown(known, for: "\(action) a snapshot") }
            switch action {
            case "save":
                try requireRun(of: known)
                try folder.saveSnapshot(name)
            case "load":
                try folder.requireSnapshot(name)
                try forgetRun(of: known)
                try folder.loadSnapshot(name)
                failures[known.name] = nil
            case "remove": try folder.removeSnapshot(name)
            default: throw CommandFailure(unknown: "action '\(action)'", known: ["save", "load", "list", "remove"])
            }
        }
        connection.answer(request.request) { writer in
            writer.key("snapshots")
            writer.strings(folder.snapshotNames)
        }
    }

    // MARK: What happens to a phone

    /// Accepts a command, and answers at once or when all that comes of it is over.
    private func carryOut(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let phone = try booted(request)
        guard let command = request.value["command"], case .object(let members) = command, members.count == 1 else {
            throw CommandFailure(.usage, "'do' needs 'command', an object with 'step', 'install' or 'advance'")
        }
        let (id, limit) = (try request.id(), try request.timeout())
        let waits = request.value["wait"]?.bool ?? true
        let time: Int64 = command["advance"] == nil ? limit : .max
        let number = request.request
        let begins = phone.listen()
        let acceptance: LivePhone.Acceptance
        do throws(CommandFailure) { acceptance = try phone.accept(command, id: id, within: time) } catch {
            phone.forget(begins)
            throw error
        }
        switch acceptance {
        case .accepted(let command):
            phone.finish(begins, until: waits ? { $0.isQuiet } : { _ in true }, within: time) {
                [weak connection, unowned phone] meanwhile, isSettled in
                // The instant that a repeated command is answered with, too.
                let at = phone.endOfAnswer(to: id) ?? LogTime.text(phone.tellTime())
                var answer = GivenAnswer(command: command, at: at)
                answer.isSettled = waits && isSettled
                (answer.records, answer.happened) = (meanwhile.records, meanwhile.happened)
                answer.notes = meanwhile.notes
                if let connection { Self.tell(answer, of: phone, to: connection, number) }
            }
        case .repeated:
            phone.finish(begins, until: waits ? { $0.isAnswered(id) } : { _ in true }, within: time) {
                [weak connection, unowned phone] _, _ in
                guard let connection else { return }
                do throws(CommandFailure) {
                    var answer = try phone.answer(to: id)
                    // As of the first, where nobody waits.
                    answer.isSettled = waits && answer.isSettled
                    Self.tell(answer, isRepeated: true, of: phone, to: connection, number)
                } catch {
                    connection.refuse(number, error)
                }
            }
        }
    }

    /// Answers a command; one that was accepted before as it was answered then.
    private static func tell(
        _ answer: GivenAnswer,
        isRepeated: Bool = false,
        of phone: LivePhone,
        to connection: any Client,
        _ request: Int64?
    ) {
        connection.answer(request) { writer in
            writer.key("command")
            writer.unsigned(answer.command)
            if isRepeated {
                writer.key("repeated")
                writer.bool(true)
            }
            writer.key("phone")
            writer.string(phone.name)
            writer.key("at")
            writer.string(answer.at)
            writer.key("settled")
            writer.bool(answer.isSettled)
            writer.key("decisions")
            writer.objects(answer.records)
            writer.key("happened")
            writer.objects(answer.happened)
            writer.key("notes")
            writer.strings(answer.notes)
        }
    }

    /// Waits until apps are in a state, or all is quiet.
    private func wait(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let phone = try booted(request)
        let limit = try request.timeout()
        var until: (LivePhone) -> Bool = { $0.isQuiet }
        var what = "everything to settle"
        if let word = request.value["app"]?.string {
            let apps = try phone.apps(word).map { AppID(UInt32($0)) }
            let text = try request.text("state")
            guard let state = AppState(word: text) else {
                throw CommandFailure(unknown: "state '\(text)'", known: AppState.allCases.map(\.word))
            }
            until = { phone in apps.allSatisfy { phone.run.bench.router.state(of: $0) == state } }
            what = "\(word) to be \(text)"
        }
        let number = request.request
        phone.finish(phone.listen(), until: until, within: limit) {
            [weak connection, unowned phone] meanwhile, cameAbout in
            guard cameAbout else {
                let failure = CommandFailure(.timeout, "\(phone.name): waited \(Double(limit) / 1e9) s for \(what)")
                connection?.refuse(number, failure)
                return
            }
            connection?.answer(number) { writer in
                writer.key("at")
                writer.string(LogTime.text(phone.tellTime()))
                writer.key("decisions")
                writer.objects(meanwhile.records)
            }
        }
    }

    // MARK: Questions

    private func listApps(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let phone = try booted(request)
        let wanted = try request.value["app"]?.string.map { (word) throws(CommandFailure) in try phone.apps(word) }
        connection.answer(request.request) { writer in
            writer.key("at")
            writer.string(LogTime.text(phone.tellTime()))
            writer.key("seq")
            writer.unsigned(phone.lastDecision.number)
            writer.key("apps")
            writer.openArray()
            for number in wanted ?? Array(phone.run.scenario.apps.indices) {
                phone.describe(app: number, into: &writer)
            }
            writer.closeArray()
        }
    }

    private func listDevices(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let phone = try booted(request)
        connection.answer(request.request) { writer in
            writer.key("devices")
            writer.openArray()
            for number in phone.run.scenario.devices.indices { phone.describe(device: number, into: &writer) }
            writer.closeArray()
        }
    }

    private func canWake(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let phone = try booted(request)
        let apps = try phone.apps(try request.text("app"))
        let answer = try phone.canWake(apps, [request.value["event"]?.string].compactMap(\.self))
        let page: [UInt8]
        do { page = try PageText.json(answer.page) } catch { throw CommandFailure(.internal, "\(error)") }
        connection.answer(request.request) { writer in
            writer.key("wakes")
            writer.bool(answer.wakes)
            writer.key("text")
            writer.string(answer.text)
            writer.key("page")
            writer.encoded(page)
            writer.key("decisions")
            writer.objects(answer.records)
        }
    }

    // MARK: Streams

    /// From now on the connection hears what happens to a phone, or to all.
    private func follow(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let isAll = request.value["phone"]?.string == "all"
        let names = isAll ? phones.keys.sorted() : [try booted(request).name]
        connection.answer(request.request, .stream) { writer in
            writer.key("type")
            writer.string("header")
            writer.key("version")
            writer.string(wakebenchVersion)
            writer.key("phones")
            writer.openArray()
            for name in names {
                guard let phone = phones[name] else { continue }
                writer.openObject()
                writer.key("name")
                writer.string(name)
                writer.key("seed")
                writer.unsigned(phone.run.seed)
                writer.key("determinism")
                writer.string(phone.run.header.determinism)
                writer.key("at")
                writer.string(LogTime.text(phone.tellTime()))
                writer.key("seq")
                writer.unsigned(phone.lastDecision.number)
                writer.closeObject()
            }
            writer.closeArray()
        }
        if let cursor = request.value["after"]?.unsigned, let phone = phones[names.first ?? ""], !isAll {
            try phone.tellAgain(after: DecisionID(cursor)) { connection.tell(Self.line($0, of: phone.name)) }
        }
        connection.followed = isAll ? "" : names[0]
        retune()
    }
}

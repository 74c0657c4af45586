import WakeBundles
import WakeDevices
import WakeJSON
import WakeReports

/// Requests about phones themselves: which there are, and their lives.
extension Daemon {
    func listPhones(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        for name in phones.keys.sorted() { look(after: name) }
        let all = phoneNames.compactMap { entry(of: $0) }
        connection.answer(request.request) { writer in
            writer.key("phones")
            writer.openArray()
            for known in all { describe(known, into: &writer) }
            writer.closeArray()
        }
    }

    func describe(_ known: PhoneFolder.Settings, into writer: inout JSONWriter) {
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

    func answer(_ request: ControlRequest, with name: String, _ connection: any Client)
        throws(CommandFailure)
    {
        let known = try known(name)
        connection.answer(request.request) { writer in
            writer.key("phone")
            describe(known, into: &writer)
        }
    }

    // MARK: Their lives

    func create(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
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
        try requireState()
        try folder.make { (unnamed) throws(CommandFailure) in
            try PhoneFolder.makeFolder(unnamed.path)
            if given == nil {
                try PhoneFolder.replace(unnamed.ownScenario, by: Array("scenario: \(name)\napps: []\n".utf8))
            }
            let udid = FolderTree.newUUID()
            try unnamed.write(.init(name: name, udid: udid, scenario: scenario, options: options))
        }
        try answer(request, with: name, connection)
    }

    func delete(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let known = try target(request, isForDamaged: true)
        // That it is shut down cannot be written into what is damaged.
        if known.damage == nil {
            try needShutDown(known, for: "delete it")
            try requireState()
        } else {
            _ = try? switchOff(known.name)
        }
        try folder(of: known.name).delete()
        failures[known.name] = nil
        connection.answer(request.request)
    }

    func boot(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        var known = try target(request)
        let isOn = phones[known.name] != nil
        if !isOn {
            try requireState()
            try boot(known.name, known)
        }
        if !known.isBooted || !known.hasBegun {
            (known.isBooted, known.hasBegun) = (true, true)
            do throws(CommandFailure) { try folder(of: known.name).write(known) } catch {
                // It would be off again after the next start of the daemon, and is not on until then either.
                if !isOn { _ = try? switchOff(known.name) }
                throw error
            }
        }
        connection.answer(request.request) { writer in
            writer.key("already")
            writer.bool(isOn)
            writer.key("phone")
            describe(known, into: &writer)
        }
    }

    func shutDown(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        var known = try target(request, isForDamaged: true)
        var unwritten: CommandFailure?
        if known.damage == nil, known.isBooted {
            known.isBooted = false
            do throws(CommandFailure) { try folder(of: known.name).write(known) } catch {
                unwritten = error
                unwritten?.message += "; \(known.name) is off, and is on again when the daemon is started again"
            }
        }
        failures[known.name] = nil
        // Whatever cannot be written: what a full disk leaves to be done needs a phone that is off.
        let wasOn: Bool
        do throws(CommandFailure) { wasOn = try switchOff(known.name) } catch { throw unwritten ?? error }
        if let unwritten { throw unwritten }
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

    func erase(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let known = try target(request)
        try needShutDown(known, for: "erase it")
        try requireState()
        let folder = folder(of: known.name)
        try folder.settle()
        // On a full disk there is room once the run is gone.
        let isForgotten = (try? forgetRun(of: known)) != nil
        try folder.erase()
        if !isForgotten { try forgetRun(of: known) }
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

    func clone(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let known = try target(request)
        let name = try request.text("to")
        guard PhoneFolder.isName(name), entry(of: name) == nil else {
            throw CommandFailure(.wrongState, "'\(name)' cannot be the name of a new phone", hint: "give another")
        }
        try needShutDown(known, for: "clone it")
        let (from, to) = (folder(of: known.name), folder(of: name))
        try requireState()
        try from.settle()
        try requireRun(of: known)
        try to.make { (unnamed) throws(CommandFailure) in
            try from.copyState(to: unnamed.path, try options(of: known))
            var copy = known
            (copy.name, copy.udid, copy.isBooted) = (name, FolderTree.newUUID(), false)
            if known.scenario == from.ownScenario {
                copy.scenario = to.ownScenario
                let bytes: [UInt8]
                do throws(FileError) { bytes = try InputFile.read(known.scenario) } catch {
                    throw from.failure(ofScenario: error)
                }
                try PhoneFolder.replace(unnamed.ownScenario, by: bytes)
            }
            try unnamed.write(copy)
        }
        try answer(request, with: name, connection)
    }

    // MARK: Snapshots

    func snapshot(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let known = try target(request)
        try requireState()
        let folder = folder(of: known.name)
        try folder.requireSnapshots()
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
                try folder.saveSnapshot(name, try options(of: known))
            case "load":
                try folder.requireSnapshot(name)
                let options = try options(of: known)
                try folder.loadSnapshot(name, options) { () throws(CommandFailure) in try forgetRun(of: known) }
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
}

import Glibc
import WakeDevices
import WakeJSON

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

    // MARK: Which phone is meant

    /// What is known of a phone; nil when there is none. One that is damaged costs nobody but itself.
    func entry(of name: String) -> PhoneFolder.Settings? {
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
    func known(_ name: String) throws(CommandFailure) -> PhoneFolder.Settings {
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
    func target(_ request: ControlRequest, isForDamaged: Bool = false) throws(CommandFailure)
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

    func booted(_ request: ControlRequest) throws(CommandFailure) -> LivePhone {
        let name = try target(request).name
        if let phone = phones[name] { return phone }
        if let failure = failures[name] { throw failure }
        throw CommandFailure(.wrongState, "\(name) is shut down", hint: "boot it first")
    }

    func needShutDown(_ known: PhoneFolder.Settings, for what: String) throws(CommandFailure) {
        guard phones[known.name] == nil else {
            throw CommandFailure(.wrongState, "\(known.name) is booted", hint: "shut it down to \(what)")
        }
    }
}

import WakeJSON
import WakeModel
import WakeReports

/// Questions about what is on a phone and what could wake it, and following it.
extension Daemon {
    func listApps(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
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

    func listDevices(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
        let phone = try booted(request)
        connection.answer(request.request) { writer in
            writer.key("devices")
            writer.openArray()
            for number in phone.run.scenario.devices.indices { phone.describe(device: number, into: &writer) }
            writer.closeArray()
        }
    }

    func canWake(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
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
    func follow(_ request: ControlRequest, _ connection: any Client) throws(CommandFailure) {
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

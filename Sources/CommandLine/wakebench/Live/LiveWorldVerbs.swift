import WakeBench
import WakeJSON
import WakeReports

/// The verbs about places, devices and servers around a running phone.
enum LiveWorldVerbs {
    static let all: [WakebenchProgram.Verb] =
        placeVerbs + permissionVerbs + radioVerbs + dockVerbs + soundVerbs + serverVerbs + providerVerbs + [devices]

    static func device(_ words: String, _ step: String, _ usage: String, _ help: String)
        -> WakebenchProgram.Verb
    {
        LiveVerb.step(words, usage, help) { [.init(step, $0.rest[0])] }
    }

    private static let devices = LiveVerb.ask("device list", "", "list the devices of the running phone") {
        call throws(CommandFailure) in
        let answer = try call.askPhone("devices")
        if call.printed(answer) { return .done }
        let rows = (answer["devices"]?.array ?? []).map { device in
            [
                device["name"]?.string ?? "-", device["kind"]?.string ?? "-",
                device["connected"]?.bool == true ? "connected" : "-",
                device["apps"]?.array.compactMap(\.string).joined(separator: ", ") ?? "",
            ].map(TerminalText.escaped)
        }
        for line in TextTable.lines([["NAME", "KIND", "LINK", "APPS"]] + rows, width: Terminal.width) { print(line) }
        return .done
    }
}

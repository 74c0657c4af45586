import WakeDevices
import WakeModel

/// The calls of scripted apps: sockets that are none, watched as if they were.
extension VoIPArea {
    /// Marks a socket to each server, and sets the keep-alive handler.
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        guard let own = host.apps[app], let use = own.script.voip else { return }
        for (place, server) in use.servers.enumerated() {
            host.request(.voip(.watch(SocketNumber(place + 1), peer: own.allDevices[server])), from: app)
        }
        if let period = use.keepAlive { host.request(.voip(.setKeepAlive(period: period)), from: app) }
    }
}

import WakeDevices
import WakeModel

extension VoIPArea {
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        if let use = host.apps[app]!.script.voip { host.useSockets(use, of: app) }
    }
}

/// The calls of scripted apps: sockets that are none, watched as if they were.
extension ScriptedAppHost {
    /// Marks a socket to each server, and sets the keep-alive handler.
    fileprivate func useSockets(_ use: ScriptedApp.VoIPUse, of app: AppID) {
        for (place, server) in use.servers.enumerated() {
            let peer = apps[app]!.allDevices[server]
            request(.voip(.watch(SocketNumber(place + 1), peer: peer)), from: app)
        }
        if let period = use.keepAlive { request(.voip(.setKeepAlive(period: period)), from: app) }
    }
}

import ExternalAccessory

/// Opens a session with each accessory that comes, and lets go of it when the accessory goes.
@MainActor
final class Accessories {
    /// What the app says first over each protocol that it lists in Info.plist.
    private static let greetings: [String: [UInt8]] = [
        "com.example.dock.log": Array("LOG\n".utf8),
        "com.example.scanner.codes": [],
        // DLE EOT 1 asks whether the printer is ready; what follows is printed.
        "com.example.printer.raw": [0x10, 0x04, 0x01] + Array("Hello\n".utf8),
    ]

    private var conversations: [Int: Conversation] = [:]

    init() {
        let manager = EAAccessoryManager.shared()
        let center = NotificationCenter.default
        for (name, connects) in [
            (NSNotification.Name.EAAccessoryDidConnect, true), (.EAAccessoryDidDisconnect, false),
        ] {
            _ = center.addObserver(forName: name, object: manager, queue: nil) { [weak self] notification in
                guard let accessory = notification.userInfo?[EAAccessoryKey] as? EAAccessory else { return }
                MainActor.assumeIsolated {
                    if connects { self?.connected(accessory) } else { self?.disconnected(accessory) }
                }
            }
        }
        manager.registerForLocalNotifications()
        for accessory in manager.connectedAccessories { connected(accessory) }
    }

    private func connected(_ accessory: EAAccessory) {
        log("connected \(accessory.name) serial=\(accessory.serialNumber)")
        guard conversations[accessory.connectionID] == nil else { return }
        for name in accessory.protocolStrings {
            guard let greeting = Self.greetings[name] else { continue }
            guard let session = EASession(accessory: accessory, forProtocol: name) else {
                log("no session for \(name)")
                continue
            }
            conversations[accessory.connectionID] = Conversation(session, greeting: greeting)
        }
    }

    private func disconnected(_ accessory: EAAccessory) {
        log("disconnected \(accessory.name)")
        conversations.removeValue(forKey: accessory.connectionID)?.close()
    }
}

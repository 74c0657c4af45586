import Glibc
import WakeBus
import WakeSystem

/// The ProfileManager1 of bluetoothd, with socket pairs for RFCOMM.
///
/// As the real one does, it keeps a duplicate of each socket that it hands over, so that closing it ends nothing.
extension StandInBlueZ {
    /// What is registered, and the connections.
    package struct Profiles {
        package struct Registration {
            package var uuid: String
            package var path: String
            package var owner: String
            package var options: BusValue?
        }

        /// The far ends of connections, in order of their making.
        package struct Connection {
            package var address: String
            package var uuid: String
            /// The device's end.
            package var device: Int32
            var duplicate: Int32
        }

        package var registered: [Registration] = []
        package var connections: [Connection] = []
        /// Errors with which the next calls of RegisterProfile are answered.
        package var refusals: [String] = []
        /// Errors with which the next calls of ConnectProfile are answered.
        package var connectErrors: [String] = []

        init() {}

        /// The daemon ends, and the kernel with its links.
        mutating func end() {
            for connection in connections {
                close(connection.device)
                close(connection.duplicate)
            }
            connections.removeAll()
            registered.removeAll()
        }
    }

    /// What programs have registered, and what came of it.
    package var registeredProfiles: Profiles {
        get { profiles }
        set { profiles = newValue }
    }

    func profile(_ call: IncomingCall) -> Bool {
        guard let path = call.arguments.first?.text else { return false }
        switch call.member {
        case "RegisterProfile":
            let uuid = call.arguments[1].text ?? ""
            if !profiles.refusals.isEmpty {
                call.fail(BusError(name: "org.bluez.Error." + profiles.refusals.removeFirst(), message: ""))
            } else if profiles.registered.contains(where: { $0.path == path && $0.owner == call.sender }) {
                call.fail(BusError(name: "org.bluez.Error.AlreadyExists", message: "Already Exists"))
            } else if profiles.registered.contains(where: { $0.uuid == uuid }) {
                call.fail(BusError(name: "org.bluez.Error.NotPermitted", message: "UUID already registered"))
            } else {
                let options = call.arguments[2]
                profiles.registered.append(
                    Profiles.Registration(uuid: uuid, path: path, owner: call.sender, options: options)
                )
                call.reply()
            }
        case "UnregisterProfile":
            profiles.registered.removeAll { $0.path == path }
            call.reply()
        default: return false
        }
        return true
    }

    func connectProfile(_ call: IncomingCall, _ address: String) {
        let uuid = call.arguments.first?.text ?? ""
        func refuse(_ kind: String) { call.fail(BusError(name: "org.bluez.Error." + kind, message: "")) }
        if !profiles.connectErrors.isEmpty { return refuse(profiles.connectErrors.removeFirst()) }
        guard devices[address]?.profiles.contains(uuid) == true,
            let registration = profiles.registered.first(where: { $0.uuid == uuid })
        else { return refuse("NotAvailable") }
        guard !profiles.connections.contains(where: { $0.address == address && $0.uuid == uuid }) else {
            return refuse("AlreadyConnected")
        }
        guard let (own, theirs) = try? streamPair() else { return refuse("Failed") }
        let connection = Profiles.Connection(address: address, uuid: uuid, device: own, duplicate: dup(theirs))
        let path = call.path
        change(path, Self.deviceInterface, [("Connected", .bool(true))])
        let arguments: [BusValue] = [
            .objectPath(path), .descriptor(BusDescriptor(owning: theirs)), .properties([]),
        ]
        let offer = BusCall(registration.owner, registration.path, "org.bluez.Profile1", "NewConnection", arguments)
        server?.call(offer) { [unowned self] answer in
            switch answer {
            case .success:
                profiles.connections.append(connection)
                call.reply()
            case .failure:
                close(connection.device)
                close(connection.duplicate)
                refuse("Failed")
            }
        }
    }

    /// The device hangs up, or its end is seen to be over: the link is down.
    package func endProfile(_ address: String, _ uuid: String) {
        for connection in profiles.connections where connection.address == address && connection.uuid == uuid {
            close(connection.device)
            close(connection.duplicate)
        }
        profiles.connections.removeAll { $0.address == address && $0.uuid == uuid }
        change(devicePath(address), Self.deviceInterface, [("Connected", .bool(false))])
    }

    /// Asks the program that has a profile to close a connection.
    package func requestDisconnection(_ address: String, _ uuid: String) {
        guard let registration = profiles.registered.first(where: { $0.uuid == uuid }) else { return }
        let arguments: [BusValue] = [.objectPath(devicePath(address))]
        server?.call(
            BusCall(registration.owner, registration.path, "org.bluez.Profile1", "RequestDisconnection", arguments)
        ) { _ in }
    }
}

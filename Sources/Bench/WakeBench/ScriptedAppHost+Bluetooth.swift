import WakeDevices
import WakeModel
import WakePorts

extension BluetoothArea {
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        let own = host.apps[app]!
        own.connected = [:]
        own.scripts = [:]
        own.isPublished = false
        own.values = own.publication.values
        own.unsent = []
        if !own.script.uses.isEmpty || own.script.scan != nil {
            let identifier = host.names.intern(own.script.restoreIdentifier ?? "")
            host.request(.createManager(ScriptedAppHost.centralManager, restoreIdentifier: identifier), from: app)
        }
        if let peripheral = own.script.peripheral {
            let identifier = host.names.intern(peripheral.restoreIdentifier ?? "")
            host.ask(.create(restoreIdentifier: identifier), app)
        }
    }

    static func told(_ notice: AppNotice, to app: AppID, in host: ScriptedAppHost, at now: Instant) {
        switch notice {
        case .managerState(let manager, let state): host.managerState(manager, state, to: app)
        case .restore(_, let state):
            for peripheral in state.peripherals {
                host.apps[app]!.connected[peripheral.name] = peripheral.connected
                if peripheral.connected, peripheral.subscriptions.isEmpty {
                    host.operate(.discoverServices([]), peripheral.name, of: app)
                }
            }
        case .restorePeripheral(_, let state): host.apps[app]!.isPublished = !state.services.isEmpty
        default: break
        }
    }

    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost) {
        if delivery.manager == ScriptedAppHost.peripheralManager {
            host.serve(delivery, of: app)
        } else {
            host.follow(delivery, of: app)
            host.tellScript(delivery, of: app)
        }
    }
}

/// Scripted apps that are centrals.
extension ScriptedAppHost {
    /// The central manager that a scripted app makes.
    fileprivate static let centralManager: ManagerNumber = 1

    fileprivate func managerState(_ manager: ManagerNumber, _ state: BluetoothState, to app: AppID) {
        guard state == .poweredOn else { return }
        if manager == Self.peripheralManager { return publish(app) }
        let own = apps[app]!
        for device in own.devices where own.connected[device] == nil { connect(device, of: app) }
        if let scan = own.script.scan {
            request(
                .scan(
                    manager,
                    services: scan.services.map(names.intern),
                    allowDuplicates: scan.allowDuplicates
                ),
                from: app
            )
        }
    }

    /// What any app does to get its notifications: connect, discover, subscribe, connect again, and discover anew what
    /// changed.
    fileprivate func follow(_ delivery: AppDelivery, of app: AppID) {
        let event = delivery.event
        switch (event.kind, delivery.payload) {
        case (.peripheralDiscovered, _):
            if apps[app]!.script.scan?.stops == true { request(.stopScan(Self.centralManager), from: app) }
            if apps[app]!.script.scan?.connects == true, apps[app]!.connected[event.peripheral] == nil {
                apps[app]!.connected[event.peripheral] = false
                connect(event.peripheral, of: app)
            }
        case (.peripheralConnected, _):
            apps[app]!.connected[event.peripheral] = true
            operate(.discoverServices([]), event.peripheral, of: app)
        case (.servicesModified, _): operate(.discoverServices([]), event.peripheral, of: app)
        case (.peripheralDisconnected, _), (.peripheralConnectionFailed, _):
            apps[app]!.connected[event.peripheral] = false
            // Where the app asked for it the system connects again by itself (BTC-11).
            if !options(event.peripheral, of: app).contains(.reconnects) { connect(event.peripheral, of: app) }
        case (.bluetoothPoweredOff, _): apps[app]!.connected = [:]
        case (.bluetoothPoweredOn, _): managerState(Self.centralManager, .poweredOn, to: app)
        case (.notificationStateChanged, .failure(let failure)):
            note?("subscribe \(names.text(event.subject)) failed: \(failure.message)", app, now)
        case (.servicesDiscovered, .services(let services)):
            for service in services {
                operate(.discoverCharacteristics(of: service.handle, []), event.peripheral, of: app)
            }
        case (.characteristicsDiscovered, .characteristics(let characteristics)):
            for characteristic in characteristics where wants(characteristic, of: event.peripheral, app) {
                operate(.setNotify(characteristic.handle, true), event.peripheral, of: app)
            }
        default: break
        }
    }

    private func connect(_ peripheral: NameID, of app: AppID) {
        let options = options(peripheral, of: app)
        request(.connect(Self.centralManager, peripheral: peripheral, options: options), from: app)
    }

    private func options(_ peripheral: NameID, of app: AppID) -> ConnectOptions {
        let own = apps[app]!
        return zip(own.script.uses, own.devices).first { $0.1 == peripheral }?.0.options ?? []
    }

    private func wants(_ characteristic: GATTCharacteristic, of peripheral: NameID, _ app: AppID) -> Bool {
        let state = apps[app]!
        let notifies = characteristic.properties & 0x30 != 0
        for (use, device) in zip(state.script.uses, state.devices) where device == peripheral {
            if use.characteristics.contains(characteristic.uuid) { return true }
        }
        return notifies && !state.devices.contains(peripheral)
    }

    func operate(_ operation: BluetoothOperation, _ peripheral: NameID, of app: AppID) {
        request(.operate(Self.centralManager, peripheral: peripheral, operation), from: app)
    }
}
